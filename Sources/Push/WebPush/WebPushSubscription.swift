import Primitives

/// The receiver's side of a Web Push subscription: what a browser keeps.
package struct WebPushSubscription: Sendable {
  private let key: P256Key
  private let secret: [UInt8]

  /// New keys.
  package init() throws(PushError) {
    (key, secret) = (try P256Key(), try Random.bytes(16))
  }

  /// The keys that ``text`` describes.
  ///
  /// - Throws: a `PushError` if it does not.
  package init(_ text: String) throws(PushError) {
    let parts = text.split(separator: ".").map { Base64URL.decode(String($0)) }
    guard parts.count == 2, let number = parts[0], let key = P256Key(number),
      let secret = parts[1], secret.count == 16
    else { throw PushError(.key, "The text describes no subscription.") }
    (self.key, self.secret) = (key, secret)
  }

  /// The keys as text, with the private one.
  package var text: String { Base64URL.encode(key.privateKey) + "." + Base64URL.encode(secret) }

  /// The member `p256dh` of the subscription, as the sender gets it.
  package var p256dh: String { Base64URL.encode(key.publicKey) }
  /// The member `auth`.
  package var auth: String { Base64URL.encode(secret) }

  /// The text of a message; nil if it is not for this subscription, or was changed.
  package func decrypt(_ message: [UInt8]) -> [UInt8]? {
    WebPushMessage.decrypt(message, key: key, secret: secret)
  }
}
