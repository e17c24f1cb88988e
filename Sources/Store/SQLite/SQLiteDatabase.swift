import Dispatch
import Synchronization

/// The database file, with any number of concurrent readers and one writer (SQLite's WAL mode).
final class SQLiteDatabase: Engine {
  let path: String
  private let writer: Writer
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
  /// `observers` are told of every commit, on the thread that made it.
  init(
    path: String, observers: CommitObservers,
    initialize: @Sendable (SQLiteConnection) throws -> Void
  ) throws {
    self.path = path
    let connection = try SQLiteConnection.open(path, for: .writing)
    try Schema.copyBeforeMigration(connection, at: path)
    try Schema.migrate(connection, initialize: initialize)
    writer = Writer(connection, checkpointer: try Checkpointer(path), observers: observers)
  }

  // At once, on the calling thread.
  func read<R: Sendable>(
    _ body: @escaping @Sendable (SQLiteConnection) throws -> R
  ) throws -> R {
    let reader = try idleReaders.withLock { $0.popLast() } ?? Reader(path: path)
    defer {
      idleReaders.withLock { if $0.count < Self.idleReaderLimit { $0.append(reader) } }
    }
    return try reader.connection.withLock { try body($0) }
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

/// The thread that changes the database; changes that wait at the same time share one commit.
///
/// A commit costs one fsync however many changes it holds. Each change is a savepoint, so that one that
/// fails does not undo the others.
final class Writer: Sendable {
  private let connection: Mutex<SQLiteConnection>
  private let queue: CommitQueue<Change>
  private let checkpointer: Checkpointer
  private let observers: CommitObservers

  private typealias Change = QueuedChange<SQLiteConnection>

  init(
    _ connection: consuming sending SQLiteConnection, checkpointer: Checkpointer,
    observers: CommitObservers, batchTimeout: DispatchTimeInterval = .milliseconds(40)
  ) {
    self.connection = Mutex(connection)
    (self.checkpointer, self.observers) = (checkpointer, observers)
    queue = CommitQueue(batchTimeout: batchTimeout)
  }

  func write<R: Sendable>(
    expectedBatch: Int,
    _ body: @escaping @Sendable (SQLiteConnection) throws -> R
  ) async throws -> R {
    try await queue.write(expectedBatch: expectedBatch, commit: commit, body)
  }

  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (SQLiteConnection) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) {
    queue.writeSoon(within: timeout, commit: commit, body, onFailure: onFailure)
  }

  func turn(_ group: DispatchGroup) { queue.turn(group) }

  private func commit(_ changes: [Change]) { connection.withLock { commit(changes, on: $0) } }

  private func commit(_ changes: [Change], on connection: SQLiteConnection) {
    var performed: [(change: Change, acknowledge: @Sendable () -> Void)] = []
    var next = changes.startIndex
    do {
      try connection.run("BEGIN IMMEDIATE")
      while next < changes.endIndex {
        if let acknowledge = try perform(changes[next], on: connection) {
          performed.append((changes[next], acknowledge))
        }
        next += 1
      }
      // The fsync: callers are resumed only after it returns.
      try connection.run("COMMIT")
      observers.perform(connection.effects.take())
      for (_, acknowledge) in performed { acknowledge() }
      checkpointer.add(connection.takeWrittenPages())
      observers.onCommit(())
    } catch {
      connection.effects.truncate(to: 0)
      if connection.isInTransaction { try? connection.script("ROLLBACK") }
      for (change, _) in performed { change.fail(error) }
      for change in changes[next...] { change.fail(error) }
    }
  }

  /// Makes one change, or undoes it and fails it alone; throws if the whole transaction is lost.
  private func perform(
    _ change: Change, on connection: SQLiteConnection
  ) throws -> (@Sendable () -> Void)? {
    let effectsBefore = connection.effects.all.count
    try connection.run("SAVEPOINT change")
    do {
      let acknowledge = try change.perform(connection)
      try connection.run("RELEASE change")
      return acknowledge
    } catch {
      guard connection.isInTransaction else { throw error }
      try connection.run("ROLLBACK TO change")
      try connection.run("RELEASE change")
      connection.effects.truncate(to: effectsBefore)
      change.fail(error)
      return nil
    }
  }
}
