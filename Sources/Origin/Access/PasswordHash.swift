import CCrypt

/// A password's hash by crypt(3) yescrypt, as the store keeps it.
package enum PasswordHash {
  /// A fresh hash with a salt of its own; nil when crypt(3) cannot.
  package static func make(_ password: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      guard let hash = buffer.baseAddress, ccrypt_hash(password, hash, buffer.count) else {
        return nil
      }
      return String(cString: hash)
    }
  }

  /// Whether the password is the hash's, in constant time.
  ///
  /// Takes some milliseconds by design: never on an HTTP thread.
  static func verify(_ password: String, _ hash: String) -> Bool { ccrypt_verify(password, hash) }
}
