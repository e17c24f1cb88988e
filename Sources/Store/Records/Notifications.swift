package import FoundationEssentials

/// A notification to create, with everything that is committed together with it.
package struct NotificationInsert: Sendable {
  /// The text people see.
  package var message: String
  /// What else its message says, as JSON text; nil if nothing.
  package var members: String?
  /// What it is about, if it takes the place of its sender's earlier ones that are about the same.
  package var replaces: String?
  /// The name of the plugin that renders it; empty without media.
  package var richType: String
  /// What the publisher named: an asset or literal content.
  package var payload: String
  /// Who creates it, or nil for the server itself.
  package var sender: UserID?
  /// Whether a device sends it to its own user, who may do so only so often.
  package var isFromDevice = false
  /// The users who may get it; duplicates count once.
  package var recipients: [UserID] = []
  /// What placeholders stand for, by recipient; nil to leave what is stored as it is.
  package var values: RecipientValues?
  /// The audience as the publisher wrote it.
  package var to: [String] = []
  /// What the plugin's `validate` returned, as JSON text.
  package var details: String?
  /// The content to pin; it must have been added to `Store.blobs`.
  package var blob: Blob?
  /// The detected media type of the content.
  package var blobType: String?
  /// The point that crops keep, such as `0.5,0.3`: its asset's.
  package var focus: String?
  /// Whether the alternative text in ``members`` is its asset's, because it names none.
  package var hasAssetAlt = false
  /// When its recipients first learn of it, or nil for at once.
  package var notBefore: Date?
  /// The time by the clock of each recipient that ``times`` are made of, which the store only keeps, or nil.
  package var localTime: String?
  /// The most devices that it is pushed to in a minute, which ``times`` and ``PushInsert/scheduled`` follow from; nil for
  /// any number.
  package var perMinute: Int?
  /// All recipients by the time at which they learn of it, in ascending order, if each has one of its own.
  package var times: [Date: [UserID]] = [:]
  /// When it expires, or nil.
  package var expires: Date?
  /// The form of its pushes, as the publisher wrote it; the store only keeps it.
  package var form = ""
  /// Detects a repetition of the request, or nil.
  package var idempotencyKey: IdempotencyKey?
  /// The file of the drop folder that it is made of, or nil.
  package var file: PublishedFile?
  /// What its history records of a change; nil for nothing.
  package var amendment: NewAmendment?
  /// The version of the message and the media that a push event has a link to, as JSON text, which the store only
  /// keeps; nil if the embedded gateway announces nothing.
  package var event: String?
  /// The pushes that go to devices through the outbox.
  package var pushes: [PushInsert] = []
  /// Set if its recipients are found when it is due: it has none until then.
  package var dueAudience: DueAudience?
  /// Whether this changes a notification whose recipients are still to be found.
  package var awaitsAudience = false
  /// To how many people it may be sent without approval; nil for any number.
  package var approvalAbove: Int?
  /// For how many people it is, if ``approvalAbove`` is set; when they were to learn of it, if it awaits approval.
  var (people, held): (Int?, Date?)

  /// Describes a notification; the other members can be set afterwards.
  package init(message: String, richType: String, payload: String) {
    (self.message, self.richType, self.payload) = (message, richType, payload)
  }
}

extension NotificationInsert {
  /// When something is due: at a time of its own or, without one, with the notification.
  ///
  /// What awaits approval has its times as they are, but so much later (``StoredNotification/untilReleased``) that they
  /// never come.
  func due(_ time: Date?, at now: Date) -> Date {
    guard let held else { return max(time ?? notBefore ?? now, now) }
    return (time ?? held) + StoredNotification.untilReleased.timeIntervalSince1970
  }

  /// Recipients by the time of their own at which they learn of it, in the order of the times.
  func groups(of recipients: [UserID]) -> [(due: Date?, users: [UserID])] {
    if times.isEmpty { return [(nil, recipients)] }
    return times.sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
  }

  /// The user whose device sends it to the user itself; nil if another sends it.
  var device: UserID? { isFromDevice ? sender : nil }
}

/// A change of a notification by a person.
package struct NewAmendment: Sendable {
  /// Who makes it.
  package let editor: UserID
  /// The members that it changes as they were before, as a JSON object; null for one that was not there.
  package let earlier: String

  /// Describes a change.
  package init(by editor: UserID, of earlier: String) {
    (self.editor, self.earlier) = (editor, earlier)
  }
}

