import Delivery
package import FoundationEssentials
package import RichPushAPI

/// What a template would make of an event, without a server.
package enum WebhookPreview {
  /// The notification that would be sent, as JSON, or a sentence that says what would be done.
  ///
  /// `webhook` is the webhook's name, `fields` are those of the request's head, and `audience` are its recipients.
  ///
  /// - Throws: what is wrong with the template, the event or the notification.
  package static func text(
    _ template: JSONValue, for event: some Sequence<UInt8>, fields: [String: String],
    at webhook: String, to audience: [String], now: Date
  ) throws(ServiceError) -> String {
    guard let body = JSONValue(event) else {
      throw ServiceError(.invalidRequest, "The event is not JSON in UTF-8.")
    }
    let fields = Dictionary(fields.map { ($0.key.lowercased(), $0.value) }) { first, _ in first }
    let action = try WebhookTemplate(given: template).action(
      for: WebhookEvent(body: body, fields: fields), to: audience, linkSchemes: [])
    switch action.named(at: webhook) {
    case .ignore: return "nothing: the template has no rule for it"
    case .withdraw(let subject): return "withdraws what was sent with replaces \(subject)"
    case .publish(let new):
      let draft = try Draft(new, now: now)
      if let outside = draft.to.first(where: { !audience.contains($0) }) {
        throw ServiceError(
          .init("to", .forbidden, "The webhook may not send to \(outside.quoted)."))
      }
      return JSONCoding.text(new)
    }
  }
}
