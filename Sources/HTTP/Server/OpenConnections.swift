import Synchronization

/// The connections that are open, by address, and the deadlines they are held to.
final class OpenConnections: Sendable {
  private struct Table {
    var all: [ObjectIdentifier: Connection] = [:]
    var perAddress: [String: Int] = [:]
  }

  private let table = Mutex(Table())
  private let limits: ServerConfiguration.Limits
  /// Connections beyond the limit that are open for as long as it takes to say so.
  private let excess: Int
  private let trusted: Set<String>
  private let draining = Atomic(false)

  init(_ configuration: ServerConfiguration) {
    limits = configuration.limits
    excess = Self.excess(over: limits.connections)
    trusted = configuration.trustedProxies
  }

  var count: Int { table.withLock { $0.all.count } }

  /// Whether connections are to close as soon as they fall idle.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

  /// How many more than the limit may be open, to be told that the server is full.
  static func excess(over limit: Int) -> Int { min(max(1, limit / 16), 1000) }

  /// Whether one more connection from the address is taken, if only to be told that the server is full.
  func admits(_ address: String) -> Bool {
    table.withLock {
      $0.all.count < limits.connections + excess
        && ($0.perAddress[address, default: 0] < limits.connectionsPerAddress
          || trusted.contains(address))
    }
  }

  /// Enters a connection that has just been opened; false when it is one too many.
  func insert(_ connection: Connection) -> Bool {
    table.withLock {
      $0.all[ObjectIdentifier(connection)] = connection
      $0.perAddress[connection.peer, default: 0] += 1
      return $0.all.count <= limits.connections
    }
  }

  /// Called before the descriptor is closed, so that no deadline ever meets its successor.
  func remove(_ connection: Connection) {
    table.withLock {
      $0.all[ObjectIdentifier(connection)] = nil
      let left = $0.perAddress[connection.peer, default: 1] - 1
      $0.perAddress[connection.peer] = left == 0 ? nil : left
    }
  }

  /// Ends what has taken too long and lets quiet streams say that they are alive.
  func tick(_ now: Int) {
    var late: [Connection] = []
    var streams: [EventSink] = []
    table.withLock { table in
      for connection in table.all.values {
        if let stream = connection.stream {
          streams.append(stream)
          if stream.isOverdue(now) { connection.cut() }
        }
        guard connection.passedDeadline(now) else { continue }
        if connection.isSuspended { late.append(connection) } else { connection.cut() }
      }
    }
    for connection in late { connection.settleLate() }
    for stream in streams { stream.beat(now) }
  }

  /// Closes idle connections and streams; the others follow as soon as they have been answered.
  func drain() {
    draining.store(true, ordering: .sequentiallyConsistent)
    table.withLock {
      for connection in $0.all.values where connection.isIdle { connection.stopReading() }
    }
    for connection in snapshot() { connection.stream?.closeForNow() }
  }

  /// Ends everything that is still open: what is being worked on is answered with 503.
  func end() {
    var late: [Connection] = []
    table.withLock {
      for connection in $0.all.values {
        if connection.isSuspended { late.append(connection) } else { connection.cut() }
      }
    }
    for connection in late { connection.settleLate() }
  }

  private func snapshot() -> [Connection] { table.withLock { Array($0.all.values) } }
}
