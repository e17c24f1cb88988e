#if canImport(Security)
  import Foundation
  import Security

  /// The device, in the keychain that the app shares with its extension. Not compiled in richpush's repository.
  public enum Keychain {
    private static var query: [CFString: Any] {
      [kSecClass: kSecClassGenericPassword, kSecAttrService: "richpush", kSecAttrAccount: "device"]
    }

    /// The device; nil before it is paired, and after ``forget()``.
    public static var savedDevice: SavedDevice? {
      var found: CFTypeRef?
      let question = query.merging([kSecReturnData: true]) { $1 }
      guard SecItemCopyMatching(question as CFDictionary, &found) == errSecSuccess else {
        return nil
      }
      return (found as? Data).flatMap { try? JSONDecoder().decode(SavedDevice.self, from: $0) }
    }

    /// Keeps it. The extension runs on a locked phone, too.
    public static func save(_ device: SavedDevice) throws {
      forget()
      let item = query.merging([
        kSecValueData: try JSONEncoder().encode(device),
        kSecAttrAccessible: kSecAttrAccessibleAfterFirstUnlockThisDeviceOnly,
      ]) { $1 }
      let status = SecItemAdd(item as CFDictionary, nil)
      guard status == errSecSuccess else {
        throw NSError(domain: NSOSStatusErrorDomain, code: Int(status))
      }
    }

    public static func forget() { SecItemDelete(query as CFDictionary) }
  }
#endif
