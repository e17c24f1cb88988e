/// What a push tells a device about one notification, before it takes a form.
package struct PushContent: Sendable, Equatable {
  /// The notification's id; the push carries it as text in `richId`.
  package let id: Int
  /// The whole message; a form shortens it where the push would grow too long.
  package let message: String
  /// The plugin's name, such as `img`.
  package let richType: String
  /// Where a notification service extension fetches the media without a password.
  package let media: MediaLink?
  /// Whether the number on the app's icon shall be the unread count, as it is when the push leaves.
  package let countsUnread: Bool

  package init(
    id: Int, message: String, richType: String, media: MediaLink? = nil,
    countsUnread: Bool = false
  ) {
    self.id = id
    self.message = message
    self.richType = richType
    self.media = media
    self.countsUnread = countsUnread
  }
}

/// A signed address of a notification's media, with what an extension needs to decide on a fetch.
package struct MediaLink: Sendable, Equatable {
  package let url: String
  /// The media type, such as `image/png`.
  package let type: String
  /// The size in bytes.
  package let size: Int

  package init(url: String, type: String, size: Int) {
    self.url = url
    self.type = type
    self.size = size
  }
}
