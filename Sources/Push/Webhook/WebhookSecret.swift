import FoundationEssentials

/// A secret shared with the receiver of webhooks.
package struct WebhookSecret: Sendable {
  /// The fewest bytes of a secret.
  package static let shortest = 24

  private let key: [UInt8]

  /// Takes `whsec_` and Base64, as the Standard Webhooks specification writes it, or any text.
  package init(_ text: String) throws(PushError) {
    if text.hasPrefix("whsec_") {
      guard let data = Data(base64Encoded: String(text.dropFirst(6))) else {
        throw PushError(.key, "The secret begins with whsec_, but the rest is no Base64.")
      }
      key = Array(data)
    } else {
      key = Array(text.utf8)
    }
    guard key.count >= Self.shortest else {
      throw PushError(.key, "The secret is shorter than \(Self.shortest) bytes.")
    }
  }

  /// The value of `Webhook-Signature` for a message.
  package func signature(id: String, time: Int, body: String) -> String {
    "v1," + Signing.base64(Signing.hmac(key: key, Array("\(id).\(time).\(body)".utf8)))
  }
}
