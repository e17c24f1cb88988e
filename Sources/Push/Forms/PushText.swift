/// The body of a push, and how the push service is to treat it.
package struct PushText: Sendable, Hashable {
  /// The most bytes that a push service carries (APNs and Azure alike, uncompressed).
  package static let limit = 4096

  /// The two kinds of push that Apple tells apart (`apns-push-type`).
  package enum Kind: String, Sendable, Codable, CaseIterable {
    case background
    case alert

    /// What `apns-priority` has to be: 10 is an error for a background push.
    package var priority: Int { self == .background ? 5 : 10 }
  }

  /// How a push service has to treat it.
  package let kind: Kind
  /// The exact JSON text.
  package let json: String

  /// A push whose text is known already, such as one read back from the outbox.
  package init(_ kind: Kind, json: String) {
    self.kind = kind
    self.json = json
  }

  /// Fills `template` with the message as a JSON string, shortened until the text fits.
  init(_ kind: Kind, message: String, template: (_ literal: String) -> String) {
    let empty = template("\"\"").utf8.count
    let one = template("\"x\"").utf8.count
    let room = max(0, Self.limit - empty) / max(1, one - empty)
    let message = Shortening.shortened(message, to: room)
    self.init(kind, json: template(JSONText.quoted(message)))
  }

  /// A plain alert without media: `{"aps":{"alert":"From alice: hi"}}`.
  package static func plainAlert(_ text: String) -> PushText {
    PushText(.alert, message: text) { #"{"aps":{"alert":\#($0)}}"# }
  }
}
