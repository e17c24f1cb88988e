import Glibc

/// The processors of this machine.
package enum Processors {
  /// How many of them this process may use (`Cpus_allowed` of proc(5)); at least one.
  ///
  /// `ProcessInfo` counts those of the machine.
  package static let count: Int = {
    let status = try? FileDescriptor("/proc/self/status", O_RDONLY).readSome(limit: 1 << 16)
    let lines = String(decoding: status ?? [], as: UTF8.self).split(separator: "\n")
    let mask = lines.first { $0.hasPrefix("Cpus_allowed:") }?.split(separator: ":").last ?? ""
    let allowed = mask.compactMap(\.hexDigitValue).reduce(0) { $0 + $1.nonzeroBitCount }
    return allowed > 0 ? allowed : max(1, sysconf(Int32(_SC_NPROCESSORS_ONLN)))
  }()
}