/// A change of a notification in its history.
package struct StoredAmendment: Sendable, Equatable {
  /// Who made it; nil if that user was removed.
  package let editor: String?
  /// The members that it changed as they were before, as a JSON object; null for one that was not there.
  package let earlier: String
  /// When it was made.
  package let time: Date
}

/// An audience that is found when its notification is due.
package struct DueAudience: Sendable, Equatable {
  /// The segment that it is, which is kept until then; nil if it is none.
  package let segment: String?
  /// How many people are in it when the notification is created.
  package let people: Int

  /// Describes the audience.
  package init(segment: String?, people: Int = 0) {
    (self.segment, self.people) = (segment, people)
  }
}

/// A publisher's name for one request, so that a repetition of the request creates nothing again.
package struct IdempotencyKey: Sendable, Equatable {
  /// The key, unique among its sender's.
  package let key: String
  /// The digest of the request it came with.
  package let request: Digest

  /// Combines a key with the bytes of its request.
  package init(_ key: String, request: [UInt8]) {
    (self.key, self.request) = (key, Digest(of: request))
  }
}

/// A row of the notification table; once a recipient has fetched its content, only
/// the file that it was made of changes it.
package struct StoredNotification: Sendable, Equatable {
  /// The ID: from 0 upwards, never reused; with PostgreSQL it has 64 bits, and a failed transaction leaves a gap.
  package let id: Int
  /// The text people see.
  package let message: String
  /// What else its message says, as JSON text that the store only keeps; nil if nothing.
  package let members: String?
  /// The name of the plugin that renders it; empty without media.
  package let richType: String
  /// What the publisher named: an asset or literal content.
  package let payload: String
  /// Who created it, or nil for the server itself.
  package let sender: UserID?
  /// What the plugin's `validate` returned, as JSON text.
  package let details: String?
  /// The content it was created with, or nil if the payload is everything.
  package let blob: Blob?
  /// The detected media type of the content.
  package let blobType: String?
  /// The point that crops keep, such as `0.5,0.3`: that of its asset when it was created.
  package let focus: String?
  /// Whether the alternative text in ``members`` is that of its asset when it was created, because it names none.
  package let hasAssetAlt: Bool
  /// When it was created.
  package let created: Date
  /// When its recipients first learn of it, or nil if that was at once; in an inbox, when its user does.
  package internal(set) var notBefore: Date?
  /// The time by the clock of each recipient at which it is sent, as ``NotificationInsert/localTime``; ``notBefore`` is
  /// the first time at which that is so somewhere.
  package let localTime: String?
  /// The most devices that it is pushed to in a minute, or nil.
  package let perMinute: Int?
  /// When they were to learn of it, if it waits until an admin names another time, because its sender was removed
  /// or may not publish any more, or until it is approved; not later than ``created`` if that is at once.
  package let held: Date?
  /// Whether it waits until another publisher approves it.
  package let awaitsApproval: Bool
  /// For how many people it is, if it may not be sent to any number without approval.
  package let people: Int?
  /// When it expires, or nil.
  package let expires: Date?
  /// The form of its pushes, as the publisher wrote it.
  package let form: String
  let audience: StringList
  /// What it is about, if it takes the place of its sender's earlier ones that are about the same.
  package let replaces: String?
  /// The one that has taken its place, or nil; in an inbox always nil.
  package internal(set) var replacedBy: Int?

  /// The audience as the publisher wrote it.
  package var to: [String] { audience.items }

  /// The `notBefore` of one that waits until an admin names another time: 1 January 9999.
  static let untilReleased = Date(timeIntervalSince1970: 253_370_764_800)

  /// When they learn of it, or were to; nil for at once.
  package var plannedTime: Date? {
    awaitsApproval ? held.flatMap { $0 > created ? $0 : nil } : held ?? notBefore
  }

  /// What its pushes say from now on.
  package var version: StoredMessage { StoredMessage(message, members: members, form: form) }

  /// Its media; nil if it is text alone.
  package var media: (richType: String, payload: String)? {
    richType.isEmpty ? nil : (richType, payload)
  }

  /// Whether its recipients may not know of it yet.
  package func isHeld(at time: Date) -> Bool { notBefore.map { $0 > time } ?? false }
}

/// A notification as one of its recipients sees it.
package struct InboxEntry: Sendable, Equatable {
  /// The notification.
  package let notification: StoredNotification
  /// Whether the user has marked it read.
  package let isRead: Bool
}

