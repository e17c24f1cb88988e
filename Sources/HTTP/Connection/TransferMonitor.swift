/// Finds out whether the other side of a transfer stalls, from regular looks at how much has moved.
///
/// At least so many bytes must move in each window of so much time; a window ends, and the next one
/// begins, as soon as they have.
struct TransferMonitor {
  /// A body over TLS, and room at a peer that reads slowly, come in pieces: the first window is
  /// granted one (a record), and each later one begins with the piece that ended the one before.
  private static let piece = 16 << 10

  /// What had moved when the window began; nil before the first look.
  private var base: Int?
  private var last = 0
  /// Milliseconds of the window that have passed.
  private var waited = 0
  private var lastLook: Int

  init(now: Int) { lastLook = now }

  /// Notes how many bytes have moved since the transfer began, and tells whether it may go on.
  ///
  /// - Parameters:
  ///   - moved: the bytes in total; may fall a little, since TLS adds to what is on its way.
  ///   - least: the bytes that must move in a window.
  ///   - now: the time in milliseconds.
  ///   - times: how long a window is, and how often this is called.
  /// - Returns: false when the window has passed and too little has moved.
  mutating func goesOn(_ moved: Int, least: Int, now: Int, times: PhaseTimes) -> Bool {
    // When more time has passed, the event loop was held up, and that is not the peer's doing.
    waited += min(now - lastLook, times.look + Self.delay)
    lastLook = now
    // Less than nothing has moved while answers before this one still wait in the kernel.
    let start = min(base ?? min(0, moved) - Self.piece, moved)
    base = start
    if moved - start >= least { (base, waited) = (last, 0) }
    last = moved
    return waited <= times.transfer
  }

  /// How late a look may be when all is well, in milliseconds.
  private static let delay = 1000
}
