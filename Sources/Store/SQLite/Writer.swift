import Dispatch
import Synchronization

/// The one thread that changes the database: changes that wait together are committed together.
///
/// A commit costs one `fsync` however many changes it holds. Each change is a savepoint of its own,
/// so that one that fails takes nothing else with it.
final class Writer: Sendable {
  private let connection: Mutex<Connection>
  /// Hears how many changes each commit held.
  let commits = Observer<Int>()
  private let line = Mutex(Line())
  private let thread = DispatchQueue(label: "store.writer")

  /// The most changes in one commit, so that the first of them does not wait for ever.
  private static let commitLimit = 512
  /// A change waits for no more company than this.
  private static let mostCompany = 128
  /// And no longer than this.
  private let patience: DispatchTimeInterval

  /// Who waits for the next commit.
  private struct Line {
    var changes: [Change] = []
    /// How many are being committed.
    var underWay = 0
    /// Whether the thread was told to commit them, at once or in a moment.
    var isCalled = false
    var isAwaited = false
  }

  private struct Change: Sendable {
    /// Makes the change and returns what tells its author of the success.
    let perform: @Sendable (borrowing Connection) throws -> (@Sendable () -> Void)
    let refuse: @Sendable (any Error) -> Void
    var isUndoable = true
  }

  init(
    _ connection: consuming sending Connection, patience: DispatchTimeInterval = .milliseconds(40)
  ) {
    self.connection = Mutex(connection)
    self.patience = patience
  }

  func write<R: Sendable>(
    company: Int, isUndoable: Bool,
    _ body: @escaping @Sendable (borrowing Connection) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      enqueue(
        company: company,
        Change(
          perform: { connection in
            let result = try body(connection)
            return { continuation.resume(returning: result) }
          },
          refuse: { continuation.resume(throwing: $0) }, isUndoable: isUndoable))
    }
  }

  func writeSoon(_ body: @escaping @Sendable (borrowing Connection) throws -> Void) {
    enqueue(
      Change(
        perform: { connection in
          try body(connection)
          return {}
        },
        refuse: { _ in }))
  }

  private func enqueue(company: Int = 1, _ change: Change) {
    let (mustCall, mustAwait) = line.withLock { line in
      line.changes.append(change)
      let isTogether =
        line.changes.count >= min(company - line.underWay, Self.mostCompany)
      let mustCall = !line.isCalled && isTogether
      let mustAwait = !line.isCalled && !line.isAwaited && !mustCall
      if mustCall { line.isCalled = true }
      if mustAwait { line.isAwaited = true }
      return (mustCall, mustAwait)
    }
    if mustCall { thread.async { self.commitWaiting() } }
    if mustAwait {
      thread.asyncAfter(deadline: .now() + patience) { self.commitWaiting() }
    }
  }

  private func commitWaiting() {
    let (changes, hasMore) = line.withLock { line in
      let changes = Array(line.changes.prefix(Self.commitLimit))
      line.changes.removeFirst(changes.count)
      line.isCalled = !line.changes.isEmpty
      line.isAwaited = false
      line.underWay = changes.count
      return (changes, line.isCalled)
    }
    // Whoever lingered may have gone with the hurried.
    if !changes.isEmpty { connection.withLock { commit(changes, on: $0) } }
    line.withLock { $0.underWay = 0 }
    if hasMore { thread.async { self.commitWaiting() } }
  }

  private func commit(_ changes: [Change], on connection: borrowing Connection) {
    var performed: [(change: Change, acknowledge: @Sendable () -> Void)] = []
    var next = changes.startIndex
    do {
      try connection.run("BEGIN IMMEDIATE")
      while next < changes.endIndex {
        let change = changes[next]
        if let acknowledge = try perform(change, on: connection) {
          performed.append((change, acknowledge))
        }
        next += 1
      }
      try connection.run("COMMIT")
      for (_, acknowledge) in performed { acknowledge() }
      commits.tell(performed.count)
    } catch {
      if connection.isInTransaction { try? connection.script("ROLLBACK") }
      for (change, _) in performed { change.refuse(error) }
      for change in changes[next...] { change.refuse(error) }
    }
  }

  /// Makes one change, or undoes and refuses it; throws when the whole transaction is lost.
  private func perform(
    _ change: Change, on connection: borrowing Connection
  ) throws -> (@Sendable () -> Void)? {
    guard change.isUndoable else {
      let before = connection.changes
      do { return try change.perform(connection) } catch {
        // Nothing was changed, and nothing is to be undone.
        guard connection.isInTransaction, connection.changes == before else { throw error }
        change.refuse(error)
        return nil
      }
    }
    try connection.run("SAVEPOINT change")
    do {
      let acknowledge = try change.perform(connection)
      try connection.run("RELEASE change")
      return acknowledge
    } catch {
      guard connection.isInTransaction else { throw error }
      try connection.run("ROLLBACK TO change")
      try connection.run("RELEASE change")
      change.refuse(error)
      return nil
    }
  }
}
