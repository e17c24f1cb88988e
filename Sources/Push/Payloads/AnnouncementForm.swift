import Primitives

/// The forms of the push that announces a notification; each is exact JSON text.
package enum AnnouncementForm: String, Sendable, CaseIterable {
  /// Wakes the app in the background, shows nothing: the id, the message and the type.
  case silent
  /// Shows the message; a notification service extension adds the media before it is shown.
  case alert
  /// Both at once: wakes old apps, and new ones handle it in their extension.
  case hybrid
  /// The text of the Azure "Rich Push" tutorial, including its white space.
  case legacy

  /// How its payloads have to be treated.
  package var kind: PushPayload.Kind {
    switch self {
    case .silent, .legacy: .background
    case .alert, .hybrid: .alert
    }
  }

  /// The payload for Apple's devices in this form, at most ``PushPayload/limit`` bytes long.
  func text(of content: AnnouncementContent) -> PushPayload {
    switch self {
    case .silent:
      PushPayload(kind, message: content.message) {
        #"{"aps":{"content-available":1},"# + Self.rich(content, message: $0) + "}"
      }
    case .alert:
      PushPayload(kind, message: content.message) {
        #"{"aps":{"alert":{"body":\#($0)},"mutable-content":1\#(Self.badge(content))},"#
          + Self.rich(content) + Self.attachment(content) + "}"
      }
    case .hybrid:
      PushPayload(kind, message: content.message) {
        #"{"aps":{"alert":{"body":\#($0)},"mutable-content":1,"content-available":1"#
          + Self.badge(content) + "}," + Self.rich(content, message: $0)
          + Self.attachment(content) + "}"
      }
    case .legacy:
      PushPayload(kind, message: content.message) {
        #"{"aps": {"content-available": 1, "sound":""}, "richId": "\#(content.id)","#
          + #"  "richMessage": \#($0), "richType": \#(JSONText.quoted(content.richType))}"#
      }
    }
  }

  /// The payload for a Web Push subscription or Firebase: the same whatever the form, because a browser shows
  /// every push.
  ///
  /// The form decides how urgent it is.
  func webText(of content: AnnouncementContent) -> PushPayload {
    PushPayload(kind, message: content.message, limit: PushPayload.webLimit) {
      "{" + Self.rich(content, message: $0) + Self.attachment(content) + "}"
    }
  }

  private static func rich(_ content: AnnouncementContent, message: String? = nil) -> String {
    let message = message.map { #","richMessage":"# + $0 } ?? ""
    return #""richId":"\#(content.id)"\#(message),"richType":"#
      + JSONText.quoted(content.richType)
  }

  private static func badge(_ content: AnnouncementContent) -> String {
    content.countsUnread ? "," + PushPayload.badge(PushPayload.badgePlaceholder) : ""
  }

  private static func attachment(_ content: AnnouncementContent) -> String {
    guard let media = content.media else { return "" }
    return #","att":{"url":\#(JSONText.quoted(media.url)),"type":\#(JSONText.quoted(media.type))"#
      + #","size":\#(media.size)}"#
  }
}

/// What a push announces about one notification, whatever its form.
package struct AnnouncementContent: Sendable, Equatable {
  /// The notification's id; the push carries it as text in `richId`.
  package let id: Int
  /// The whole message; a form shortens it where the push would grow too long.
  package let message: String
  /// The plugin's name, such as `img`.
  package let richType: String
  /// Where a notification service extension fetches the media, without a password.
  package let media: MediaLink?
  /// Whether to set the app icon's badge to the unread count at the time of sending.
  package let countsUnread: Bool

  package init(
    id: Int, message: String, richType: String, media: MediaLink? = nil,
    countsUnread: Bool = false
  ) {
    (self.id, self.message, self.richType) = (id, message, richType)
    (self.media, self.countsUnread) = (media, countsUnread)
  }
}

/// A signed link to a notification's media, with what an extension needs to decide whether to fetch it.
package struct MediaLink: Sendable, Equatable {
  package let url: String
  /// The media type, such as `image/png`.
  package let type: String
  /// The size in bytes.
  package let size: Int

  package init(url: String, type: String, size: Int) {
    (self.url, self.type, self.size) = (url, type, size)
  }
}
