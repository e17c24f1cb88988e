package import FoundationEssentials

/// How long what nobody needs any more is kept.
package struct Retention: Sendable {
  /// The bytes that renditions may take, or nil for no limit; the coldest beyond that go.
  package var renditionBytes: Int?
  /// How long a rendition is safe after its last use, in seconds.
  package var renditionGrace: TimeInterval = 15
  /// How long content nobody refers to is kept after it was last added, in seconds.
  package var blobGrace: TimeInterval = 3600
  /// How long events for publishers are kept, in seconds.
  package var eventAge: TimeInterval = 7 * 86400
  /// How many of them are kept at most; the oldest go.
  package var events = 1_000_000
  /// How long push events, settled jobs and idempotency keys are kept, in seconds.
  package var historyAge: TimeInterval = 30 * 86400

  /// The defaults; everything can be set afterwards.
  package init() {}
}

/// What a collection removed.
package struct Collection: Sendable, Equatable {
  /// How many expired notifications.
  package var notifications = 0
  /// How many pieces of content nobody referred to.
  package var blobs = 0
  /// The bytes of that content.
  package var blobBytes = 0
  /// How many cold renditions.
  package var renditions = 0
  /// The bytes of those renditions.
  package var renditionBytes = 0
}
