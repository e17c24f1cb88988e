#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// How far a notification has come with some of its recipients, each of whom counts once.
///
/// `recipients` is the sum of `waiting`, `unreachable` and `sent`; all other numbers are of those among
/// `sent` who have reacted, or whose devices have.
public struct Funnel: Sendable, Equatable, Codable {
  /// All of them.
  public let recipients: Int
  /// Those to whom it is still to be sent.
  public let waiting: Int
  /// Those to whom nothing was sent, and nothing will be.
  public let unreachable: Int
  /// Those to whom it was sent.
  public let sent: Int
  /// Those of whom a device has shown it.
  public var displayed = 0
  /// Those of whom a device has fetched it.
  public var fetched = 0
  /// Those who have opened it.
  public var opened = 0
  /// Those who have marked it read.
  public var read = 0
  /// Those who have dismissed it.
  public var dismissed = 0

  /// Creates the numbers; those of what came back can be set afterwards.
  package init(recipients: Int, waiting: Int, unreachable: Int, sent: Int) {
    (self.recipients, self.waiting) = (recipients, waiting)
    (self.unreachable, self.sent) = (unreachable, sent)
  }
}

/// What became of a notification: the response of `GET /api/notifications/<id>/statistics`.
public struct NotificationStatistics: Sendable, Equatable, Codable {
  /// The notification.
  public let id: Int
  /// What has become of it.
  public let state: SentPage.Entry.State
  /// When it was counted.
  public let counted: Date
  /// How far it has come with its recipients.
  public let users: Funnel
  /// The buttons that were pressed.
  public let actions: Int
  /// The replies.
  public let replies: Int
  /// The recipients whom it does not reach, by reason.
  public let unreachable: [Unreachable]
  /// The recipients by the platforms of their devices.
  public let platforms: [Group]
  /// The recipients by language.
  public let languages: [Group]
  /// What happened when.
  public let course: Course
  /// Whether the receipts are still kept; if not, only `users`, `actions` and `replies` have numbers.
  public let hasReceipts: Bool

  /// Describes what became of a notification.
  package init(
    id: Int, state: SentPage.Entry.State, counted: Date, users: Funnel,
    interactions: (actions: Int, replies: Int), unreachable: [Unreachable],
    groups: (platforms: [Group], languages: [Group]), course: Course, hasReceipts: Bool
  ) {
    (self.id, self.state, self.counted, self.users) = (id, state, counted, users)
    (actions, replies) = interactions
    (self.unreachable, self.course, self.hasReceipts) = (unreachable, course, hasReceipts)
    (platforms, languages) = groups
  }

  /// Recipients whom a notification does not reach for one reason.
  public struct Unreachable: Sendable, Equatable, Codable {
    /// The kind of reason: `noDevice`, `noService`, `failed`, `expired`, `cancelled` or `ended`.
    public let cause: String
    /// What the push service said, the platforms without one, or why it was cancelled; nil if nothing more is known, and
    /// for the rest of many reasons.
    @Nullable public var reason: String?
    /// How many there are.
    public let users: Int

    /// Creates a number with its reason.
    package init(cause: String, reason: String?, users: Int) {
      (self.cause, self.users) = (cause, users)
      self.reason = reason
    }
  }

  /// Recipients who have the same platforms, or the same language.
  public struct Group: Sendable, Equatable, Codable {
    /// The platforms of their devices, or their language; empty if they have none, `*` for the rest of many groups.
    public let names: [String]
    /// How far it has come with them.
    public let users: Funnel

    /// Creates a group.
    package init(names: [String], users: Funnel) { (self.names, self.users) = (names, users) }
  }

  /// How many recipients reached each step first, in periods of one length that follow each other.
  ///
  /// Each list has a number for each period.
  public struct Course: Sendable, Equatable, Codable {
    /// When the first period began: when the notification was sent.
    public let start: Date
    /// The length of a period, in seconds, which grows with the time in which something happened.
    public let length: Int
    /// Those to whom it was sent then.
    public let sent: [Int]
    /// Those of whom a device showed it then.
    public let displayed: [Int]
    /// Those of whom a device fetched it then.
    public let fetched: [Int]
    /// Those who opened it then.
    public let opened: [Int]
    /// Those who marked it read then.
    public let read: [Int]
    /// Those who dismissed it then.
    public let dismissed: [Int]
    /// The buttons that were pressed then.
    public let actions: [Int]
    /// The replies that came then.
    public let replies: [Int]

    /// Creates a course; `numbers` has the periods of a step, by the name of the member.
    package init(start: Date, length: Int, _ numbers: (String) -> [Int]) {
      (self.start, self.length) = (start, length)
      (sent, displayed) = (numbers("sent"), numbers("displayed"))
      (fetched, opened) = (numbers("fetched"), numbers("opened"))
      (read, dismissed) = (numbers("read"), numbers("dismissed"))
      (actions, replies) = (numbers("actions"), numbers("replies"))
    }
  }
}

/// What was sent week by week: the response of `GET /api/statistics`.
public struct WeekStatistics: Sendable, Equatable, Codable {
  /// The weeks, the earliest first.
  public let weeks: [Week]

  /// Creates the list.
  package init(weeks: [Week]) { self.weeks = weeks }

  /// What was sent in a week, and what has become of it since.
  public struct Week: Sendable, Equatable, Codable {
    /// When it begins: on a Monday at midnight in the time zone that was asked for.
    public let start: Date
    /// The notifications whose time came in it.
    public var notifications = 0
    /// Those of them that were withdrawn.
    public var withdrawn = 0
    /// Their recipients; somebody counts once for each notification.
    public var recipients = 0
    /// Pushes that were sent.
    public var sent = 0
    /// Pushes that failed or expired.
    public var failed = 0
    /// Recipients of whom a device has shown a notification.
    public var displayed = 0
    /// Recipients who have fetched one.
    public var fetched = 0
    /// Recipients who have opened one.
    public var opened = 0
    /// Recipients who have marked one read.
    public var read = 0
    /// Recipients who have dismissed one.
    public var dismissed = 0
    /// Buttons that were pressed.
    public var actions = 0
    /// Replies.
    public var replies = 0

    /// A week in which nothing was sent.
    package init(start: Date) { self.start = start }
  }
}
