import CCrypt
import Media

/// Hashes of passwords: yescrypt, by crypt(3).
package enum PasswordHash {
  /// A hash with a new salt; nil if crypt(3) fails.
  package static func make(_ password: String) -> String? {
    withUnsafeTemporaryAllocation(of: CChar.self, capacity: 512) { buffer in
      guard let hash = buffer.baseAddress, ccrypt_hash(password, hash, buffer.count) else {
        return nil
      }
      return String(cString: hash)
    }
  }

  /// Whether the hash is of this password, as its bytes are or in its prepared form, compared in constant time.
  ///
  /// Takes some milliseconds by design, twice as many if the forms differ and the first is wrong: must not be called on
  /// an event loop. How long it takes for a wrong password depends on the password alone, not on the hash.
  static func verify(_ password: String, _ hash: String) -> Bool {
    // Passwords that were set by earlier versions are hashed as their bytes were sent.
    if ccrypt_verify(password, hash) { return true }
    let prepared = OpaqueString.prepare(password)
    // Strings that differ in form only are equal in Swift.
    return !prepared.utf8.elementsEqual(password.utf8) && ccrypt_verify(prepared, hash)
  }
}

/// A new password of a user.
struct NewPassword {
  let hash: String

  /// In characters (NIST SP 800-63B).
  private static let minimumLength = 8
  /// In bytes (crypt(3)).
  static let maximumSize = 511

  /// Checks a password, and hashes it in its prepared form.
  ///
  /// - Throws: `OperatorError` if it is easily guessed, or cannot be sent by a client.
  init(_ text: String, of name: String) throws(OperatorError) {
    // Basic authentication excludes them (RFC 7617, section 2).
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw OperatorError("a password has no control characters")
    }
    let prepared = OpaqueString.prepare(text)
    if let scalar = OpaqueString.firstForbidden(in: prepared) {
      let code = String(scalar.value, radix: 16, uppercase: true)
      let number = String(repeating: "0", count: max(0, 4 - code.count)) + code
      throw OperatorError(
        "a password has no characters that are invisible or have no fixed meaning, as U+\(number)")
    }
    guard prepared.count >= Self.minimumLength else {
      throw OperatorError("a password has at least \(Self.minimumLength) characters")
    }
    guard prepared.utf8.count <= Self.maximumSize else {
      throw OperatorError("a password must have at most \(Self.maximumSize) bytes")
    }
    guard prepared.lowercased() != name.lowercased() else {
      throw OperatorError("a password is not the user's name")
    }
    guard let hash = PasswordHash.make(prepared) else {
      throw OperatorError("the password could not be hashed by crypt(3)")
    }
    self.hash = hash
  }
}
