import Dispatch
import Synchronization

/// Locks that the nodes of one database share, on a connection of their own: they end with it.
///
/// One thread sends one short statement at a time, so that nobody who waits for a lock occupies a connection.
final class PostgresLocks: Sendable {
  private struct State {
    var connection: PostgresConnection?
    var held: Set<String> = []
    /// Until when no connection is tried, because it has failed.
    var pause = ContinuousClock.now
  }

  private static let pause = Duration.seconds(5)
  /// The most locks of one node: the server keeps those of all nodes in a table of fixed size.
  private static let limit = 256

  private let url: String
  private let queue = DispatchQueue(label: "store.locks")
  /// Used on the queue only.
  private let state = Mutex(State())

  init(url: String) { self.url = url }

  /// Takes a lock unless another node has it; throws if the database does not say so, or this node has too many.
  func take(_ name: String) async throws -> Bool {
    try await withCheckedThrowingContinuation { continuation in
      queue.async { continuation.resume(with: Result { try self.takeBlocking(name) }) }
    }
  }

  /// Releases a lock, if it is held.
  func release(_ name: String) {
    queue.async { [self] in
      state.withLock { state in
        guard state.held.remove(name) != nil, let connection = state.connection else { return }
        do {
          try connection.run(
            "SELECT pg_advisory_unlock(hashtextextended(current_schema() || $1, 0))", name)
        } catch { Self.end(&state) }
      }
    }
  }

  private func takeBlocking(_ name: String) throws -> Bool {
    try state.withLock { state in
      // The server would count it twice.
      if state.held.contains(name) { return true }
      guard state.held.count < Self.limit else { throw StoreError(.busy, "too many locks") }
      do {
        let connection = try connection(&state)
        let isTaken = try connection.value(
          "SELECT pg_try_advisory_lock(hashtextextended(current_schema() || $1, 0))", name,
          as: Bool.self)
        if isTaken == true { state.held.insert(name) }
        return isTaken == true
      } catch {
        Self.end(&state)
        throw error
      }
    }
  }

  private func connection(_ state: inout State) throws -> PostgresConnection {
    if let open = state.connection { return open }
    guard state.pause <= .now else { throw StoreError.unavailable("no lock can be taken") }
    let new = try PostgresConnection(url, for: .listening)
    state.connection = new
    return new
  }

  /// Closes the connection, with which all locks end.
  private static func end(_ state: inout State) {
    state.held = []
    // One that was idle may have been closed by the server: the next is tried at once.
    state.pause = state.connection == nil ? .now + pause : .now
    state.connection = nil
  }
}
