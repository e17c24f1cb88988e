package import FoundationEssentials

/// An audience that publishers have saved under a name, for all of them.
package struct StoredSegment: Sendable, Equatable {
  /// The name.
  package let name: String
  /// The conditions, as a JSON object that the store only keeps.
  package let content: String
  /// How often it was stored: another number with each change.
  package let version: Int
  /// Who has made it; nil if that user was removed.
  package let author: String?
  /// Who has changed it last; nil if that user was removed.
  package let editor: String?
  /// When it was made.
  package let created: Date
  /// When it was changed last.
  package let updated: Date
}

/// What became of a change to a segment.
package enum SegmentResult: Sendable, Equatable {
  /// There was none of that name.
  case added(StoredSegment)
  /// It is stored in the place of what it was.
  case changed(StoredSegment)
  /// It does not have the version that was named: somebody else has changed it, or there is none.
  case changedMeanwhile(StoredSegment?)
}

/// What became of the removal of a segment.
package enum SegmentRemoval: Sendable, Equatable {
  /// It is removed.
  case removed
  /// There is none.
  case missing
  /// It does not have the version that was named.
  case changedMeanwhile
  /// A notification that is to be sent to it later.
  case needed(by: Int)
}

/// What people and devices must meet to be in an audience: all of it.
package struct AudienceConditions: Sendable {
  /// The device's tags meet one of these clauses; nil for any.
  package var clauses: [TagClause]?
  /// Users who belong to it by their names, also without a device, if there are ``clauses``.
  package var names: Set<String> = []
  /// The user has these attributes.
  package var attributes: [String: String] = [:]
  /// The device prefers this language, or one of its variants: `de` and `de-CH`.
  package var language: String?
  /// The device's platform.
  package var platform: String?
  /// So many days ago or later the device was heard of.
  package var lastContact: Int?
  /// The user has opened this notification or marked it read.
  package var opened: Int?
  /// The user got this notification, and has neither opened it nor marked it read.
  package var notOpened: Int?

  /// No conditions: everybody.
  package init() {}

  /// Whether it asks for nothing that only a device has, besides its tags.
  var areOfUsers: Bool { language == nil && platform == nil && lastContact == nil }
}

/// Who meets conditions.
package struct AudienceMembers: Sendable {
  /// Users who belong to it even without a device, in ascending order.
  package var users: [UserID] = []
  /// The devices.
  package var devices = AudienceDevices()
}

/// Audiences that publishers have saved, for all of them.
package protocol Segments: Sendable {
  /// Saves a segment; in the place of one of that name, with a version only if that is still the present one.
  ///
  /// Throws `conflict` if the user has made too many that are still there, `missing` if there is no such user.
  func putSegment(
    _ name: String, _ content: String, version: Int?, by user: UserID
  ) async throws -> SegmentResult
  /// The segment of this name, or nil.
  func segment(_ name: String) async throws -> StoredSegment?
  /// The segments by their names, at most `limit` after a name.
  func segments(after name: String, limit: Int) async throws -> [StoredSegment]
  /// Removes a segment, with a version only if that is still the present one, unless a notification is to be sent to
  /// it later.
  func removeSegment(_ name: String, version: Int?) async throws -> SegmentRemoval
  /// Whether it is still known who got a notification, and who has opened it.
  func knowsRecipients(of notification: Int) async throws -> Bool
  /// The users and devices that meet conditions now.
  ///
  /// Of a notification's audience, only what is written counts (``Notifications/completeAudience(of:)``). The cost grows
  /// with those who have the tag, or got the notification; with all devices if there is neither.
  func members(
    meeting conditions: AudienceConditions, allowingPasswordless: Bool
  ) async throws -> AudienceMembers
}
