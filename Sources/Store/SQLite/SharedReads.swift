import Synchronization

/// Reads that share a transaction with others that are asked for at the same time.
///
/// To begin and end a transaction, with its two locks of a file, costs more than to find a few rows.
final class SharedReads: Sendable {
  private struct Read: Sendable {
    /// Reads, and resumes its caller.
    let perform: @Sendable (SQLiteConnection) -> Void
    let fail: @Sendable (any Error) -> Void
  }

  /// The reads that wait for a transaction that is about to begin; nil if none is.
  private let waiting = Mutex<[Read]?>(nil)

  /// Reads from `database`; what was committed before the call is seen.
  ///
  /// The first caller begins the transaction when the jobs that its executor has now have run, some of which may
  /// read as well.
  func read<R: Sendable>(
    _ database: SQLiteDatabase, _ body: @escaping @Sendable (SQLiteConnection) throws -> R
  ) async throws -> R {
    if isFirst() {
      await Task.yield()
      return try Self.read(database, with: takeWaiting(), body)
    }
    return try await withCheckedThrowingContinuation { continuation in
      let read = Read(
        perform: { connection in continuation.resume(with: Result { try body(connection) }) },
        fail: { continuation.resume(throwing: $0) })
      if !join(read) { continuation.resume(with: Result { try database.read(body) }) }
    }
  }

  private func isFirst() -> Bool {
    waiting.withLock { waiting in
      if waiting != nil { return false }
      waiting = []
      return true
    }
  }

  /// False if the transaction has begun.
  private func join(_ read: Read) -> Bool {
    waiting.withLock { waiting in
      waiting?.append(read)
      return waiting != nil
    }
  }

  private func takeWaiting() -> [Read] {
    waiting.withLock { waiting in
      defer { waiting = nil }
      return waiting ?? []
    }
  }

  private static func read<R: Sendable>(
    _ database: SQLiteDatabase, with others: [Read],
    _ body: (SQLiteConnection) throws -> R
  ) throws -> R {
    if others.isEmpty { return try database.withReader(body) }
    var rest = others[...]
    do {
      return try database.withReader { connection in
        try connection.run("BEGIN")
        defer { _ = try? connection.run("COMMIT") }
        while let read = rest.popFirst() { read.perform(connection) }
        return try body(connection)
      }
    } catch {
      for read in rest { read.fail(error) }
      throw error
    }
  }
}
