package import FoundationEssentials
import Glibc

/// The server's persistent state: records in SQLite, content in files, all in one data folder.
///
/// Reads are synchronous, take microseconds and never wait for a write. A write returns when it would
/// survive `kill -9` and a power cut; writes that wait at the same time share one fsync.
///
/// In order, when a notification with content is created:
/// 1. `Blobs.add` writes the content to `tmp/`, makes it durable (fsync, or syncfs for many files at once),
///    renames it, and makes the name durable (`GroupCommit`).
/// 2. `create` inserts the notification, its recipients, push events and jobs in one transaction. COMMIT
///    syncs SQLite's log (`Writer`, `synchronous = FULL`). Only then does it return.
///
/// A crash before 2 leaves content that nothing refers to, which `collect` removes.
package final class Store: Sendable {
  /// How a process uses a data folder.
  package enum Access: Sendable {
    /// As the server: locks the folder against other owners and removes unfinished files of an earlier one.
    case owner
    /// As a command line, with or without a server running.
    case shared
  }

  /// Immutable content by its SHA-256.
  package let blobs: Blobs
  /// The outputs of plugins by their keys.
  package let renditions: Renditions
  /// The pushes that wait to be sent to devices.
  package let outbox: Outbox

  // Hints: what they announce is read from the database.

  /// Called with the users for whom push events were committed.
  package let onPushEvents = Callback<[UserID]>()
  /// Called with the id of a notification whose content or expiry was changed, after the commit and before
  /// the change returns to its caller.
  package let onChange = Callback<Int>()
  /// Called after this process committed an event about an asset.
  package let onAssetEvent = Callback<Void>()
  /// Called after every commit of this process.
  package var onCommit: Callback<Void> { database.onCommit }

  let folder: DataFolder
  let database: Database
  let now: @Sendable () -> Date
  let upkeep = BlockingQueue("store.upkeep")
  let pendingFetches = PendingFetches()
  private let lock: StoreFile?

  /// Opens the store in a folder, which is created if needed.
  ///
  /// Throws a `StoreError`: `inUse` if another process owns the folder; `readOnly`, `full`, `damaged` or
  /// `newer` if the database can't be used.
  package init(
    folder path: String, access: Access = .owner, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    folder = try DataFolder(path)
    lock = access == .owner ? try folder.lock() : nil
    if access == .owner { folder.removeTemporaryFiles() }
    database = try Database(path: folder.database) { try $0.addFirstLinkKey() }
    blobs = try Blobs(in: folder, now: now)
    let start = access == .owner ? NodeStart(in: folder) : nil
    outbox = Outbox(database, owner: start?.owner, now: now)
    if let start { outbox.releaseLeases(ofNode: start.node) }
    renditions = Renditions(in: folder, now: now)
    self.now = now
  }

  /// Whether there is a store in a folder.
  package static func exists(in folder: String) -> Bool {
    stat(ofFile: DataFolder(existing: folder).database) != nil
  }

  /// Returns if the store can be read and written; otherwise throws a `StoreError`.
  package func probe() async throws {
    try await database.write { connection in
      _ = try connection.value("SELECT max(sequence) FROM push_event", as: Int.self)
    }
  }

  /// The folder for files to be moved into `blobs` or `renditions`; emptied at every start.
  package var temporaryFolder: String { folder.temporary }

  func notifyPushObserver(_ users: [UserID]) {
    if !users.isEmpty { onPushEvents(users) }
  }
}
