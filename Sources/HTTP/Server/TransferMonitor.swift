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
  /// Those at the last check.
  private var last: Int
  /// The milliseconds of the window that have passed.
  private var elapsed = 0
  private var lastCheck: Int

  /// A transfer that begins at a time in milliseconds, when `start` bytes had been transferred before.
  init(now: Int, from start: Int = 0) { (lastCheck, last) = (now, start) }

  /// Notes how much was transferred and decides whether the transfer may go on.
  ///
  /// - Parameters:
  ///   - transferred: the bytes so far; may decrease a little, because TLS adds to
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
    // Less than at the beginning while previous responses are still in the send buffer.
    let start = min(windowStart ?? min(last, transferred) - Self.burstAllowance, transferred)
    windowStart = start
    if transferred - start >= minimum { (windowStart, elapsed) = (last, 0) }
    last = transferred
    return elapsed <= timeouts.transfer
  }
}
