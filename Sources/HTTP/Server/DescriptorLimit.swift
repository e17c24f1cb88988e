import Glibc

/// How many descriptors this process may have: each connection needs one.
enum DescriptorLimit {
  /// Raises the soft limit, often 1024, to what the hard one allows (setrlimit).
  static func raise() {
    var limit = rlimit()
    guard getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0 else { return }
    limit.rlim_cur = limit.rlim_max
    setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit)
  }
}
