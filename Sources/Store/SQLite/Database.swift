import Dispatch
import Synchronization

/// The database file, with any number of concurrent readers and one writer (SQLite's WAL mode).
final class Database: Queryable, Sendable {
  let path: String
  private let writer: Writer
  private let idleReaders = Mutex<[Reader]>([])
  private let sharedReads = SharedReads()

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
    initialize: @Sendable (borrowing SQLiteConnection) throws -> Void
  ) throws {
    self.path = path
    let connection = try SQLiteConnection.open(path, for: .writing)
    try Schema.copyBeforeMigration(connection, at: path)
    try Schema.migrate(connection, initialize: initialize)
    writer = Writer(connection, checkpointer: try Checkpointer(path), observers: observers)
  }

  /// Reads at once on the calling thread; each statement sees everything committed before it.
  func read<R: Sendable>(_ body: (borrowing SQLiteConnection) throws -> R) throws -> R {
    let reader = try idleReaders.withLock { $0.popLast() } ?? Reader(path: path)
    defer {
      idleReaders.withLock { if $0.count < Self.idleReaderLimit { $0.append(reader) } }
    }
    return try reader.connection.withLock { try body($0) }
  }

  /// Reads together with others that read at the same time, which costs each of them less.
  func readTogether<R: Sendable>(
    _ body: @escaping @Sendable (borrowing SQLiteConnection) throws -> R
  ) async throws -> R {
    try await sharedReads.read(self, body)
  }

  func rows<T: Sendable>(
    _ sql: String, values: [any Column], limit: Int, read: (inout Row) throws -> T
  ) throws -> [T] {
    try self.read { try $0.rows(sql, values: values, limit: limit, read: read) }
  }

  /// Commits one statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: any Column & Sendable...) async throws -> Int {
    try await write { try $0.run(sql, values: values) }
  }

  /// Changes the database and returns once the change would survive a power cut; throws what `body` throws.
  ///
  /// `expectedBatch` is the number of changes, with this one, that are about to be made together: if more
  /// than 1, waits a moment for them (the writer's `batchTimeout`), to commit all with one fsync.
  ///
  /// Without `usesSavepoint` a change costs less, but if `body` throws after it has changed a row,
  /// everything committed with it fails as well. Only for changes that do not fail after their
  /// first statement, unless the disk does.
  @discardableResult
  func write<R: Sendable>(
    expectedBatch: Int = 1, usesSavepoint: Bool = true,
    _ body: @escaping @Sendable (borrowing SQLiteConnection) throws -> R
  ) async throws -> R {
    try await writer.write(expectedBatch: expectedBatch, usesSavepoint: usesSavepoint, body)
  }

  /// Changes the database soon, for changes whose caller does not wait and that may be lost in a crash.
  ///
  /// It is committed with the next change, or after `timeout`.
  func writeSoon(
    within timeout: DispatchTimeInterval? = nil,
    _ body: @escaping @Sendable (borrowing SQLiteConnection) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void = { _ in }
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

  private struct Change: Sendable {
    /// Makes the change; the result resumes its caller once it is committed.
    let perform: @Sendable (borrowing SQLiteConnection) throws -> (@Sendable () -> Void)
    let fail: @Sendable (any Error) -> Void
    var usesSavepoint = true
  }

  init(
    _ connection: consuming sending SQLiteConnection, checkpointer: Checkpointer,
    observers: CommitObservers, batchTimeout: DispatchTimeInterval = .milliseconds(40)
  ) {
    self.connection = Mutex(connection)
    (self.checkpointer, self.observers) = (checkpointer, observers)
    queue = CommitQueue(batchTimeout: batchTimeout)
  }

  func write<R: Sendable>(
    expectedBatch: Int, usesSavepoint: Bool,
    _ body: @escaping @Sendable (borrowing SQLiteConnection) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      let change = Change(
        perform: { connection in
          let result = try body(connection)
          return { continuation.resume(returning: result) }
        }, fail: { continuation.resume(throwing: $0) }, usesSavepoint: usesSavepoint)
      queue.add(change, expectedBatch: expectedBatch, commit: commit)
    }
  }

  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (borrowing SQLiteConnection) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) {
    let perform = { @Sendable (connection: borrowing SQLiteConnection) in
      try body(connection)
      return { @Sendable in }
    }
    queue.add(
      Change(perform: perform, fail: onFailure), expectedBatch: timeout == nil ? 1 : .max,
      timeout: timeout, commit: commit)
  }

  func turn(_ group: DispatchGroup) { queue.turn(group) }

  private func commit(_ changes: [Change]) { connection.withLock { commit(changes, on: $0) } }

  private func commit(_ changes: [Change], on connection: borrowing SQLiteConnection) {
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
    _ change: Change, on connection: borrowing SQLiteConnection
  ) throws -> (@Sendable () -> Void)? {
    let (changesBefore, effectsBefore) = (connection.changes, connection.effects.all.count)
    if change.usesSavepoint { try connection.run("SAVEPOINT change") }
    do {
      let acknowledge = try change.perform(connection)
      if change.usesSavepoint { try connection.run("RELEASE change") }
      return acknowledge
    } catch {
      guard connection.isInTransaction else { throw error }
      if change.usesSavepoint {
        try connection.run("ROLLBACK TO change")
        try connection.run("RELEASE change")
      } else if connection.changes != changesBefore {
        throw error
      }
      connection.effects.truncate(to: effectsBefore)
      change.fail(error)
      return nil
    }
  }
}
