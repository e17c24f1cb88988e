package import FoundationEssentials

/// What the server remembers: tables in SQLite, content in files, all in one data folder.
///
/// Reads are synchronous, take microseconds and never wait for a write. A write returns when it
/// would survive `kill -9` and a power cut; writes that wait at the same time share one `fsync`.
package final class Store: Sendable {
  /// How a process uses a data folder.
  package enum Access: Sendable {
    /// The server's way: no other owner, and what it left half-written is swept.
    case owner
    /// A command's way, beside a running server or without one.
    case guest
  }

  /// Immutable content by its SHA-256.
  package let blobs: Blobs
  /// The plugins' answers by their keys.
  package let renditions: Renditions

  /// The pushes on their way to devices.
  package let outbox: Outbox

  let folder: DataFolder
  let database: Database
  let now: @Sendable () -> Date
  let upkeep = DiskQueue("store.upkeep")
  private let lock: Lock?
  private let pushObserver = Observer<[UserID]>()
  let changeObserver = Observer<Int>()
  let fetchNotes = FetchNotes()
  let assetObserver = Observer<Void>()

  /// Opens the store in a folder, which is made if need be.
  ///
  /// Throws a `StoreError`: `inUse` when another process owns the folder, `readOnly`, `full`,
  /// `damaged` or `newer` when the database can't be used.
  package init(
    folder path: String, access: Access = .owner, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    folder = try DataFolder(path)
    lock = access == .owner ? Lock(descriptor: try folder.lock()) : nil
    if access == .owner { folder.sweepTemporaryFiles() }
    database = try Database(path: folder.database)
    blobs = try Blobs(in: folder, now: now)
    outbox = Outbox(database, now: now)
    if access == .owner { outbox.releaseAbandonedLeases() }
    renditions = Renditions(in: folder, now: now)
    self.now = now
  }

  /// Returns when the store has read and could write; throws a `StoreError` when it cannot.
  package func probe() async throws {
    try await database.write { connection in
      _ = try connection.value("SELECT max(sequence) FROM push_event", as: Int.self)
    }
  }

  /// Where to put files that `blobs` or `renditions` shall take over; swept at every start.
  package var temporaryFolder: String { folder.temporary }

  /// Calls `body` with the users after push events for them were committed.
  ///
  /// It only hurries: whoever delivers events reads them from the store. A later observer replaces
  /// an earlier one.
  package func observePushEvents(_ body: @escaping @Sendable ([UserID]) -> Void) {
    pushObserver.observe(body)
  }

  /// Calls `body` with the id of a notification after another content of it, or its end, was
  /// committed, and before the change is acknowledged to whoever asked for it.
  package func observeChanges(_ body: @escaping @Sendable (_ id: Int) -> Void) {
    changeObserver.observe(body)
  }

  func tellPushObserver(_ users: [UserID]) {
    if !users.isEmpty { pushObserver.tell(users) }
  }

  private final class Lock: Sendable {
    let descriptor: Descriptor

    init(descriptor: consuming Descriptor) {
      self.descriptor = descriptor
    }
  }
}
