import Dispatch
import FoundationEssentials

/// A database that holds the records: SQLite, or PostgreSQL.
protocol Engine: Sendable {
  associatedtype Connection: Queryable
  associatedtype Transaction: Changing

  /// Reads; each statement sees everything committed before it.
  ///
  /// `body` may be called again, if the connection is lost.
  func read<R: Sendable>(
    _ body: @escaping @Sendable (Connection) throws -> R
  ) async throws -> R

  /// Changes the database and returns once the change would survive a power cut; throws what `body` throws.
  ///
  /// `body` may be called again, in a new transaction, when what it did was undone. `expectedBatch` is the number of
  /// changes, with this one, that are about to be made together: if more than 1, waits a moment for them, to commit
  /// all together (``CommitQueue``).
  @discardableResult
  func write<R: Sendable>(
    expectedBatch: Int, _ body: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R

  /// Changes the database soon, for changes whose caller does not wait and that may be lost in a crash.
  ///
  /// It is committed with the next change, or after `timeout`; at once if that is nil.
  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (Transaction) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  )
}

extension Engine {
  @discardableResult
  func write<R: Sendable>(
    _ body: @escaping @Sendable (Transaction) throws -> R
  ) async throws -> R {
    try await write(expectedBatch: 1, body)
  }

  func writeSoon(_ body: @escaping @Sendable (Transaction) throws -> Void) {
    writeSoon(within: nil, body, onFailure: { _ in })
  }

  /// Commits one statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: any Parameter & Sendable...) async throws -> Int {
    try await write { try $0.run(sql, values: values) }
  }
}

/// The records in a database: what each of them does alike is written once, in extensions of this protocol.
protocol EngineTables: Tables, AnyObject {
  associatedtype Database: Engine

  var database: Database { get }
  /// The content to which records refer.
  var blobs: Blobs { get }
  var now: @Sendable () -> Date { get }
  /// Identifies this process's leases: an outcome counts only if the lease has not passed to another.
  var owner: String { get }
}
