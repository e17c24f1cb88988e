package import FoundationEssentials

/// A row of the asset table: a file of the drop folder.
package struct AssetRecord: Sendable, Equatable {
  /// Whether an asset can be used.
  package enum State: String, Sendable, CaseIterable {
    /// Usable by name.
    case ready
    /// Usable by name once its content is known; its renditions are being made.
    case preparing
    /// Not usable; the reason says why.
    case refused
  }

  /// The rich type: the name of its folder.
  package var richType: String
  /// The name of the file.
  package var name: String
  /// Whether it can be used.
  package var state: State
  /// Why it is refused, or what its author should know.
  package var reason: String?
  /// The content; it must have been added to `Store.blobs`.
  package var blob: Digest?
  /// The detected media type.
  package var type: String?
  /// The size of the file in bytes.
  package var bytes: Int
  /// When the file was last changed.
  package var modified: Date
  /// Identifies this version of the file without reading it (inode, size, times …).
  package var stamp: String
  /// What the plugin's `validate` returned, as JSON text.
  package var details: String?
  /// When the record last changed; set by the store.
  package internal(set) var updated = Date(timeIntervalSince1970: 0)
  /// What it shows, for those who do not see it.
  package var alt: String?
  /// The point that crops keep, such as `0.5,0.3`, if one was set for the content that it has.
  package var focus: String? {
    get { focusContent == blob ? focusPoint : nil }
    set {
      focusPoint = blob.flatMap { _ in newValue }
      focusContent = focusPoint.flatMap { _ in blob }
    }
  }
  /// A focus counts again when the content for which it was set comes back.
  var (focusPoint, focusContent): (String?, Digest?)
  /// Words by which it is found, sorted; none has a comma.
  ///
  /// They are the asset's, whatever content it has: only those of a new asset are stored by
  /// ``AssetCatalogue/putAsset(_:event:audit:by:expectedBatch:)``.
  package var labels: [String] = []
  /// Whether ``AssetCatalogue/putAsset(_:event:audit:by:expectedBatch:)`` also sets ``alt`` and ``focus``, which stay otherwise.
  package var isDescribed = false
  /// Another name of the same rich type that looks alike (``folded(_:)``); read, never written.
  package var lookAlike: String?

  /// Describes a file; the optional members can be set afterwards.
  package init(
    richType: String, name: String, state: State, bytes: Int, modified: Date, stamp: String
  ) {
    (self.richType, self.name, self.state) = (richType, name, state)
    (self.bytes, self.modified, self.stamp) = (bytes, modified, stamp)
  }

  /// Takes the alternative text, the focus and the labels that an earlier record of the asset has.
  package mutating func keepDescription(of known: AssetRecord) {
    (alt, focusPoint, focusContent) = (known.alt, known.focusPoint, known.focusContent)
    labels = known.labels
  }
}

/// Content that an asset had before it was replaced or removed.
package struct StoredAssetVersion: Sendable, Equatable {
  /// The rich type of the asset.
  package let richType: String
  /// The name of the asset.
  package let name: String
  /// The content.
  package let blob: Digest
  /// Its detected media type.
  package let type: String?
  /// Its size in bytes.
  package let bytes: Int
  /// When its file was last changed.
  package let modified: Date
  /// What it showed, for those who did not see it.
  package let alt: String?
  /// The point that crops of it kept, if one was set.
  package let focus: String?
  /// The labels that the asset had.
  package let labels: [String]
  /// When it was replaced or removed.
  package let ended: Date

  /// The most that an asset has; the first to end goes for another.
  package static let limit = 10
}

/// Which assets are listed: all unless it says more.
package struct AssetFilter: Sendable, Equatable {
  /// Their rich type.
  package var richType: String?
  /// Their state.
  package var state: AssetRecord.State?
  /// A label that they have.
  package var label: String?
  /// Whether only those are listed that no notification has that is still there, and no draft or template names.
  package var isUnused = false

  /// A filter; the other members can be set afterwards.
  package init(richType: String? = nil, state: AssetRecord.State? = nil) {
    (self.richType, self.state) = (richType, state)
  }
}

/// Where an asset was used, by its name.
package struct StoredAssetUses: Sendable {
  /// Notifications with it, the newest first.
  package let notifications: [SentNotification]
  /// How many have it, of all senders.
  package let count: Int
  /// Drafts and templates that name it, the last changed first.
  package let drafts: [StoredDraft]
}

/// How assets are listed; those that are equal in this are by name, as people sort names.
package enum AssetOrder: String, Sendable, CaseIterable {
  /// Names as people sort them: without case and accents, and numbers by their values.
  case name
  /// The file that was changed last comes first.
  case newest
  /// The file that was changed last comes last.
  case oldest
  /// By size.
  case largest, smallest
}

/// The place of an asset in an order.
package struct AssetPosition: Sendable, Equatable {
  /// The asset's rich type.
  package var richType: String
  /// The asset's name.
  package var name: String
  /// What it was sorted by, unless that is its name: its time in milliseconds since 1970, or its size in bytes.
  package var value: Int

  /// A place; an asset that is not there any more has one, too.
  package init(richType: String, name: String, value: Int = 0) {
    (self.richType, self.name, self.value) = (richType, name, value)
  }
}