/// A notification that one of its recipients need not be shown any more.
package struct EndedNotification: Sendable, Equatable {
  /// The notification.
  package let notification: StoredNotification
  /// The recipient.
  package let user: UserID
  /// Whether it was withdrawn; otherwise the recipient has marked it read.
  package let isWithdrawn: Bool
  /// When that was.
  package let time: Date
}

/// Notifications, their recipients and receipts.
package protocol Notifications: Sendable {
  // MARK: Changes

  /// Creates a notification with its recipients, push events and jobs, all of it or nothing.
  ///
  /// For its recipients it takes the place of the sender's earlier ones with the same `replaces`: these leave their
  /// inboxes, and what was not sent of them is cancelled. Others keep them.
  ///
  /// Those of a large audience are written by ``writeNextParts(within:)``. Until then its users count as recipients
  /// when they fetch the notification or mark it read.
  ///
  /// Throws `exhausted` if it is from a device whose user has sent too much to itself within the hour.
  ///
  /// If the idempotency key was used before with the same request, returns the notification that was
  /// created then, and `isNew` is false; with another request it throws `conflict`. A blob that is not stored
  /// throws `missing`.
  func create(
    _ new: NotificationInsert
  ) async throws -> (notification: StoredNotification, isNew: Bool)
  /// Replaces the content of a notification that nobody has fetched yet; nil if it has expired, was fetched, or
  /// another has taken its place.
  ///
  /// Id, recipients and creation time stay. A change by a device counts as a notification: throws `exhausted` like
  /// ``create(_:)``. Unsent pushes are cancelled; the pushes of `new` replace
  /// on a device those already sent. If `new` changes nothing, pushes nothing, so that an amendment
  /// can be repeated when its response was lost. Throws `changed` if its recipients were found since
  /// ``awaitsAudience(_:)``, which `new` is to follow.
  ///
  /// With `content`, which `new.file` was published with, it is replaced also if some have fetched it, unless
  /// the notification has other content by now: then the result is nil.
  func amend(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?
  ) async throws -> StoredNotification?
  /// Writes recipients, push events or jobs of a large audience, of which ``create(_:)`` stored that they
  /// are to be written, in one commit; false if there are none. The jobs of one that is held are not written.
  ///
  /// Begins no further part after `time`, and writes at least one. A part takes about 5 ms.
  func writeNextParts(within time: Duration) async throws -> Bool
  /// Writes all that remains to be written of a notification's audience, but the jobs of one that is held.
  func completeAudience(of id: Int) async throws
  /// Withdraws a notification: it expires now, and what was not sent of it is cancelled, of a large audience some in
  /// each commit.
  ///
  /// False if there is no such notification.
  func withdraw(_ id: Int) async throws -> Bool
  /// Gives a notification whose recipients are found when it is due those of `new`, with their push events and jobs.
  ///
  /// False if it has them already, was withdrawn or has expired, or is not as it was read any more.
  func announce(
    _ notification: StoredNotification, with new: NotificationInsert
  ) async throws -> Bool
  /// Has a notification wait until another time is named for it; false if it is not as it was read any more, or has
  /// ended: then it needs no recipients.
  func hold(_ notification: StoredNotification) async throws -> Bool

  // MARK: Recipients that are found when a notification is due

  /// At most `limit` notifications that are due and whose recipients are to be found, the earliest first, and when the
  /// next one will be due.
  func dueAudiences(limit: Int) async throws -> (due: [StoredNotification], next: Date?)
  /// Whether the recipients of a notification are still to be found.
  func awaitsAudience(_ id: Int) async throws -> Bool

  // MARK: Queries

  /// The notification with this id; nil if there is none or it has expired.
  func notification(_ id: Int) async throws -> StoredNotification?
  /// The sender's latest notification about a subject, its `replaces`; nil if there is none or it has expired.
  func notification(about subject: String, sender: UserID) async throws -> StoredNotification?
  /// The sender's latest notification about a subject, its `replaces`, with its idempotency key, also if it has
  /// expired; nil if there is none.
  func latest(
    about subject: String, sender: UserID
  ) async throws -> (id: Int, key: String?, hasExpired: Bool)?
  /// The notification that was created with an idempotency key of this sender, or nil.
  ///
  /// Throws `conflict` if the key was used for another request.
  func notification(for key: IdempotencyKey, sender: UserID?) async throws -> StoredNotification?
  /// What a file of the drop folder was published as last, or nil.
  func publication(ofFile path: String, in folder: String) async throws -> FilePublication?
  /// What people have changed of a notification, the last change first: the last 50.
  func amendments(of id: Int) async throws -> [StoredAmendment]
  /// When a notification's content was replaced that some had fetched, and the first `limit` of those by their
  /// numbers; nil if it was not.
  func replacement(of id: Int, limit: Int) async throws -> ContentReplacement?
  /// The newest notification with this rich type and payload, and with content of its own, that the user was sent
  /// and may know of now; nil if there is none.
  func notification(
    _ richType: String, payload: String, sentTo user: UserID
  ) async throws -> StoredNotification?
  /// The user's notifications that are not hidden, newest first, at most `limit`, with ids below `before`.
  func inbox(
    of user: UserID, unreadOnly: Bool, limit: Int, before: Int?
  ) async throws -> [InboxEntry]
  /// What placeholders of notifications stand for, by notification and user, as JSON objects of texts.
  func values(of notifications: [Int], users: [UserID]) async throws -> [Int: [UserID: String]]
  /// Those of the users' notifications that were withdrawn or marked read at a time or later, or only of one.
  ///
  /// What was withdrawn is left out once it was cleaned up.
  func ended(
    since time: Date, for users: [UserID], among notification: Int?
  ) async throws -> [EndedNotification]
  /// The number of the user's notifications that are neither marked read nor hidden.
  func unreadCount(of user: UserID) async throws -> Int
  /// The same for several users, without those who have none.
  func unreadCounts(of users: [UserID]) async throws -> [UserID: Int]

  // MARK: Receipts

  /// Marks a notification read; false if the user has no such notification.
  ///
  /// Only the first time is recorded, for the user and for each registration. A `device` that is not a
  /// registration of the user is ignored.
  func markRead(_ id: Int, user: UserID, device: String?) async throws -> Bool
  /// Marks each notification in the user's inbox read whose id is at most `last`.
  ///
  /// Of thousands, some hundred in each commit.
  func markRead(upTo last: Int, user: UserID, device: String?) async throws
  /// Takes a notification out of the user's inbox and unread count, or brings it back; false if the user has no such
  /// notification.
  func setHidden(_ isHidden: Bool, _ id: Int, user: UserID) async throws -> Bool
  /// Records what a device of the user, or the user, reports; false if the user has no such notification.
  ///
  /// The first time only for the user and for each registration, as for ``markRead(_:user:device:)``. `displayed` is
  /// written with the next commit, the others before it returns.
  func record(
    _ event: ReportedEvent, of id: Int, user: UserID, device: String?
  ) async throws -> Bool
  /// Records that notifications were sent to a device of each of these users, the first time only.
  ///
  /// Returns at once: it is written with the next commit.
  func recordSent(_ users: [Int: [UserID]])
  /// Records that a device of the user fetched the content, the first time only for the user and for
  /// each registration.
  ///
  /// Returns at once: it is written with the next commit.
  func recordFetched(_ id: Int, user: UserID, device: String?)
  /// Whether a fetch by the user, on the device if one is given, is recorded already; nil if the user is
  /// not a recipient of the notification.
  func isFetchRecorded(_ id: Int, user: UserID, device: String?) async throws -> Bool?
  /// The only recipient of a notification; nil if there are more, or none.
  func soleRecipient(of id: Int) async throws -> UserID?
  /// The receipts of a notification, by the users' names.
  func receipts(of id: Int) async throws -> [Receipt]
  /// The receipts of some users, by their numbers.
  func receipts(of id: Int, users: [UserID]) async throws -> [Receipt]
  /// The receipts in a state, or in any, of users whose numbers are larger than `after`, by these numbers; at
  /// most `limit`.
  ///
  /// The cost does not grow with the recipients.
  func receipts(
    of id: Int, in state: ReceiptState?, after: Int, limit: Int
  ) async throws -> [Receipt]
  /// The receipts of the users' devices that identified themselves, by user and registration.
  func deviceReceipts(of id: Int, users: [UserID]) async throws -> [DeviceReceipt]
}

extension Notifications {
  /// Replaces the content of a notification that nobody has fetched yet; nil if it has expired or was fetched.
  package func amend(
    _ id: Int, with new: NotificationInsert
  ) async throws -> StoredNotification? {
    try await amend(id, with: new, replacing: nil)
  }

  /// Records that notifications were sent to a device of the user, the first time only.
  package func recordSent(_ ids: [Int], user: UserID) {
    recordSent(Dictionary(ids.map { ($0, [user]) }, uniquingKeysWith: { first, _ in first }))
  }
}
