package import FoundationEssentials

/// The erasure of a user that is under way.
package struct Erasure: Sendable, Equatable {
  /// The number, which no other user gets.
  package let user: UserID
  /// The name, until no record has it any more; nil also if the user had been removed before.
  package let name: String?
  /// When it began: what is newer and has the name is another user's.
  let begun: Date
}

/// How much the erasure of a user removes.
package struct ErasureExtent: Sendable, Equatable {
  /// The registered devices.
  package let devices: Int
  /// The notifications that nobody else was sent.
  package let ownNotifications: Int
  /// Notifications that others were sent as well, which stay for them.
  package let sharedNotifications: Int
  /// Notifications that the user has sent, which stay without the name.
  package let sent: Int
}

/// Erased content of which the object store may still have something.
package struct ErasedObject: Sendable, Equatable {
  /// Identifies the content, and with it the renditions that were made of it (``Rendition/sourceField``).
  let source: Digest
  /// The content, if it was a blob.
  let blob: Digest?
  /// When it was erased.
  let erased: Date
}

/// The erasure of users: it begins in one transaction, and goes on until nothing is left, whatever ends meanwhile.
///
/// What remains of an erased user is the number, where another user's record would be incomplete without it: as the
/// sender of what others were sent.
package protocol Erasures: Sendable {
  /// How much the erasure of a user would remove.
  func erasureExtent(of user: UserID) async throws -> ErasureExtent
  /// Removes a user, like ``Accounts/removeUser(_:)``, with the drafts that nobody else has changed, and has the rest
  /// follow; false if no user has had this number.
  ///
  /// Works as well for a user who was removed before. Throws `conflict` if no admin would be left and `keepingAdmin`
  /// forbids that.
  func beginErasure(of user: UserID, keepingAdmin: Bool) async throws -> Bool
  /// The erasures that are under way.
  func erasures() async throws -> [Erasure]
  /// Removes what the records have of a user: the notifications of nobody else, and everything of the user in those of
  /// others, some in each commit.
  func eraseRecords(of erasure: Erasure) async throws
  /// Removes what the database has of removed rows, where that may be read in its files: of SQLite everything, unless
  /// the database is large; of PostgreSQL what a VACUUM removes. Returns a sentence about what may be left, or nil.
  func eraseRemovedRows(isAlone: Bool) async throws -> String?
  /// Forgets that a user was erased.
  func endErasure(of user: UserID) async throws
  /// The digests of content that belonged to erased users alone (``Rendition/sourceField``), erased after a time, and
  /// when that was.
  func erasedContent(after time: Date) async throws -> [Digest: Date]
  /// Whether content was erased, or a user, and a notification that had it does not exist any more, if one is given.
  func isErased(_ source: Digest, unless notification: Int?) async throws -> Bool
  /// Erased content of which the object store may still have something, at most so much.
  func erasedObjects(limit: Int) async throws -> [ErasedObject]
  /// Returns when all changes have ended that were under way, and may refer to content whose erasure they have not seen:
  /// later ones refuse to.
  func awaitReferences() async throws
  /// Notes that the object store has nothing any more of some erased content, unless it was erased once more meanwhile.
  func endErasedObjects(_ objects: [ErasedObject]) async throws
  /// Notes that the object store has blobs whose content was erased.
  func addErasedObjects(_ blobs: [Digest]) async throws
  /// Forgets content that was erased before a time, and of which the object store has nothing.
  func removeErasedContent(before time: Date) async throws
}
