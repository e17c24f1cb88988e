import Primitives
import RichPushAPI

/// The payloads for browsers of Apple, which show a push by themselves where no worker runs (Declarative Web Push:
/// webkit.org/blog/16535).
extension PayloadTemplate {
  /// The payload of a message: what the browser shows, and what every browser gets.
  ///
  /// Without what the browser shows if there is nothing to open, or no room for it.
  static func declarative(_ message: PushMessage) -> PayloadTemplate {
    guard message.id != nil, let address = message.address else { return web(message) }
    let template = PayloadTemplate(
      message.kind, message, limit: PushPayload.webLimit, override: message.message.webpush
    ) { message in
      JSONText.object(
        [
          ("web_push", "8030"), ("notification", message.declared(opening: address)),
          // In the notification for Safari 18.4, here by the specification.
          ("mutable", "true"), ("app_badge", message.appBadge),
        ] + message.webMembers)
    }
    return template.largestSize > PushPayload.webLimit ? web(message) : template
  }
}

extension PushMessage {
  /// What a tap opens: the link if browsers open it, or else the page of the notification; nil if there is neither.
  fileprivate var address: String? {
    if let link = message.link, link.lowercased().hasPrefix("https:") { return link }
    return page
  }

  /// The unread count, of a form that sets the badge.
  fileprivate var appBadge: String? {
    countsUnread && kind == .alert ? PayloadGap.badge.text : nil
  }

  /// What the browser shows: the same as the worker of the app.
  fileprivate func declared(opening address: String) -> String {
    let quoted = JSONText.quoted
    let lines =
      isPrivate
      ? []
      : [message.title, message.subtitle, message.text].compactMap(\.self)
        .filter { $0.contains { !$0.isWhitespace } }
    let body = lines.dropFirst().joined(separator: "\n")
    return JSONText.object([
      ("title", quoted(lines.first ?? Self.neutralText)),
      ("body", body.isEmpty ? nil : quoted(body)), ("navigate", quoted(address)),
      ("tag", collapseID.map(quoted)),
      ("icon", isPrivate ? nil : message.icon.map(quoted)),
      ("lang", message.language.map(quoted)),
      ("silent", message.sound == .silent ? "true" : nil),
      ("mutable", "true"), ("app_badge", appBadge),
    ])
  }
}
