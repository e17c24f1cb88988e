import Synchronization

/// The database file: any number of readers at once beside one writer (SQLite's WAL).
final class Database: Sendable {
  private let path: String
  private let writer: Writer
  private let idleReaders = Mutex<[Reader]>([])

  /// Opens the database, making or migrating it as needed.
  init(path: String) throws {
    self.path = path
    let connection = try Connection.open(path, for: .writing)
    try Schema.migrate(connection)
    writer = Writer(connection)
  }

  /// Reads at once on the calling thread; each statement sees everything committed before it.
  func read<R: Sendable>(_ body: (borrowing Connection) throws -> R) throws -> R {
    let reader = try idleReaders.withLock { $0.popLast() } ?? Reader(path: path)
    defer {
      idleReaders.withLock { if $0.count < Self.idleLimit { $0.append(reader) } }
    }
    return try reader.connection.withLock { try body($0) }
  }

  /// Changes the database and returns once the change would survive a power cut.
  ///
  /// With a `company` above 1 so many changes, this one among them, are about to come: it waits a few
  /// milliseconds for the others, to be committed with them.
  /// One that is not undoable costs less, and takes all that are committed with it along when it
  /// throws after it has changed something: for what nothing but a broken disk can stop there.
  @discardableResult
  func write<R: Sendable>(
    company: Int = 1, isUndoable: Bool = true,
    _ body: @escaping @Sendable (borrowing Connection) throws -> R
  ) async throws -> R {
    try await writer.write(company: company, isUndoable: isUndoable, body)
  }

  /// Calls `body` after every commit, on the thread that made it.
  func observeCommits(_ body: @escaping @Sendable () -> Void) {
    writer.commits.observe { _ in body() }
  }

  /// Changes the database soon; for what may be lost in a crash and nobody waits for.
  func writeSoon(_ body: @escaping @Sendable (borrowing Connection) throws -> Void) {
    writer.writeSoon(body)
  }

  /// More threads than this may read at once; their connections are then closed after use.
  private static let idleLimit = 8

  private final class Reader: Sendable {
    let connection: Mutex<Connection>

    init(path: String) throws {
      connection = Mutex(try Connection.open(path, for: .reading))
    }
  }
}
