import Dispatch
import FoundationEssentials

/// The tables in a SQLite database.
///
/// Reads take microseconds and never wait for a write, so they are synchronous and run on the caller's thread.
/// Writes that wait at the same time share one transaction and its fsync (``SQLiteWriter``).
final class SQLiteTables: EngineTables {
  let database: SQLiteDatabase
  let blobs: Blobs
  let now: @Sendable () -> Date
  /// Identifies this process's leases: an outcome counts only if the lease has not passed to another.
  let owner: String
  let pendingReceipts = PendingReceipts()

  /// Opens the database of a data folder, creating or migrating it as needed.
  ///
  /// `start` is nil for a process that is no node.
  init(
    in folder: DataFolder, reserve: DiskReserve, start: NodeStart?, rules: SendingRules,
    blobs: Blobs, observers: CommitObservers,
    now: @escaping @Sendable () -> Date
  ) throws {
    database = try SQLiteDatabase(
      path: folder.database, reserve: reserve, rules: rules, observers: observers
    ) { try $0.addFirstKeys() }
    (self.blobs, self.now) = (blobs, now)
    owner = start?.owner ?? UUID().uuidString
    observers.lead.set(true)
    observers.folderLead.set(true)
    if let start { releaseLeases(ofNode: start.node) }
  }

  var schema: DatabaseSchema {
    DatabaseSchema(database: "SQLite", version: SQLiteSchema.version)
  }

  func turn(_ group: DispatchGroup) { database.turn(group) }

  func probe() async throws {
    try probeReading()
    try await database.write { connection in
      // What is only begun and committed needs neither a lock nor space.
      try connection.run("INSERT INTO counter(name, next) VALUES ('probe', 0)")
      try connection.run("DELETE FROM counter WHERE name = 'probe'")
    }
  }

  func probeReading() throws {
    _ = try database.read { try $0.value("SELECT max(sequence) FROM push_event", as: Int?.self) }
  }

  func access() -> DatabaseAccess? { nil }

  var damage: DatabaseDamage { database.damage }

  func lockHolder() -> String? { database.lockHolder() }

  func clock() -> (ahead: TimeInterval, error: TimeInterval)? { nil }
}
