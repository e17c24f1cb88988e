package import Dispatch
package import FoundationEssentials
import Glibc
import Primitives
import Synchronization

/// The server's persistent state: records in a database, content in files, all in one data folder.
///
/// A change returns when it would survive `kill -9` and a power cut; changes that wait at the same time share
/// one fsync.
///
/// In order, when a notification with content is created:
/// 1. `Blobs.add` writes the content to `tmp/`, makes it durable (fsync, or syncfs for many files at once),
///    renames it, and makes the name durable (`GroupCommit`).
/// 2. `create` inserts the notification, its recipients, push events and jobs in one transaction. COMMIT
///    syncs SQLite's log (`SQLiteWriter`, `synchronous = FULL`). Only then does it return.
///
/// A crash before 2 leaves content that nothing refers to, which `collect` removes.
package final class Store: Sendable {
  /// How a process uses a data folder.
  package enum Access: Sendable {
    /// As the server: locks the folder against other owners and removes unfinished files of an earlier one. Makes
    /// a new store of an absent or empty folder.
    case owner
    /// As a command line, with or without a server running.
    case shared
    /// As a command line that makes a new store of an absent or empty folder.
    case sharedOrNew
  }

  /// Immutable content by its SHA-256.
  package let blobs: Blobs
  /// The outputs of plugins by their keys.
  package let renditions: Renditions
  /// Users, their devices, and the keys that sign links.
  package var accounts: any Accounts { tables }
  /// Keys of session tickets, with which clients resume TLS sessions.
  package var tickets: any TicketKeys { tables }
  /// Sign-ins on web pages.
  package var sessions: any Sessions { tables }
  /// Users as providers of OpenID Connect know them, and the sessions that began there.
  package var identities: any Identities { tables }
  /// Tokens of publishers.
  package var accessTokens: any AccessTokens { tables }
  /// Access tokens that are the addresses of webhooks.
  package var webhooks: any Webhooks { tables }
  /// What publishers have begun to write.
  package var drafts: any Drafts { tables }
  /// Audiences that publishers have saved.
  package var segments: any Segments { tables }
  /// Codes by which devices get their tokens.
  package var pairings: any Pairings { tables }
  /// Users who have added themselves.
  package var signUps: any SignUps { tables }
  /// Who did what.
  package var audit: any AuditLog { tables }
  /// Notifications, their recipients and receipts.
  package var notifications: any Notifications { tables }
  /// Buttons that recipients pressed, and their replies.
  package var interactions: any Interactions { tables }
  /// Notifications as their senders see them.
  package var sent: any SentNotifications { tables }
  /// What became of notifications, in numbers that are counted when they are asked for.
  package var statistics: any Statistics { tables }
  /// What awaits the approval of another publisher.
  package var approvals: any Approvals { tables }
  /// The files of the drop folder.
  package var assets: any AssetCatalogue { tables }
  /// The pushes that wait to be sent to devices.
  package var outbox: any Outbox { tables }
  /// Pushes for devices, receipts and asset events for publishers.
  package var events: any Events { tables }
  /// What administrators see and change.
  package var administration: any Administration { tables }
  /// The space that is kept for changes that cannot wait until there is space.
  package let reserve: DiskReserve
  /// Whether the database is a file in the data folder.
  package let isDatabaseLocal: Bool
  /// What the store has of a user.
  package var personalData: any PersonalData { tables }
  /// The erasure of users.
  package var erasures: any Erasures { tables }
  /// Functions that are called after commits.
  package let observers = CommitObservers()

  /// How many receipts were lost because the database did not take them.
  package var droppedReceipts: Int { tables.pendingReceipts.dropped }

  /// Where content is kept besides the data folder, if anywhere.
  package let objects: ObjectStore?

  /// Who renders, if several nodes share what they have rendered.
  package let renderTurns: RenderTurns?

  /// The node's id; nil for a process that is no node.
  let node: String?
  let folder: DataFolder
  let tables: any Tables
  /// What the team has decided about pushes.
  package let rules: SendingRules
  /// The time, as the store has it.
  package let now: @Sendable () -> Date
  let upkeep = BlockingQueue("store.upkeep")
  /// Held by the owner of the folder.
  let lock: StoreFile?

  /// Opens the store in a folder, or makes a new one if `access` allows it.
  ///
  /// The records are in a SQLite database in the folder or, with a URL such as `postgres://host/name`, in a
  /// PostgreSQL database. With `objects`, content is in that object store, and the folder has a part of it, as
  /// a cache. What leases pushes follows the `rules`. For a database in the folder, an owner keeps `reserve` bytes of
  /// its disk (``DiskReserve``).
  ///
  /// Throws a `StoreError`: `missing` if there is no store, and `conflict` for a folder with something else, in
  /// which nothing is changed; `inUse` if another process owns the folder; `readOnly`, `full`, `damaged`,
  /// `newer` or `unavailable` if the database can't be used.
  package init(
    folder path: String, database url: String? = nil, access: Access = .owner,
    objects: ObjectStoreConfiguration? = nil, rules: SendingRules = SendingRules(),
    reserve reservedBytes: Int = 0, now: @escaping @Sendable () -> Date = { Date() }
  ) throws {
    folder = try DataFolder(path, creates: access != .shared)
    if url == nil { try folder.requireOwnRecords() }
    lock = access == .owner ? try folder.lock() : nil
    // Left by a database that has become PostgreSQL's.
    if access == .owner, url != nil { unlink(folder.reserve) }
    reserve = DiskReserve(in: folder, size: access == .owner && url == nil ? reservedBytes : 0)
    let start = access == .owner ? NodeStart(in: folder) : nil
    node = start?.node
    if access == .owner {
      StorePart.removeTemporaryFiles(in: folder.temporary)
      try folder.setObjectStore(objects?.url)
    }
    let upgrade = access == .owner || url != nil ? nil : try Self.lockForUpgrade(folder)
    defer { withExtendedLifetime(upgrade) {} }
    isDatabaseLocal = url == nil
    self.objects = objects.map(ObjectStore.init)
    blobs = try Blobs(in: folder, reserve: reserve, objects: self.objects, now: now)
    tables =
      if let url {
        try PostgresTables(
          at: url, start: start, rules: rules, blobs: blobs, observers: observers, now: now)
      } else {
        try SQLiteTables(
          in: folder, reserve: reserve, start: start, rules: rules, blobs: blobs,
          observers: observers, now: now)
      }
    renditions = Renditions(in: folder, reserve: reserve, objects: self.objects, now: now) {
      [tables] in
      try await tables.vapidSecret()
    }
    renderTurns =
      if let url, objects != nil, access == .owner {
        RenderTurns(locks: PostgresLocks(url: url))
      } else {
        nil
      }
    (self.rules, self.now) = (rules, now)
    // A command without the URL would use other records, also for a backup. The server also starts if the disk is full.
    if access == .owner, let url { try? folder.setDatabase(ConnectionURL.removingPassword(url)) }
  }

  /// The lock of a folder whose database this version will change, so that no server goes on with other tables; nil if
  /// it changes nothing.
  ///
  /// Throws `inUse` if a server runs, which is of an earlier version.
  private static func lockForUpgrade(_ folder: DataFolder) throws -> StoreFile? {
    let connection = try SQLiteConnection.open(folder.database, for: .reading)
    let version = try SQLiteSchema.presentVersion(connection)
    guard (1..<SQLiteSchema.version).contains(version) else { return nil }
    do throws(StoreError) { return try folder.lock() } catch {
      guard error.code == .inUse else { throw error }
      throw StoreError(
        .inUse,
        "the server that runs on \(folder.path) is of an earlier version: restart it, and repeat the command"
      )
    }
  }

  /// Whether there is a store in a folder; false also if this user cannot read the folder.
  package static func exists(in folder: String) -> Bool {
    if case .store = try? FolderContent(of: folder) { true } else { false }
  }

  /// Throws `conflict` unless a store is in a folder or could be made there; changes nothing.
  package static func requireSpace(in folder: String) throws(StoreError) {
    guard stat(ofLink: folder) != nil else { return }
    try FolderContent(of: folder).requireStoreOrNothing(in: folder)
  }

  /// Connects to the PostgreSQL database at a URL and changes nothing; throws a `StoreError` if a server could not use
  /// it now.
  package static func checkDatabase(at url: String) throws {
    let connection = try PostgresConnection(url, for: .reading)
    try PostgresSchema.requireKnownVersion(connection)
    try PostgresSchema.requireFinishedMigration(connection)
    try PostgresSchema.requirePermission(connection)
  }

  /// All users by name, of a store that is not opened, and in which nothing is changed; nil if there is none, or one of
  /// another version.
  ///
  /// Throws a `StoreError` if its database cannot be read.
  package static func users(in folder: String, database url: String?) throws -> [User]? {
    if let url {
      let connection = try PostgresConnection(url, for: .reading)
      let version = try PostgresSchema.presentVersion(connection)
      return version == PostgresSchema.version ? try connection.users() : nil
    }
    let path = "\(folder)/\(StorePart.mark)"
    guard stat(ofLink: path) != nil else { return nil }
    let connection = try SQLiteConnection.open(path, for: .reading)
    let version = try SQLiteSchema.presentVersion(connection)
    return version == SQLiteSchema.version ? try connection.users() : nil
  }

  /// Returns if the records can be changed, after all changes before it; otherwise throws a `StoreError`.
  package func probe() async throws { try await tables.probe() }

  /// Returns if the records can be read; otherwise throws a `StoreError`.
  package func probeReading() async throws { try await tables.probeReading() }

  /// Returns if there is space for what is new, with a file of a megabyte; otherwise throws a `StoreError`.
  package func probeSpace() async throws {
    try reserve.requireSpace()
    try await upkeep.run { [folder] () throws(StoreError) in try folder.requireSpace() }
  }

  /// Returns if the object store, if there is one, does what it is asked; otherwise throws a `StoreError`.
  package func probeObjects() async throws { try await objects?.probe() }

  /// What the database said when it was found to be damaged, since this process has begun to use it.
  package var damage: String? { tables.damage.reason }

  /// Which other process keeps the database from being changed, such as `sqlite3 (process 4711)`; nil if that is not
  /// known.
  package func lockHolder() -> String? { tables.lockHolder() }

  /// How many seconds the clock of the database's server is ahead of this machine's, to within `error`; nil for a
  /// database in the data folder.
  package func databaseClock() async throws -> (ahead: TimeInterval, error: TimeInterval)? {
    try await tables.clock()
  }

  /// The kind of the database, and the version of its tables.
  package var schema: DatabaseSchema { tables.schema }

  /// The bytes that the database takes, perhaps on another machine.
  package func databaseSize() async throws -> Int { try await tables.size() }

  /// Who may connect to the database besides this service; nil if it is a file in the data folder.
  package func databaseAccess() async throws -> DatabaseAccess? { try await tables.access() }

  /// Returns when what was to be written soon is written, such as receipts, or cannot be written now.
  package func settle() async { try? await tables.probe() }

  /// Enters the group until the thread that writes to the database has done what it does now.
  package func turn(_ group: DispatchGroup) { tables.turn(group) }

  /// The folder for files to be moved into `blobs` or `renditions`; emptied at every start.
  package var temporaryFolder: String { folder.temporary }

  /// A new path in it for a file of a request.
  package func uploadPath() -> String { "\(folder.temporary)/upload-\(String.randomName())" }
}

extension Store {
  /// The folders that may be on disks of their own, with the names of ``StorePart``.
  package var contentFolders: [(name: String, path: String)] {
    [("blobs", folder.blobs), ("renditions", folder.renditions)]
  }

  /// How much the store takes on the disk, in bytes.
  package struct Usage: Sendable {
    /// The database, which may be on another machine.
    package let database: Int
    /// Content of notifications and assets.
    package let blobs: Int
    /// Outputs of plugins.
    package let renditions: Int
    /// What is left on the disk.
    package let free: Int
  }

  /// How much the store takes on the disk; the cost grows with the notifications and assets.
  package func usage() async throws -> Usage {
    Usage(
      database: try await tables.size(), blobs: try await tables.contentSize(),
      renditions: renditions.size, free: DiskSpace(of: folder.path)?.free ?? 0)
  }
}
