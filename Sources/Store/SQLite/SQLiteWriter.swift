import Dispatch
import Synchronization

/// The thread that changes the database; changes that wait at the same time share one commit.
///
/// A commit costs one fsync however many changes it holds. Each change is a savepoint, so that one that
/// fails does not undo the others.
final class SQLiteWriter: Sendable {
  private let connection: Mutex<SQLiteConnection>
  private let queue: CommitQueue<Change>
  private let checkpointer: Checkpointer
  private let observers: CommitObservers
  private let damage: DatabaseDamage

  private typealias Change = QueuedChange<SQLiteConnection>

  init(
    _ connection: consuming sending SQLiteConnection, checkpointer: Checkpointer,
    observers: CommitObservers, damage: DatabaseDamage = DatabaseDamage(),
    batchTimeout: DispatchTimeInterval = .milliseconds(40)
  ) {
    self.connection = Mutex(connection)
    (self.checkpointer, self.observers, self.damage) = (checkpointer, observers, damage)
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
      try damage.requireNone()
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
      damage.record(error)
      let lost = performed.map(\.change) + changes[next...]
      // With the space that was kept for them, all changes are made once more, except the ones that take space.
      if error.isFull, connection.reserve?.release() == true {
        return commit(lost, on: connection)
      }
      for change in lost { change.fail(error) }
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
      // The whole transaction is made again, with more space.
      if error.isFull, connection.reserve?.isWhole == true { throw error }
      damage.record(error)
      try connection.run("ROLLBACK TO change")
      try connection.run("RELEASE change")
      connection.effects.truncate(to: effectsBefore)
      change.fail(error)
      return nil
    }
  }
}

extension Error {
  /// Whether the disk did not take what was written to it.
  fileprivate var isFull: Bool {
    let error = self as? StoreError
    return error?.code == .full && error != DiskReserve.noSpace
  }
}
