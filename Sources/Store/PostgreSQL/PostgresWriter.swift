import Dispatch
import Synchronization

/// The thread that changes the database; changes that wait at the same time share one transaction.
///
/// A transaction is short: other nodes wait for the rows that it has changed. If a change fails after it has
/// changed something, all are rolled back and made once more, each with a savepoint, so that it fails alone.
/// Savepoints are not used at once because each costs two more messages.
final class PostgresWriter: Sendable {
  private typealias Change = QueuedChange<PostgresTransaction>

  /// Why a transaction was not committed.
  private enum Failure: Error, CustomStringConvertible {
    /// What it did was undone, and the same changes may succeed in another.
    case undone(any Error)
    /// The same, as it and others waited for each other.
    case conflicted(any Error)
    /// A change failed, and the others are to be made with savepoints.
    case needsSavepoints(any Error)
    /// It can't be repeated: the database is away, or may have committed it.
    case lost(any Error)

    var description: String {
      switch self {
      case .undone(let error), .conflicted(let error), .needsSavepoints(let error),
        .lost(let error):
        "\(error)"
      }
    }
  }

  /// After this time no change is added to a transaction, and none is begun again but for a conflict, which the server
  /// notices after a second.
  ///
  /// With the time limit of a statement it keeps transactions below 5 s.
  private static let duration = Duration.seconds(1)
  /// Tries of a transaction that others make fail, such as by a deadlock.
  private static let tries = 3

  private let url: String
  private let rules: SendingRules
  private let origin: MessageOrigin
  private let observers: CommitObservers
  private let queue = CommitQueue<Change>(batchTimeout: .milliseconds(40))
  /// The connection while it works; only the writer's thread uses it.
  private let connection: Mutex<PostgresConnection?>

  init(
    _ connection: PostgresConnection, url: String, rules: SendingRules, origin: MessageOrigin,
    observers: CommitObservers
  ) {
    self.connection = Mutex(connection)
    (self.url, self.rules, self.origin, self.observers) = (url, rules, origin, observers)
  }

  func write<R: Sendable>(
    expectedBatch: Int, newNotifications: Int,
    _ body: @escaping @Sendable (PostgresTransaction) throws -> R
  ) async throws -> R {
    try await queue.write(
      expectedBatch: expectedBatch, newNotifications: newNotifications, commit: commit, body)
  }

  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (PostgresTransaction) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) {
    queue.writeSoon(within: timeout, commit: commit, body, onFailure: onFailure)
  }

  func turn(_ group: DispatchGroup) { queue.turn(group) }

  private func commit(_ changes: [Change]) {
    var rest = changes[...]
    while !rest.isEmpty { rest = rest.dropFirst(commitSome(of: rest)) }
  }

  /// Commits changes or tells their callers why not; returns how many, from the first on.
  private func commitSome(of changes: ArraySlice<Change>) -> Int {
    let start = ContinuousClock.now
    var (tries, usesSavepoints) = (1, false)
    while true {
      do {
        return try commitSome(of: changes, usingSavepoints: usesSavepoints)
      } catch {
        switch error {
        case .needsSavepoints where changes.count > 1: usesSavepoints = true
        case .undone where tries < Self.tries && ContinuousClock.now - start < Self.duration:
          tries += 1
        case .conflicted where tries < Self.tries: tries += 1
        case .undone(let error), .conflicted(let error), .needsSavepoints(let error),
          .lost(let error):
          for change in changes { change.fail(error) }
          return changes.count
        }
      }
    }
  }

  private func commitSome(
    of changes: ArraySlice<Change>, usingSavepoints: Bool
  ) throws(Failure) -> Int {
    let transaction = PostgresTransaction(
      try connected(), rules: rules,
      newNotifications: changes.reduce(0) { $0 + $1.newNotifications })
    do throws(Failure) {
      return try commitSome(of: changes, in: transaction, usingSavepoints: usingSavepoints)
    } catch {
      transaction.rollBack()
      throw error
    }
  }

  private func commitSome(
    of changes: ArraySlice<Change>, in transaction: PostgresTransaction, usingSavepoints: Bool
  ) throws(Failure) -> Int {
    let start = ContinuousClock.now
    var resumptions: [@Sendable () -> Void] = []
    for change in changes {
      if !resumptions.isEmpty, ContinuousClock.now - start > Self.duration { break }
      resumptions.append(try perform(change, in: transaction, usingSavepoint: usingSavepoints))
    }
    // The server's fsync: callers are resumed only after it returns.
    do { try transaction.commit(from: origin.name) } catch {
      let connection = transaction.connection
      if connection.isBroken, transaction.hasSentCommit {
        // It may be committed, and may be later: then the server sends the message, under the old name.
        origin.change()
        observers.perform(transaction.effects.take())
        throw .lost(error)
      }
      if connection.isBroken { throw .undone(error) }
      if connection.hasConflict { throw .conflicted(error) }
      throw usingSavepoints ? .lost(error) : .needsSavepoints(error)
    }
    observers.perform(transaction.effects.take())
    for resume in resumptions { resume() }
    observers.onCommit(())
    return resumptions.count
  }

  private func connected() throws(Failure) -> PostgresConnection {
    if let open = connection.withLock({ $0 }), !open.isBroken { return open }
    do throws(StoreError) {
      connection.withLock { $0 = nil }
      let new = try PostgresConnection(url, for: .writing)
      connection.withLock { $0 = new }
      return new
    } catch {
      throw .lost(error)
    }
  }

  /// Makes one change, or undoes it; returns what resumes its caller, and throws if the transaction is lost.
  private func perform(
    _ change: Change, in transaction: PostgresTransaction, usingSavepoint: Bool
  ) throws(Failure) -> @Sendable () -> Void {
    let (connection, collected) = (transaction.connection, transaction.collected.mark)
    let effects = transaction.effects.all.count
    let (writes, failures) = (transaction.writes, connection.failures)
    // What earlier changes have sent may fail, or collect more, while this one waits for the server.
    let isFirstToWait = transaction.awaitsResults
    do {
      if usingSavepoint { try transaction.setSavepoint() }
      let acknowledge = try change.perform(transaction)
      if usingSavepoint { try transaction.releaseSavepoint() }
      return acknowledge
    } catch {
      if connection.isBroken { throw .undone(error) }
      if connection.hasConflict { throw .conflicted(error) }
      if usingSavepoint {
        do { try transaction.undoSavepoint() } catch { throw .undone(error) }
      } else if transaction.writes != writes || connection.failures != failures || isFirstToWait {
        throw .needsSavepoints(error)
      }
      transaction.collected.truncate(to: collected)
      transaction.effects.truncate(to: effects)
      return { change.fail(error) }
    }
  }
}

extension PostgresConnection {
  /// Whether the transaction failed only because of others, so that the same statements may succeed now.
  fileprivate var hasConflict: Bool {
    isInFailedTransaction && SQLState.conflicts.contains(lastState)
  }
}