/// A file in another node's drop folder that is to be removed there, because its asset was removed or replaced.
package struct FileRemoval: Sendable, Equatable {
  /// The drop folder's name.
  package let folder: String
  /// The rich type of its asset.
  package let richType: String
  /// The name of its asset.
  package let name: String
  /// The stamp of the file, without its plugin's; a file with another is a new one.
  package let stamp: String

  /// Describes the file.
  package init(folder: String, richType: String, name: String, stamp: String) {
    (self.folder, self.richType, self.name, self.stamp) = (folder, richType, name, stamp)
  }
}

/// The catalogue of the drop folder's files.
package protocol AssetCatalogue: Sendable {
  // MARK: Changes

  /// Inserts or replaces an asset, and with it the event about it, as the text of a JSON object.
  ///
  /// `audit` is the entry of the audit log if its content is another, `actor` who has put it there. `expectedBatch` is
  /// the number of such changes that are about to be made together. Throws `missing` if the blob is not stored.
  func putAsset(
    _ asset: AssetRecord, event: String?, audit: AuditAction?, by actor: AuditActor?,
    expectedBatch: Int
  ) async throws
  /// Sets the state, the alternative text, the focus and the labels of an asset; false if it is not as `known` any more.
  func describe(_ asset: AssetRecord, insteadOf known: AssetRecord, event: String) async throws
    -> Bool
  /// Gives an asset with this name the place of one that had another name, with what is said of it and what that one had
  /// before, and adds the events about both.
  func renameAsset(
    _ asset: AssetRecord, from name: String, event: String, removal: String
  ) async throws
  /// Ends the preparation of an asset; false if it was changed or removed meanwhile.
  func finishPreparing(_ asset: AssetRecord, event: String) async throws -> Bool
  /// Removes an asset; false if there is none of that name, or, unless that is nil, none with that stamp.
  ///
  /// Notifications keep its content. For `expectedBatch` see ``putAsset(_:event:audit:by:expectedBatch:)``.
  func removeAsset(
    _ richType: String, _ name: String, stamp: String?, event: String?, expectedBatch: Int
  ) async throws -> Bool

  /// Records that a file is to be removed by the node that has it.
  func addFileRemoval(_ removal: FileRemoval) async throws
  /// Takes what is recorded of a file in a drop folder, which is not recorded any more then.
  func takeFileRemoval(
    _ richType: String, _ name: String, folder: String
  ) async throws -> FileRemoval?

  // MARK: Queries

  /// The content that an asset of this name had and that was replaced or removed after `time`, the last first; it need
  /// not be there any more.
  func assetVersions(
    _ richType: String, _ name: String, endedAfter time: Date
  ) async throws -> [StoredAssetVersion]
  /// The content that assets had when they were removed after `time`, unless there are others of their names now; the
  /// last removed first, after a place, at most `limit`.
  func removedAssets(
    endedAfter time: Date, limit: Int, after: AssetPosition?
  ) async throws -> [StoredAssetVersion]

  /// The asset of that name, or nil.
  func asset(_ richType: String, _ name: String) async throws -> AssetRecord?
  /// An asset with this content that was checked under a stamp with this ending, or nil.
  func asset(
    _ richType: String, with blob: Digest, stampEnding ending: String
  ) async throws -> AssetRecord?
  /// At most ten assets with this content.
  func assets(_ richType: String, with blob: Digest) async throws -> [AssetRecord]
  /// At most ten removed assets that had this content last until after `time`, or before they had other content that can
  /// be brought back.
  func assetVersions(
    _ richType: String, with blob: Digest, endedAfter time: Date
  ) async throws -> [StoredAssetVersion]
  /// The names of at most ten other assets that look like `name` (``AssetRecord/folded(_:)``).
  func assetNames(like name: String, richType: String) async throws -> [String]
  /// Assets after a given place in the order, at most `limit`; without an order by rich type and name, byte by byte.
  func assets(
    _ filter: AssetFilter, order: AssetOrder?, limit: Int, after: AssetPosition?
  ) async throws -> [AssetRecord]
  /// Where an asset of this name was used, whether or not there is one now: notifications of a sender, or of all, with
  /// IDs below `before`, at most `limit`; how many there are, and at most `limit` drafts, only without `before`.
  func assetUses(
    _ richType: String, _ name: String, by sender: UserID?, before: Int?, limit: Int
  ) async throws -> StoredAssetUses
  /// The number of assets by state, of one rich type or all; a state without any is left out.
  func assetCounts(richType: String?) async throws -> [AssetRecord.State: Int]
  /// The labels that assets have, each with their number.
  func assetLabels() async throws -> [String: Int]
  /// The stamps of a rich type's assets by name, which a scan of the folder compares with.
  func assetStamps(_ richType: String) async throws -> [String: String]
  /// The rich types that have assets.
  func assetTypes() async throws -> [String]
  /// Assets with known content whose renditions are to be made, oldest first.
  func preparingAssets(limit: Int) async throws -> [AssetRecord]
}
