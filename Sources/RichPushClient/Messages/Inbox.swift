/// One page of a user's notifications.
public struct Inbox: Sendable, Decodable {
  /// The notifications, the newest first.
  public let notifications: [RichNotification]
  /// How many notifications the user has not marked as read, on all pages; nil from an old server.
  public let unread: Int?
  /// Where the next page is, as a path on the server; nil on the last one.
  public let next: String?
}
