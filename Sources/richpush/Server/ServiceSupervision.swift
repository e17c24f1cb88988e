import Glibc

/// The service manager that started the process, such as systemd; without one, every method does nothing.
///
/// Implements the protocols of sd_notify(3) and sd_listen_fds(3).
struct ServiceSupervision: Sendable {
  /// The sockets that the service manager listens on, for this process to accept connections.
  let listeners: [Int32]
  /// How often ``sendAlive()`` must be called, or else the process is killed; nil if it need not be.
  let watchdogInterval: Duration?
  private let address: String?

  /// The first descriptor that the service manager passes on (SD_LISTEN_FDS_START).
  private static let firstListener: Int32 = 3

  /// Reads what the service manager says in the environment.
  init(environment: [String: String]) {
    func isForThisProcess(_ variable: String) -> Bool {
      environment[variable].map { Int32($0) == getpid() } ?? false
    }
    address = environment["NOTIFY_SOCKET"].flatMap { $0.isEmpty ? nil : $0 }
    let count =
      isForThisProcess("LISTEN_PID") ? environment["LISTEN_FDS"].flatMap { Int32($0) } ?? 0 : 0
    listeners = (0..<max(0, min(count, 64))).map { Self.firstListener + $0 }
    let isWatched = environment["WATCHDOG_PID"] == nil || isForThisProcess("WATCHDOG_PID")
    watchdogInterval =
      isWatched
      ? environment["WATCHDOG_USEC"].flatMap { Int64($0) }.map { .microseconds($0) } : nil
  }

  /// Tells that the server accepts connections.
  func sendReady() { send("READY=1\nSTATUS=serving") }

  /// Tells that the configuration is being loaded again; ``sendReady()`` tells that it was.
  func sendReloading() {
    var time = timespec()
    clock_gettime(CLOCK_MONOTONIC, &time)
    send("RELOADING=1\nMONOTONIC_USEC=\(time.tv_sec * 1_000_000 + time.tv_nsec / 1000)")
  }

  /// Tells that the server is stopping.
  func sendStopping() { send("STOPPING=1\nSTATUS=completing requests") }

  /// Tells that the server works (the watchdog).
  func sendAlive() { send("WATCHDOG=1") }

  /// Sends one datagram; an address that begins with `@` is abstract (unix(7)).
  private func send(_ state: String) {
    guard let address else { return }
    var name = sockaddr_un()
    name.sun_family = sa_family_t(AF_UNIX)
    var path = Array(address.utf8)
    if path.first == UInt8(ascii: "@") { path[0] = 0 }
    guard path.count < MemoryLayout.size(ofValue: name.sun_path) else { return }
    withUnsafeMutableBytes(of: &name.sun_path) { $0.copyBytes(from: path) }
    let descriptor = socket(AF_UNIX, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    guard descriptor >= 0 else { return }
    defer { close(descriptor) }
    let length = socklen_t(MemoryLayout<sa_family_t>.size + path.count)
    let bytes = Array(state.utf8)
    withUnsafeBytes(of: &name) { name in
      _ = sendto(
        descriptor, bytes, bytes.count, Int32(MSG_NOSIGNAL),
        name.assumingMemoryBound(to: sockaddr.self).baseAddress, length)
    }
  }
}
