/// The forms a rich push can take; each is exact JSON text.
package enum PushForm: String, Sendable, CaseIterable {
  /// Wakes the app in the background, shows nothing: the id, the message and the type.
  case silent
  /// Shows the message; a notification service extension adds the media before it is shown.
  case alert
  /// Both at once, so that old apps (woken) and new ones (their extension) each find their part.
  case hybrid
  /// The text of the Azure "Rich Push" tutorial, space for space.
  case legacy

  /// The push for one notification in this form, at most ``PushText/limit`` bytes long.
  package func text(of content: PushContent) -> PushText {
    switch self {
    case .silent:
      PushText(.background, message: content.message) {
        #"{"aps":{"content-available":1},"# + Self.rich(content, message: $0) + "}"
      }
    case .alert:
      PushText(.alert, message: content.message) {
        #"{"aps":{"alert":{"body":\#($0)},"mutable-content":1\#(Self.badge(content))},"#
          + Self.rich(content) + Self.attachment(content) + "}"
      }
    case .hybrid:
      PushText(.alert, message: content.message) {
        #"{"aps":{"alert":{"body":\#($0)},"mutable-content":1,"content-available":1"#
          + Self.badge(content) + "}," + Self.rich(content, message: $0)
          + Self.attachment(content) + "}"
      }
    case .legacy:
      PushText(.background, message: content.message) {
        #"{"aps": {"content-available": 1, "sound":""}, "richId": "\#(content.id)","#
          + #"  "richMessage": \#($0), "richType": \#(JSONText.quoted(content.richType))}"#
      }
    }
  }

  private static func rich(_ content: PushContent, message: String? = nil) -> String {
    let message = message.map { #","richMessage":"# + $0 } ?? ""
    return #""richId":"\#(content.id)"\#(message),"richType":"#
      + JSONText.quoted(content.richType)
  }

  private static func badge(_ content: PushContent) -> String {
    content.countsUnread ? "," + PushText.badge(PushText.mostUnread) : ""
  }

  private static func attachment(_ content: PushContent) -> String {
    guard let media = content.media else { return "" }
    return #","att":{"url":\#(JSONText.quoted(media.url)),"type":\#(JSONText.quoted(media.type))"#
      + #","size":\#(media.size)}"#
  }
}
