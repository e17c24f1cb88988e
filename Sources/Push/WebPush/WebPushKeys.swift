import COpenSSL
import Primitives

/// The keys of a Web Push subscription (RFC 8291, section 3.1): only its receiver can read what is encrypted
/// with them.
package struct WebPushKeys: Sendable, Hashable {
  /// The receiver's point on P-256, uncompressed: 65 bytes.
  let publicKey: [UInt8]
  /// The secret that sender and receiver share: 16 bytes.
  let secret: [UInt8]

  /// Takes the members `p256dh` and `auth` of a subscription, in Base64 for URLs.
  ///
  /// - Throws: a sentence about the member that is invalid.
  package init(p256dh: String, auth: String) throws(PushError) {
    guard let publicKey = Base64URL.decode(p256dh), publicKey.count == 65,
      copenssl_p256_is_point(publicKey)
    else {
      throw PushError(
        .key, "keys.p256dh must be an uncompressed point of P-256, 65 bytes in Base64 for URLs.")
    }
    guard let secret = Base64URL.decode(auth), secret.count == 16 else {
      throw PushError(.key, "keys.auth must be 16 bytes in Base64 for URLs.")
    }
    (self.publicKey, self.secret) = (publicKey, secret)
  }

  /// Reads the text of ``text``.
  ///
  /// - Throws: a `PushError` if it is not one.
  package init(_ text: String) throws(PushError) {
    let parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
    guard parts.count == 2 else { throw PushError(.key, "The subscription has no keys.") }
    try self.init(p256dh: parts[0], auth: parts[1])
  }

  /// Both keys in one text, for the store: `<p256dh>.<auth>`.
  package var text: String { Base64URL.encode(publicKey) + "." + Base64URL.encode(secret) }
}
