import Dispatch
import Synchronization

/// How many connections are open, from where, and whether more may come.
final class Admission: Sendable {
  private struct Table {
    var open = 0
    /// By `Address.network`.
    var perAddress: [String: Int] = [:]
  }

  /// Has everybody who is in.
  let connections = DispatchGroup()
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

  var count: Int { table.withLock { $0.open } }

  /// Whether connections are to close as soon as they fall idle.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

  /// How many more than the limit may be open, to be told that the server is full.
  static func excess(over limit: Int) -> Int { min(max(1, limit / 16), 1000) }

  enum Verdict { case welcome, onlyToBeTold, turnedAway }

  /// Counts a connection that has just been accepted, unless it is turned away.
  func admit(_ address: String) -> Verdict {
    let network = Address.network(address)
    return table.withLock { table in
      let fromThere = table.perAddress[network, default: 0]
      guard table.open < limits.connections + excess,
        fromThere < limits.connectionsPerAddress || trusted.contains(address)
      else { return .turnedAway }
      connections.enter()
      table.open += 1
      table.perAddress[network] = fromThere + 1
      return table.open <= limits.connections ? .welcome : .onlyToBeTold
    }
  }

  /// A connection from the address is closed.
  func leave(_ address: String) {
    let network = Address.network(address)
    table.withLock { table in
      table.open -= 1
      let left = table.perAddress[network, default: 1] - 1
      table.perAddress[network] = left == 0 ? nil : left
    }
    connections.leave()
  }

  func drain() { draining.store(true, ordering: .sequentiallyConsistent) }
}
