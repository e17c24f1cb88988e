/// Detects a peer that sends or reads too slowly, from how much was transferred at regular checks.
///
/// In each window of time at least a minimum must be transferred. As soon as that much was
/// transferred, the next window begins.
struct TransferMonitor {
  /// Credited to the first window; each later one begins with the piece that ended the previous one.
  // Bytes arrive in TLS records, and the receive window opens in steps, of about this size.
  private static let burstAllowance = 16 << 10
  /// How late a check may be, in milliseconds, without the event loop having been held up.
  private static let maximumDelay = 1000

  /// The bytes transferred when the window began; nil before the first check.
  private var windowStart: Int?
  private var last = 0
  /// The milliseconds of the window that have passed.
  private var elapsed = 0
  private var lastCheck: Int

  init(now: Int) { lastCheck = now }

  /// Notes how much was transferred and decides whether the transfer may go on.
  ///
  /// - Parameters:
  ///   - transferred: the bytes since the transfer began; may decrease a little, because TLS adds to
  ///     the unacknowledged bytes.
  ///   - minimum: the bytes that a window needs.
  ///   - now: the time in milliseconds.
  ///   - timeouts: how long a window is, and how often this is called.
  /// - Returns: false if the window has passed with less.
  mutating func isFastEnough(
    _ transferred: Int, minimum: Int, now: Int, timeouts: Timeouts
  ) -> Bool {
    // If more time has passed, the event loop was delayed, which is not the fault of the peer.
    elapsed += min(now - lastCheck, timeouts.checkInterval + Self.maximumDelay)
    lastCheck = now
    // Negative while previous responses are still in the send buffer.
    let start = min(windowStart ?? min(0, transferred) - Self.burstAllowance, transferred)
    windowStart = start
    if transferred - start >= minimum { (windowStart, elapsed) = (last, 0) }
    last = transferred
    return elapsed <= timeouts.transfer
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

extension Connection {
  /// Monitors the transfer that begins now, instead of limiting its total time.
  ///
  /// - Parameter queued: the bytes of a response that were queued.
  func monitorTransfer(queued: Int = 0) {
    (monitor, transferred) = (TransferMonitor(now: context.now), queued)
    setDeadline(context.timeouts.checkInterval)
  }

  /// Whether the monitored transfer may go on; sets the time of the next check.
  func checkTransfer() -> Bool {
    setDeadline(context.timeouts.checkInterval)
    switch phase {
    case .body(let body):
      // The client waits for the disk.
      if !body.wantsBytes { monitor = TransferMonitor(now: context.now) }
      return isFastEnough(transferred, minimum: context.limits.transferBytes)
    case .sending: return isFastEnough(acknowledged, minimum: context.limits.transferBytes)
    case .streaming(let sink):
      guard !output.isEmpty || sink.unsentBytes > 0 || transport.unsent > 0 else {
        clearDeadline()
        return true
      }
      // A closed stream is a response like any other; an open one may be read slowly.
      return isFastEnough(
        acknowledged, minimum: sink.isClosed ? context.limits.transferBytes : 1)
    case .head, .lingering:
      // The kernel buffers the end of a response until the peer has received it.
      if transport.unacknowledged > 0 {
        return isFastEnough(acknowledged, minimum: context.limits.transferBytes)
      }
      if case .head = phase {
        setTimeout(max(0, context.timeouts.idle - context.timeouts.checkInterval))
      } else {
        setTimeout(leavesBytesUnread ? lingerTimeout : 0)
      }
      return true
    default: return true
    }
  }

  private func isFastEnough(_ transferred: Int, minimum: Int) -> Bool {
    monitor?.isFastEnough(
      transferred, minimum: minimum, now: context.now, timeouts: context.timeouts) ?? true
  }

  /// The bytes of the response that the peer has acknowledged.
  ///
  /// Bytes in the kernel's buffer do not count: it accepts megabytes at once, and then nothing for
  /// minutes while a slow peer reads.
  private var acknowledged: Int { transferred - output.count - transport.unacknowledged }
}
