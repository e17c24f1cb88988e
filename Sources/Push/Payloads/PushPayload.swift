import Primitives

/// The payload of a push, and how the push service has to treat it.
package struct PushPayload: Sendable, Hashable {
  /// The most bytes: 4 KB, the limit of APNs and of Azure alike.
  package static let limit = 4096
  /// The most bytes of a Web Push text, so that the encrypted message has 4,096 (RFC 8291, section 4).
  package static let webLimit = 3993

  /// The two kinds of push that Apple tells apart (`apns-push-type`).
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case background
    case alert

    /// The value of `apns-priority`: APNs rejects 10 for a background push.
    package var priority: Int { self == .background ? 5 : 10 }
  }

  /// How a push service has to treat it.
  package let kind: Kind
  /// The exact JSON text.
  package let json: String

  /// A payload with a given text, such as one read from the outbox.
  package init(_ kind: Kind, json: String) {
    self.kind = kind
    self.json = json
  }

  /// Fills `template` with the message as a JSON string, shortened until the text fits.
  init(
    _ kind: Kind, message: String, limit: Int = limit, template: (_ literal: String) -> String
  ) {
    let empty = template("\"\"").utf8.count
    // A template may contain the message more than once.
    let one = template("\"x\"").utf8.count
    let space = max(0, limit - empty) / max(1, one - empty)
    self.init(kind, json: template(JSONText.quoted(Self.shorten(message, to: space))))
  }

  /// A plain alert without media: `{"aps":{"alert":"From alice: hi"}}`.
  static func plainAlert(_ text: String) -> PushPayload {
    PushPayload(.alert, message: text) { #"{"aps":{"alert":\#($0)}}"# }
  }

  /// The same for Web Push and Firebase: `{"richMessage":"From alice: hi"}`.
  static func webAlert(_ text: String) -> PushPayload {
    PushPayload(.alert, message: text, limit: webLimit) { #"{"richMessage":\#($0)}"# }
  }

  /// The message, or its longest beginning that fits into `limit` bytes with an ellipsis.
  ///
  /// Counts the bytes of a JSON string literal without its quotes, and cuts between characters as a reader
  /// sees them (grapheme clusters).
  static func shorten(_ message: String, to limit: Int) -> String {
    func length(_ text: String) -> Int { JSONText.quoted(text).utf8.count - 2 }
    guard length(message) > limit else { return message }
    let ellipsis = "…"
    var left = limit - ellipsis.utf8.count
    guard left >= 0 else { return "" }
    let kept = message.prefix { character in
      left -= length(String(character))
      return left >= 0
    }
    return kept + ellipsis
  }
}
