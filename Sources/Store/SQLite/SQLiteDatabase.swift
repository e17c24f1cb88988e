import Dispatch
import Synchronization

/// The database file, with any number of concurrent readers and one writer (SQLite's WAL mode).
final class SQLiteDatabase: Engine {
  let path: String
  /// What was found to be damaged: then nothing is changed any more, which could make it worse.
  let damage = DatabaseDamage()
  private let writer: SQLiteWriter
  private let idleReaders = Mutex<[Reader]>([])

  /// More threads may read at once; their connections are then closed after use.
  private static let idleReaderLimit = 8

  private final class Reader: Sendable {
    let connection: Mutex<SQLiteConnection>

    init(path: String) throws {
      connection = Mutex(try SQLiteConnection.open(path, for: .reading))
    }
  }

  /// Opens the database, creating or migrating it as needed; `initialize` is a part of the migration.
  ///
  /// `observers` are told of every commit, on the thread that made it; what leases jobs follows the `rules`, and the
  /// `reserve` is given up when the disk is full.
  init(
    path: String, reserve: DiskReserve, rules: SendingRules, observers: CommitObservers,
    initialize: @Sendable (SQLiteConnection) throws -> Void
  ) throws {
    self.path = path
    let connection = try SQLiteConnection.open(path, for: .writing)
    (connection.rules, connection.reserve) = (rules, reserve)
    try SQLiteSchema.copyBeforeMigration(connection, at: path)
    try SQLiteSchema.migrate(connection, initialize: initialize)
    writer = SQLiteWriter(
      connection, checkpointer: try Checkpointer(path), observers: observers, damage: damage)
  }

  // At once, on the calling thread.
  func read<R: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> R
  ) throws -> R {
    let reader = try idleReaders.withLock { $0.popLast() } ?? Reader(path: path)
    defer {
      idleReaders.withLock { if $0.count < Self.idleReaderLimit { $0.append(reader) } }
    }
    return try damage.recording { try reader.connection.withLock { try body($0) } }
  }

  func write<R: Sendable>(
    expectedBatch: Int, _ body: @escaping @Sendable (SQLiteConnection) throws -> R
  ) async throws -> R {
    try await writer.write(expectedBatch: expectedBatch, body)
  }

  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) {
    writer.writeSoon(within: timeout, body, onFailure: onFailure)
  }

  /// Enters the group until the writer's thread has done what it does now.
  func turn(_ group: DispatchGroup) { writer.turn(group) }
}
