import CCrypt
import FoundationEssentials
import Media
import Primitives
import RichPushAPI
import Store

/// The name and the password of Basic authentication (RFC 7617).
struct Credentials: Sendable {
  let name: String
  let password: String

  /// Parses the value of an `Authorization` field; nil if it is not well-formed Basic.
  ///
  /// The pair is split at its first colon: a password may contain further ones.
  init?(_ authorization: String) {
    guard let text = authorization.parameter(ofScheme: "basic"), text.utf8.count <= 1024,
      let data = Data(base64Encoded: String(text)),
      let pair = String(validating: data, as: UTF8.self),
      let colon = pair.firstIndex(of: ":")
    else { return nil }
    name = String(pair[..<colon])
    password = String(pair[pair.index(after: colon)...])
    guard UserName.isValid(name), !password.utf8.contains(0) else { return nil }
  }
}

/// The secret of a device, sent as a bearer token (RFC 6750).
struct DeviceToken: Sendable {
  /// 43 characters of base64url.
  let text: String

  /// 256 bits of the system's randomness.
  init() {
    text = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Parses the value of an `Authorization` field; nil if it is none with a bearer token of this form.
  init?(_ authorization: String) {
    guard let text = authorization.parameter(ofScheme: "bearer"), text.utf8.count == 43 else {
      return nil
    }
    self.text = String(text)
  }

  /// What the store keeps; a random token needs no slow hash.
  var hash: Digest { Digest(of: text) }
}

extension String {
  /// What follows the scheme, in lower case, in the value of an `Authorization` field; nil if it has another.
  fileprivate func parameter(ofScheme scheme: StaticString) -> Substring? {
    let count = scheme.utf8CodeUnitCount
    guard utf8.count > count,
      utf8.prefix(count).elementsEqual(
        UnsafeBufferPointer(start: scheme.utf8Start, count: count), by: { $0 | 0x20 == $1 })
    else { return nil }
    let rest = utf8.dropFirst(count)
    guard rest.first == UInt8(ascii: " ") else { return nil }
    return Substring(rest.drop { $0 == UInt8(ascii: " ") })
  }
}

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

  /// Whether the hash is of this password, compared in constant time.
  ///
  /// Takes some milliseconds by design: must not be called on an event loop.
  static func verify(_ password: String, _ hash: String) -> Bool { ccrypt_verify(password, hash) }
}

/// A new password of a user.
struct NewPassword {
  let hash: String

  /// In characters (NIST SP 800-63B).
  private static let minimumLength = 8
  /// In bytes (crypt(3)).
  private static let maximumSize = 511

  /// Checks and hashes a password.
  ///
  /// - Throws: `OperatorError` if it is easily guessed, or cannot be sent by a client.
  init(_ text: String, of name: String) throws(OperatorError) {
    guard text.count >= Self.minimumLength else {
      throw OperatorError("a password has at least \(Self.minimumLength) characters")
    }
    guard text.utf8.count <= Self.maximumSize else {
      throw OperatorError("a password has at most \(Self.maximumSize) bytes")
    }
    guard text.lowercased() != name.lowercased() else {
      throw OperatorError("a password is not the user's name")
    }
    // Basic authentication excludes them (RFC 7617, section 2).
    guard !text.unicodeScalars.contains(where: { $0.properties.generalCategory == .control }) else {
      throw OperatorError("a password has no control characters")
    }
    guard let hash = PasswordHash.make(text) else {
      throw OperatorError("the password could not be hashed by crypt(3)")
    }
    self.hash = hash
  }
}
