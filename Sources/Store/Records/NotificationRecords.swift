package import FoundationEssentials

/// A notification to create, with everything that is committed together with it.
package struct NotificationInsert: Sendable {
  /// The text people see.
  package var message: String
  /// The name of the plugin that renders it.
  package var richType: String
  /// What the publisher named: an asset or literal content.
  package var payload: String
  /// Who creates it, or nil for the server itself.
  package var sender: UserID?
  /// The users who may get it; duplicates count once.
  package var recipients: [UserID] = []
  /// The audience as the publisher wrote it.
  package var to: [String] = []
  /// What the plugin's `validate` returned, as JSON text.
  package var details: String?
  /// The content to pin; it must have been added to `Store.blobs`.
  package var blob: Blob?
  /// The detected media type of the content.
  package var blobType: String?
  /// When its recipients first learn of it, or nil for at once.
  package var notBefore: Date?
  /// When it expires, or nil.
  package var expires: Date?
  /// The form of its pushes, as the publisher wrote it; the store only keeps it.
  package var form = ""
  /// Detects a repetition of the request, or nil.
  package var idempotencyKey: IdempotencyKey?
  /// Makes the push event's data from the new id; nil if the embedded gateway announces nothing.
  package var push: (@Sendable (_ id: Int) -> String)?
  /// The pushes that go to devices through the outbox.
  package var pushes: [PushInsert] = []

  /// Describes a notification; the other members can be set afterwards.
  package init(message: String, richType: String, payload: String) {
    (self.message, self.richType, self.payload) = (message, richType, payload)
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

/// A row of the notification table; it does not change once a recipient has fetched its content.
package struct StoredNotification: Sendable, Equatable {
  /// The id: from 0 upwards, without gaps, within 32 bits, never reused.
  package let id: Int
  /// The text people see.
  package let message: String
  /// The name of the plugin that renders it.
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
  /// When it was created.
  package let created: Date
  /// When its recipients first learn of it, or nil if that was at once.
  package let notBefore: Date?
  /// When it expires, or nil.
  package let expires: Date?
  /// The form of its pushes, as the publisher wrote it.
  package let form: String
  private let audience: StringList

  /// The audience as the publisher wrote it.
  package var to: [String] { audience.items }

  /// Whether its recipients may not know of it yet.
  package func isHeld(at time: Date) -> Bool { notBefore.map { $0 > time } ?? false }
}

extension StoredNotification {
  /// The columns that `init(_:)` reads, in its order.
  static let columns = """
    notification.id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
    created, not_before, expires, form, audience
    """

  /// The condition that recipients may know of it at the time in the parameter `time`, such as `?2`.
  static func isVisible(_ time: String) -> String {
    "(expires IS NULL OR expires > \(time)) AND (not_before IS NULL OR not_before <= \(time))"
  }

  init(_ row: inout Row) throws {
    (id, message, richType) = (try row.next(), try row.next(), try row.next())
    (payload, sender, details) = (try row.next(), try row.next(), try row.next())
    let (digest, size): (Digest?, Int?) = (try row.next(), try row.next())
    blob = digest.map { Blob(digest: $0, size: size ?? 0) }
    (blobType, created, notBefore) = (try row.next(), try row.next(), try row.next())
    (expires, form, audience) = (try row.next(), try row.next(), try row.next())
  }
}
