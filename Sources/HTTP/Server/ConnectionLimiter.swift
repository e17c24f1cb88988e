import Dispatch
import Glibc
import Primitives
import Synchronization

/// Counts open connections, in total and by network, and decides whether more are accepted.
final class ConnectionLimiter: Sendable {
  private struct Counts {
    var open = 0
    /// By `IPAddress.network`.
    var perNetwork: [String: Int] = [:]
  }

  enum Decision {
    case accepted
    /// Beyond the limit: gets a 503, except for requests that are always answered (health checks).
    case overflow
    /// Closed without a response: its network has too many connections, or too many connections
    /// beyond the limit are open.
    case rejected
  }

  /// Entered once per open connection.
  let connections = DispatchGroup()
  private let counts = Mutex(Counts())
  private let limits: ServerConfiguration.Limits
  private let overflow: Int
  private let trustedProxies: IPAddressSet
  private let draining = Atomic(false)

  init(_ configuration: ServerConfiguration) {
    limits = configuration.limits
    overflow = Self.overflow(beyond: limits.connections)
    trustedProxies = configuration.trustedProxies
  }

  var count: Int { counts.withLock { $0.open } }

  /// Whether connections are closed as soon as they are idle, because the server shuts down.
  var isDraining: Bool { draining.load(ordering: .sequentiallyConsistent) }

  func drain() { draining.store(true, ordering: .sequentiallyConsistent) }

  /// How many connections beyond the limit may be open, each until its 503 is sent.
  static func overflow(beyond limit: Int) -> Int { min(max(1, limit / 16), 1000) }

  /// Decides about a new connection, and counts it unless it is rejected.
  func admit(_ address: String) -> Decision {
    let network = IPAddress.network(address)
    return counts.withLock { counts in
      let ofNetwork = counts.perNetwork[network, default: 0]
      guard counts.open < limits.connections + overflow,
        ofNetwork < limits.connectionsPerAddress || trustedProxies.contains(address)
      else { return .rejected }
      connections.enter()
      counts.open += 1
      counts.perNetwork[network] = ofNetwork + 1
      return counts.open <= limits.connections ? .accepted : .overflow
    }
  }

  /// Counts an admitted connection as closed.
  func release(_ address: String) {
    let network = IPAddress.network(address)
    counts.withLock { counts in
      counts.open -= 1
      let left = counts.perNetwork[network, default: 1] - 1
      counts.perNetwork[network] = left == 0 ? nil : left
    }
    connections.leave()
  }

  /// Logs that no file descriptor is available.
  static func warnOfDescriptorShortage(_ error: Int32, _ log: Log) {
    log(
      .error, "http",
      error == ENFILE
        ? "the system has no file descriptors left; new connections get 503"
        : "no file descriptors are left (ulimit -n); new connections get 503")
  }
}

/// The file descriptors this process may have, of which each connection needs one.
package enum DescriptorLimit {
  /// The fewest descriptors that a server is started with.
  private static let minimum = 256
  /// The descriptors that files, plugins and the store need at most.
  private static let reserved = 512
  /// The descriptors that the process's table is prepared for: half a MiB of kernel memory.
  private static let preparedTableSize = 65_536

  /// Raises the limit as far as possible; to be called before many descriptors are open.
  ///
  /// - Throws: `ServerError` if it is too low for a server.
  package static func requireEnough() throws(ServerError) {
    let limit = raise()
    guard limit < minimum else { return }
    throw ServerError(
      code: .cannotStart,
      reason: """
        The server needs at least \(minimum) file descriptors and may have \(limit): raise the limit \
        (ulimit -n 4096, or LimitNOFILE=4096 for systemd).
        """)
  }

  /// Raises the soft limit, often 1024, to the hard one (setrlimit), and returns it.
  static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let count = Int(clamping: limit.rlim_cur)
    // The kernel doubles the table when it is full, and every thread that opens something then waits
    // for synchronize_rcu: about 20 ms in which no connection is accepted. So it grows now.
    let last = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(min(count, preparedTableSize) - 1))
    if last >= 0 { close(last) }
    return count
  }

  /// How many files may be kept open for sendfile(2).
  static func sendfileLimit(descriptors: Int) -> Int { min(2048, descriptors / 8) }

  /// The connections that are possible with these descriptors, at most as many as wanted.
  ///
  /// Connections for which accept(2) has no descriptor wait without a response, whereas connections
  /// beyond this limit get a 503.
  static func connections(_ wanted: Int, descriptors: Int) -> Int {
    let available = max(
      descriptors - reserved - sendfileLimit(descriptors: descriptors), descriptors / 2)
    return min(wanted, max(1, available - ConnectionLimiter.overflow(beyond: available)))
  }

  /// What the log says when the descriptors allow fewer connections than wanted.
  static func notice(ofConnections possible: Int) -> String {
    let digits = Array(String(possible))
    let grouped = digits.indices.map { index in
      (digits.count - index) % 3 == 0 && index > 0 ? ",\(digits[index])" : "\(digits[index])"
    }
    return "limited to \(grouped.joined()) connections by the open-file limit (ulimit -n)"
  }
}

/// Descriptors that an event loop reserves, so that it can still accept connections and respond to
/// health checks when no others are left.
struct SpareDescriptors: ~Copyable {
  private static let count = 16
  private var descriptors: [FileDescriptor] = []

  init() { refill() }

  /// Frees one for the next connection; false if none is left.
  mutating func releaseOne() -> Bool { descriptors.popLast() != nil }

  /// Reserves again as many as possible.
  mutating func refill() {
    while descriptors.count < Self.count,
      let descriptor = try? FileDescriptor("/dev/null", O_RDONLY)
    {
      descriptors.append(descriptor)
    }
  }
}
