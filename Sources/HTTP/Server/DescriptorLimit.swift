import Glibc

/// How many descriptors this process may have: each connection needs one.
enum DescriptorLimit {
  /// What files, plugins and the store need at most.
  private static let others = 512
  /// The table has room for so many from the beginning: half a MiB.
  private static let mostAtOnce = 65_536

  /// Raises the soft limit, often 1024, to what the hard one allows (setrlimit), and returns it.
  static func raise() -> Int {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return .max }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
    let most = Int(clamping: limit.rlim_cur)
    growTable(to: min(most, mostAtOnce))
    return most
  }

  /// Gives the process's table of descriptors room for so many.
  ///
  /// The kernel doubles it when it is full, and whoever opens anything waits then until all processors
  /// have passed by (synchronize_rcu): about 20 ms in which no connection is taken.
  private static func growTable(to count: Int) {
    let place = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, Int32(count - 1))
    if place >= 0 { close(place) }
  }

  /// How many prepared files may be held open.
  static func files(descriptors: Int) -> Int { min(2048, descriptors / 8) }

  /// As many connections as wanted, or as there are descriptors for.
  ///
  /// Where accept() has no descriptor left, connections wait unanswered; beyond a limit they are told.
  static func connections(_ wanted: Int, descriptors: Int) -> Int {
    let room = max(descriptors - others - files(descriptors: descriptors), descriptors / 2)
    return min(wanted, max(1, room - Admission.excess(over: room)))
  }
}
