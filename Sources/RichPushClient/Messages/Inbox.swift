/// One page of a user's notifications.
public struct Inbox: Sendable, Decodable {
  /// The notifications, the newest first.
  public let notifications: [RichNotification]
  /// Where the next page is, as a path on the server; nil on the last one.
  public let next: String?
}
