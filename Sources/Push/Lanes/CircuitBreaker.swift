import FoundationEssentials

/// Keeps a lane from sending to a service that is down.
///
/// While it is closed, all pushes are sent. It opens after several failures in a row, or at once if a service that is
/// unavailable names a time (Retry-After): no push is sent until the pause is over. Then one is sent as a probe; its
/// outcome closes the breaker or opens it for longer.
struct CircuitBreaker: Sendable {
  /// The failures in a row that open it.
  private static let threshold = 5
  /// Pauses for a service that is down.
  private static let outageBackoff = Backoff(first: .seconds(2), longest: .seconds(300))
  /// A service is asked again after this time, whatever it says.
  static let longestPause = Duration.seconds(900)

  private var failures = 0
  private var trips = 0
  private var isProbing = false

  /// When the pause ends; nil while the breaker is closed.
  private(set) var openUntil: Date?

  /// When the pause ends; nil if it is over, or the clock was set back by more than any pause lasts.
  func pauseEnd(at now: Date) -> Date? {
    guard let openUntil, openUntil > now, openUntil < now + 2 * Self.longestPause.seconds else {
      return nil
    }
    return openUntil
  }

  /// The number of pushes that may start now; a probe does not wait for those from before the pause.
  func available(capacity: Int, inFlight: Int, at now: Date) -> Int {
    if openUntil == nil { return capacity - inFlight }
    return pauseEnd(at: now) == nil && !isProbing ? 1 : 0
  }

  /// Records that a push starts, which `available` has allowed.
  mutating func begin(at now: Date) {
    isProbing = openUntil != nil
    openUntil = openUntil.map { min($0, now) }
  }

  /// Records an outcome; one of a push that `began` before the end of the pause changes nothing.
  mutating func record(
    _ outcome: PushOutcome, began: Date, at now: Date, random: Double
  ) {
    if let openUntil, began < openUntil { return }
    isProbing = false
    switch outcome {
    case .delivered, .retry, .deadToken, .refused, .rejected, .laneStopped:
      self = CircuitBreaker()
    case .held: break
    case .unavailable(let after, _): fail(opensAtOnce: after != nil, after, at: now, random)
    case .throttled(let after, _): fail(opensAtOnce: false, after, at: now, random)
    }
  }

  private mutating func fail(
    opensAtOnce: Bool, _ after: Duration?, at now: Date, _ random: Double
  ) {
    failures += 1
    guard opensAtOnce || openUntil != nil || failures >= Self.threshold else { return }
    trips += 1
    let pause = max(after ?? .zero, Self.outageBackoff.delay(after: trips, random: random))
    openUntil = now + min(pause, Self.longestPause).seconds
  }
}
