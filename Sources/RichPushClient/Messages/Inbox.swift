/// One page of a user's notifications.
public struct Inbox: Sendable, Decodable {
  /// The notifications, the newest first.
  public let notifications: [RichNotification]
  /// What to give as `before` for the next page; nil on the last one.
  public let next: Int?
}
