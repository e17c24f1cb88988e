package import FoundationEssentials

/// A notification that somebody has begun to write, which every publisher may finish.
package struct StoredDraft: Sendable, Equatable {
  /// The number.
  package let id: Int
  /// What people call it; empty if they do not.
  package let name: String
  /// The members of the notification that there are so far, as a JSON object.
  package let content: String
  /// Whether it is kept for more than one notification.
  package let isTemplate: Bool
  /// How often it was stored: another number with each change.
  package let version: Int
  /// Who has begun it; nil if that user was removed.
  package let author: String?
  /// Who has changed it last; nil if that user was removed.
  package let editor: String?
  /// When it was begun.
  package let created: Date
  /// When it was changed last.
  package let updated: Date
}

/// What a draft is to be.
package struct DraftChange: Sendable {
  /// What people call it; may be empty.
  package var name: String
  /// The members of the notification, as a JSON object.
  package var content: String
  /// Whether it is kept for more than one notification.
  package var isTemplate: Bool
  /// The rich type and the name that it would take for an asset's, if it has a payload that can be one.
  package var asset: (richType: String, name: String)?

  /// A draft with these parts; ``asset`` can be set afterwards.
  package init(name: String, content: String, isTemplate: Bool) {
    (self.name, self.content, self.isTemplate) = (name, content, isTemplate)
  }
}

/// What became of a change to a draft.
package enum DraftResult: Sendable, Equatable {
  /// It is stored.
  case changed(StoredDraft)
  /// Somebody else has changed it meanwhile: this is what it is now.
  case changedMeanwhile(StoredDraft)
  /// There is none.
  case missing
}

/// What publishers have begun to write, for all of them.
package protocol Drafts: Sendable {
  /// Adds a draft; nil if there is no such user.
  ///
  /// Throws `conflict` if the user has begun too many that are still there.
  func addDraft(_ new: DraftChange, by user: UserID) async throws -> StoredDraft?
  /// The draft with this number, or nil.
  func draft(_ id: Int) async throws -> StoredDraft?
  /// The drafts, the last changed first, or the templates by their names; at most `limit` after the first
  /// `skipped`.
  func drafts(areTemplates: Bool, skipping skipped: Int, limit: Int) async throws -> [StoredDraft]
  /// Changes a draft, with a version only if that is still the present one.
  func changeDraft(
    _ id: Int, _ change: DraftChange, version: Int?, by user: UserID
  ) async throws -> DraftResult
  /// Removes a draft, with a version only if that is still the present one; false if there is none.
  func removeDraft(_ id: Int, version: Int?) async throws -> Bool
}
