#if canImport(FoundationEssentials)
  public import FoundationEssentials
#else
  public import Foundation
#endif

/// A change of a notification in its history.
public struct RecordedAmendment: Sendable, Equatable, Codable {
  /// Who made it; nil if that user was removed.
  @Nullable public var editor: String?
  /// When it was made.
  public let time: Date
  /// The members that it changed as they were before, as in ``NewNotification``; null for one that was not there.
  public let earlier: [String: JSONValue]

  /// Describes a change.
  package init(editor: String?, time: Date, earlier: [String: JSONValue]) {
    (self.time, self.earlier) = (time, earlier)
    self.editor = editor
  }
}

/// What people have changed of a notification: the response of `GET /api/notifications/<id>/amendments`.
public struct AmendmentList: Sendable, Equatable, Codable {
  /// The last 50 changes, the last one first.
  public let amendments: [RecordedAmendment]

  /// Creates a list.
  package init(amendments: [RecordedAmendment]) {
    self.amendments = amendments
  }
}
