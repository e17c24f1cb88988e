package import FoundationEssentials

/// A message for the devices that listen on the embedded push gateway.
package struct StoredPushEvent: Sendable, Equatable {
  /// Rises with every commit.
  package let sequence: Int
  /// The notification it announces, or nil for a plain text.
  package let notificationID: Int?
  /// The push itself; of one that announces a notification, what ``NotificationInsert/event`` was.
  package let data: String
}

/// An event for publishers and the operator's programs.
package struct StoredEvent: Sendable, Equatable {
  /// Rises with every commit.
  package let sequence: Int
  /// A unique name, the same at every delivery.
  package let token: String
  /// The kind of event: `receipt` or `asset`.
  package let type: String
  /// What happened, as the text of a JSON object.
  package let data: String
  /// When it happened.
  package let time: Date
}

/// Events in the order of their commits: pushes for devices, and receipts and asset events for publishers.
package protocol Events: Sendable {
  // MARK: Pushes

  /// Commits a push that announces no notification: an event for each user, and jobs.
  ///
  /// If a device sends it to its own user, it counts as a notification: throws `exhausted` like
  /// ``Notifications/create(_:)``.
  func push(
    _ data: String, to users: [UserID], pushes: [PushInsert], fromDeviceOf user: UserID?
  ) async throws
  /// The user's push events after a sequence number, in order, at most `limit`.
  ///
  /// Leaves out those of expired notifications.
  func pushEvents(for user: UserID, after: Int, limit: Int) async throws -> [StoredPushEvent]
  /// The push events of several users, each after a sequence number of their own, in order; nil if they are
  /// more than `limit`.
  ///
  /// Leaves out those of expired notifications. One query for all of them.
  func pushEvents(
    after positions: [UserID: Int], limit: Int
  ) async throws -> [UserID: [StoredPushEvent]]?
  /// When the last push event with at most this sequence number was committed; nil if there is none any more.
  func time(ofPushEvent sequence: Int) async throws -> Date?
  /// The sequence number of the latest push event, 0 before the first.
  func latestPushEvent() async throws -> Int
  /// Inserts the push events of every held notification that is due, each once.
  ///
  /// Returns when the next one is due, or nil if none is held. May run at any time: inserting the events
  /// and ending the hold are one commit.
  func releaseHeldEvents() async throws -> Date?

  // MARK: Events for publishers

  /// The events after a sequence number, in order, at most `limit`.
  ///
  /// With a publisher, those for it and those for all. In a receipt of a removed user, `user` is null.
  func events(after: Int, for publisher: UserID?, limit: Int) async throws -> [StoredEvent]
  /// The sequence number of the latest event, 0 before the first.
  func latestEvent() async throws -> Int
  /// Adds a cursor for a reader of all events, after the latest event; an existing one is kept.
  ///
  /// Does not wait for the commit, which precedes those of all later changes.
  func createCursor(of reader: String)
  /// The sequence number that ``setCursor(_:of:)`` stored for a reader; nil for a new one.
  func cursor(of reader: String) async throws -> Int?
  /// Stores the sequence number of the last event a reader has processed; nil removes the cursor.
  func setCursor(_ sequence: Int?, of reader: String) async throws
}

extension Events {
  /// Commits a push of a publisher, or of the server, that announces no notification.
  package func push(_ data: String, to users: [UserID], pushes: [PushInsert]) async throws {
    try await push(data, to: users, pushes: pushes, fromDeviceOf: nil)
  }
}
