import FoundationEssentials
import Primitives
import RichPushAPI
import Store

/// The name and the password of Basic authentication (RFC 7617).
struct Credentials: Sendable {
  let name: String
  let password: String

  /// In characters of Base64: a name of 64 characters, a colon, and a password of the largest size, which is up to three
  /// times as long when it is sent decomposed.
  private static let maximumSize = (64 + 1 + 3 * NewPassword.maximumSize + 2) / 3 * 4

  /// Parses the value of an `Authorization` field; nil if it is not well-formed Basic.
  ///
  /// The pair is split at its first colon: a password may contain further ones.
  init?(_ authorization: String) {
    self.init(any: authorization)
    guard UserName.isValid(name), !password.utf8.contains(0) else { return nil }
  }

  /// Parses a pair with any name and password.
  fileprivate init?(any authorization: String) {
    guard let text = authorization.parameter(ofScheme: "basic"),
      text.utf8.count <= Self.maximumSize,
      let data = Data(base64Encoded: String(text)),
      let pair = String(validating: data, as: UTF8.self),
      let colon = pair.firstIndex(of: ":")
    else { return nil }
    name = String(pair[..<colon])
    password = String(pair[pair.index(after: colon)...])
  }
}

/// The secret of a device, sent as a bearer token (RFC 6750), or as the password of its user.
struct DeviceToken: Sendable {
  /// 43 characters of base64url.
  let text: String

  /// 256 bits of the system's randomness.
  init() {
    text = Base64URL.encode((0..<32).map { _ in UInt8.random(in: .min ... .max) })
  }

  /// Parses the value of an `Authorization` field; nil if it is none with a bearer token of this form.
  init?(_ authorization: String) {
    guard let text = authorization.bearerToken else { return nil }
    self.init(shown: text)
  }

  /// Parses a token on its own; nil if it has another form.
  init?(shown text: some StringProtocol) {
    guard text.utf8.count == 43 else { return nil }
    self.text = String(text)
  }

  /// What the store keeps; a random token needs no slow hash.
  var hash: Digest { Digest(of: text) }
}

/// An access token as it is sent.
struct ShownAccessToken: Sendable {
  let token: AccessToken
  /// The name of the user, as Basic authentication has it; nil if none was named.
  let user: String?

  /// Parses the value of an `Authorization` field; nil if it has no access token as bearer token or as password.
  init?(_ authorization: String) {
    if let bearer = authorization.bearerToken {
      guard let token = AccessToken(bearer) else { return nil }
      (self.token, user) = (token, nil)
    } else {
      guard let pair = Credentials(any: authorization), let token = AccessToken(pair.password)
      else { return nil }
      (self.token, user) = (token, pair.name.isEmpty ? nil : pair.name)
    }
  }
}

extension String {
  /// The token in the value of an `Authorization` field; nil if it has another scheme.
  var bearerToken: Substring? { parameter(ofScheme: "bearer") }

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
