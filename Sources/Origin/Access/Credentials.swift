import RichPushAPI
import CCrypt
import FoundationEssentials

/// A name and a password as Basic authentication carries them (RFC 7617).
struct Credentials: Sendable {
  let name: String
  let password: String

  /// Reads the value of an `Authorization` field; nil when it is not a well-formed `Basic`.
  ///
  /// The pair is split at its first colon, so that a password may hold more of them.
  init?(_ authorization: String) {
    let parts = authorization.split(separator: " ", maxSplits: 1, omittingEmptySubsequences: true)
    guard parts.count == 2, parts[0].lowercased() == "basic", parts[1].utf8.count <= 1024,
      let data = Data(base64Encoded: String(parts[1])),
      let pair = String(validating: data, as: UTF8.self),
      let colon = pair.firstIndex(of: ":")
    else { return nil }
    name = String(pair[..<colon])
    password = String(pair[pair.index(after: colon)...])
    guard UserName.isValid(name), !password.utf8.contains(0) else { return nil }
  }
}

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

/// A password that a user is given, with its hash.
struct NewPassword {
  let hash: String

  /// What NIST SP 800-63B asks for at least, in characters.
  private static let shortest = 8
  /// What crypt(3) takes at most, in bytes.
  private static let longest = 511

  /// Hashes a password.
  ///
  /// - Throws: `UserError` for one that is easily guessed, or that no client could send.
  init(_ text: String, of name: String) throws(UserError) {
    guard text.count >= Self.shortest else {
      throw UserError("a password has at least \(Self.shortest) characters")
    }
    guard text.utf8.count <= Self.longest else {
      throw UserError("a password has at most \(Self.longest) bytes")
    }
    guard text.lowercased() != name.lowercased() else {
      throw UserError("a password is not the user's name")
    }
    // RFC 7617 section 2 leaves them out of Basic authentication.
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw UserError("a password has no control characters")
    }
    guard let hash = PasswordHash.make(text) else {
      throw UserError("the password could not be hashed by crypt(3)")
    }
    self.hash = hash
  }
}
