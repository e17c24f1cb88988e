import Dispatch
import Synchronization

/// The readers and the writer of one node.
final class PostgresDatabase: Engine {
  /// Where the server is, as libpq understands it.
  let url: String
  /// What was found to be damaged; the server itself decides what it still does.
  let damage = DatabaseDamage()
  private let readers: PostgresReaders
  private let writer: PostgresWriter
  /// Nil for a process that is no node.
  private let contact: PostgresContact?

  /// Connects, and creates the tables as needed; a node migrates them, too.
  ///
  /// Throws `inUse` if they are of an earlier version and this process is no node.
  /// `observers` are told of every commit, on the thread that made it; `origin` names this process to the other
  /// nodes. What leases jobs follows the `rules`.
  init(
    url: String, rules: SendingRules, origin: MessageOrigin, contact: PostgresContact?,
    observers: CommitObservers,
    initialize: (PostgresConnection) throws -> Void
  ) throws {
    (self.url, self.contact) = (url, contact)
    let connection = try PostgresConnection(url, for: .writing)
    let version = try PostgresSchema.presentVersion(connection)
    if version != PostgresSchema.version {
      // Nodes of that version would serve nothing any more.
      if contact == nil, let version, version < PostgresSchema.version {
        throw StoreError(
          .inUse,
          "the tables are of an earlier version of richpush: upgrade a node, which changes them, and repeat the command"
        )
      }
      // What changes large tables takes longer than a statement may, and so does a node that is at it already.
      try PostgresSchema.migrate(
        PostgresConnection(url, for: .maintenance), initialize: initialize)
      contact?.recordLife()
    }
    try PostgresSchema.requireFinishedMigration(connection)
    writer = PostgresWriter(
      connection, url: url, rules: rules, origin: origin, observers: observers)
    readers = PostgresReaders(url: url, contact: contact)
  }

  // On a thread that may wait.
  func read<R: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> R
  ) async throws -> R {
    do { return try await readers.read(body) } catch {
      damage.record(error)
      throw error
    }
  }

  func write<R: Sendable>(
    expectedBatch: Int, _ body: @escaping @Sendable (PostgresTransaction) throws -> R
  ) async throws -> R {
    try await write(expectedBatch: expectedBatch, newNotifications: 0, body)
  }

  /// The same for a change that takes IDs of notifications, `newNotifications` of them.
  func write<R: Sendable>(
    expectedBatch: Int = 1, newNotifications: Int,
    _ body: @escaping @Sendable (PostgresTransaction) throws -> R
  ) async throws -> R {
    try contact?.requireLife()
    do {
      let result = try await writer.write(
        expectedBatch: expectedBatch, newNotifications: newNotifications, body)
      contact?.recordLife()
      return result
    } catch {
      damage.record(error)
      throw error
    }
  }

  func writeSoon(
    within timeout: DispatchTimeInterval?,
    _ body: @escaping @Sendable (PostgresTransaction) throws -> Void,
    onFailure: @escaping @Sendable (any Error) -> Void
  ) {
    do { try contact?.requireLife() } catch { return onFailure(error) }
    writer.writeSoon(within: timeout, body, onFailure: onFailure)
  }

  /// Enters the group until the writer's thread has done what it does now.
  func turn(_ group: DispatchGroup) { writer.turn(group) }
}

/// Connections for queries, and the threads that wait for them; a query waits for its turn if all are in use.
final class PostgresReaders: Sendable {
  private typealias Job = @Sendable (inout PostgresConnection?) -> Void

  private struct State {
    var idle: [PostgresConnection] = []
    var waiting: [Job] = []
    var threads = 0
    /// Why no connection could be made, until when nobody tries again.
    var failure: (error: StoreError, until: ContinuousClock.Instant)?
  }

  /// The most queries at once.
  private static let limit = 8
  /// How long all queries fail at once after a connection could not be made.
  private static let pause = Duration.milliseconds(200)

  private let url: String
  private let contact: PostgresContact?
  private let queue = DispatchQueue(label: "store.readers", attributes: .concurrent)
  private let state = Mutex(State())

  init(url: String, contact: PostgresContact?) { (self.url, self.contact) = (url, contact) }

  func read<R: Sendable>(
    _ body: @escaping @Sendable (PostgresConnection) throws -> R
  ) async throws -> R {
    // Not only when it is its turn, which it may wait for.
    try contact?.requireLife()
    return try await withCheckedThrowingContinuation { continuation in
      add { connection in
        continuation.resume(with: Result { try self.perform(body, on: &connection) })
      }
    }
  }

  private func add(_ job: @escaping Job) {
    let mustStart = state.withLock { state in
      state.waiting.append(job)
      guard state.threads < Self.limit else { return false }
      state.threads += 1
      return true
    }
    if mustStart { queue.async { self.work() } }
  }

  /// Runs jobs with one connection until none waits.
  private func work() {
    var connection = state.withLock { $0.idle.popLast() }
    while true {
      let job = state.withLock { state -> Job? in
        if state.waiting.isEmpty {
          state.threads -= 1
          if let connection { state.idle.append(connection) }
          return nil
        }
        return state.waiting.removeFirst()
      }
      guard let job else { return }
      job(&connection)
    }
  }

  /// A query may be repeated, so one whose idle connection was closed by the server gets a new one.
  private func perform<R>(
    _ body: (PostgresConnection) throws -> R, on connection: inout PostgresConnection?
  ) throws -> R {
    try contact?.requireLife()
    if let open = connection {
      do { return try query(body, on: open) } catch {
        guard open.isBroken else { throw error }
        connection = nil
        // The other idle ones are likely to be closed as well.
        state.withLock { $0.idle.removeAll() }
      }
    }
    try contact?.requireLife()
    let new = try connect()
    connection = new
    do { return try query(body, on: new) } catch {
      if new.isBroken { connection = nil }
      throw error
    }
  }

  private func query<R>(
    _ body: (PostgresConnection) throws -> R, on connection: PostgresConnection
  ) throws -> R {
    defer { if !connection.isBroken { contact?.recordLife() } }
    return try body(connection)
  }

  private func connect() throws(StoreError) -> PostgresConnection {
    if let failure = state.withLock({ $0.failure }), failure.until > .now { throw failure.error }
    do throws(StoreError) {
      let connection = try PostgresConnection(url, for: .reading)
      state.withLock { $0.failure = nil }
      return connection
    } catch {
      state.withLock { $0.failure = (error, .now + Self.pause) }
      throw error
    }
  }
}
