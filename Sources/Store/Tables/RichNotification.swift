package import FoundationEssentials

/// A rich push message, as it was created; it does not change once somebody has fetched it.
package struct RichNotification: Sendable, Equatable {
  /// The id: from 0 upwards, without gaps, within 32 bits, never used twice.
  package let id: Int
  /// The text people see.
  package let message: String
  /// The name of the plugin that renders it.
  package let richType: String
  /// What the publisher named: an asset or literal content.
  package let payload: String
  /// Who created it, or nil when the server itself did.
  package let sender: UserID?
  /// What the plugin's `validate` said, as JSON text.
  package let details: String?
  /// The content it was created with, or nil when the payload is all there is.
  package let blob: Blob?
  /// The sniffed media type of the content.
  package let blobType: String?
  /// When it was created.
  package let created: Date
  /// When its recipients first get to know of it, or nil when that was at once.
  package let notBefore: Date?
  /// When it ceases to be, or nil.
  package let expires: Date?
  /// How its pushes look, in the publisher's words.
  package let form: String
  private let audience: StringList

  /// Whom it was addressed to, as the publisher wrote it.
  package var to: [String] { audience.items }

  /// Whether its recipients may not know of it yet.
  package func isHeld(at moment: Date) -> Bool { notBefore.map { $0 > moment } ?? false }
}

extension RichNotification {
  /// The columns that `init(_:)` reads, in its order.
  static let columns = """
    notification.id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
    created, not_before, expires, form, audience
    """

  /// The condition under which recipients may know of it at the moment that a parameter holds.
  static func isVisible(_ moment: String) -> String {
    "(expires IS NULL OR expires > \(moment)) AND (not_before IS NULL OR not_before <= \(moment))"
  }

  init(_ row: inout Row) throws {
    id = try row.next()
    message = try row.next()
    richType = try row.next()
    payload = try row.next()
    sender = try row.next()
    details = try row.next()
    let digest: Digest? = try row.next()
    let size: Int? = try row.next()
    blob = digest.map { Blob(digest: $0, size: size ?? 0) }
    blobType = try row.next()
    created = try row.next()
    notBefore = try row.next()
    expires = try row.next()
    form = try row.next()
    audience = try row.next()
  }
}
