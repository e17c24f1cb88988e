/// When a connection is looked at though nothing has happened to it, in milliseconds of its event loop's clock.
enum Deadline {
  case none
  /// Then its phase ends.
  case timeout(at: Int)
  /// Then the speed of its transfer is checked.
  case check(TransferMonitor, at: Int)

  /// The same, so many milliseconds later.
  func postponed(by milliseconds: Int) -> Deadline {
    switch self {
    case .none: .none
    case .timeout(let time): .timeout(at: time + milliseconds)
    case .check(let monitor, let time): .check(monitor, at: time + milliseconds)
    }
  }

  /// Whether it is before this time.
  func hasPassed(at now: Int) -> Bool {
    switch self {
    case .none: false
    case .timeout(let time), .check(_, let time): time < now
    }
  }
}

/// The durations of ``ServerConfiguration/Limits`` in milliseconds: arithmetic on `Duration` is slow.
struct Timeouts {
  let head: Int
  let idle: Int
  let heartbeat: Int
  /// The time in which ``ServerConfiguration/Limits/transferBytes`` must be transferred.
  let transfer: Int
  /// How often a transfer is checked.
  let checkInterval: Int

  init(_ limits: ServerConfiguration.Limits) {
    head = limits.head.milliseconds
    idle = limits.idle.milliseconds
    heartbeat = limits.heartbeat.milliseconds
    transfer = limits.transfer.milliseconds
    checkInterval = max(1, transfer / 30)
  }
}
