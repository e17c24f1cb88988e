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
  private let waiting = Mutex<[Change]>([])
  private let thread = DispatchQueue(label: "store.writer")

  /// The most changes in one commit, so that the first of them does not wait for ever.
  private static let commitLimit = 512

  private struct Change: Sendable {
    /// Makes the change and returns what tells its author of the success.
    let perform: @Sendable (borrowing Connection) throws -> (@Sendable () -> Void)
    let refuse: @Sendable (any Error) -> Void
  }

  init(_ connection: consuming sending Connection) {
    self.connection = Mutex(connection)
  }

  func write<R: Sendable>(
    _ body: @escaping @Sendable (borrowing Connection) throws -> R
  ) async throws -> R {
    try await withCheckedThrowingContinuation { continuation in
      enqueue(
        Change(
          perform: { connection in
            let result = try body(connection)
            return { continuation.resume(returning: result) }
          },
          refuse: { continuation.resume(throwing: $0) }))
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

  private func enqueue(_ change: Change) {
    let isFirst = waiting.withLock { waiting in
      waiting.append(change)
      return waiting.count == 1
    }
    if isFirst { thread.async { self.commitWaiting() } }
  }

  private func commitWaiting() {
    let (changes, hasMore) = waiting.withLock { waiting in
      let changes = Array(waiting.prefix(Self.commitLimit))
      waiting.removeFirst(changes.count)
      return (changes, !waiting.isEmpty)
    }
    connection.withLock { commit(changes, on: $0) }
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
