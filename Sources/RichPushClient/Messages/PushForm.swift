/// What a push looks like that announces a notification.
public enum PushForm: String, Sendable, Codable, CaseIterable {
  /// It wakes the app in the background and shows nothing.
  case silent
  /// It shows the message; a notification service extension adds the media.
  case alert
  /// Both at once, for old apps and new ones.
  case hybrid
  /// The text of the Azure "Rich Push" tutorial, space for space.
  case legacy
}
