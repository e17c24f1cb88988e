import FoundationEssentials
import Primitives

/// The key by which push services and browsers recognize this server (RFC 8292).
///
/// Browsers bind a subscription to it, so that with another key all subscriptions are lost.
package struct VAPIDKey: Sendable, Equatable {
  private let key: P256Key

  /// Takes a private key of P-256, as 64 hexadecimal digits.
  ///
  /// - Throws: a `PushError` if it is not one.
  package init(hexadecimal text: String) throws(PushError) {
    let digits = Array(text.utf8)
    let bytes = stride(from: 0, to: digits.count - 1, by: 2).compactMap {
      UInt8(String(decoding: digits[$0..<$0 + 2], as: UTF8.self), radix: 16)
    }
    guard digits.count == 64, text.allSatisfy(\.isHexDigit), let key = P256Key(bytes) else {
      throw PushError(.key, "The VAPID key is not a private key of P-256.")
    }
    self.key = key
  }

  /// The public key in Base64 for URLs, which a page passes as `applicationServerKey`.
  package var publicKey: String { Base64URL.encode(key.publicKey) }

  /// The value of `Authorization` for a push service: a JSON Web Token for its origin, and the public key.
  ///
  /// `contact` is a `mailto:` or `https:` address at which the service can reach the operator.
  func authorization(
    for origin: String, contact: String, expires: Date
  ) throws(PushError) -> String {
    let unsigned = Self.unsigned(for: origin, contact: contact, expires: expires)
    let signature = try key.sign(Array(unsigned.utf8))
    return "vapid t=\(unsigned).\(Base64URL.encode(signature)),k=\(publicKey)"
  }

  /// The token's header and claims.
  static func unsigned(for origin: String, contact: String, expires: Date) -> String {
    let header = #"{"typ":"JWT","alg":"ES256"}"#
    let claims =
      #"{"aud":\#(JSONText.quoted(origin)),"exp":\#(Int(expires.timeIntervalSince1970)),"#
      + #""sub":\#(JSONText.quoted(contact))}"#
    return [header, claims].map { Base64URL.encode(Array($0.utf8)) }.joined(separator: ".")
  }
}
