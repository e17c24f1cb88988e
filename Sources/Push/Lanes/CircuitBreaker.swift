import FoundationEssentials

/// Keeps a lane from sending to a service that is down.
///
/// While it is closed, all pushes are sent. It opens after several failures in a row, or at once if the
/// service names a time (Retry-After) or the operator has to act: no push is sent until the pause is over.
/// Then one is sent as a probe; its outcome closes the breaker or opens it for longer.
struct CircuitBreaker: Sendable {
  /// The failures in a row that open it.
  private static let threshold = 5
  /// Pauses for a service that is down.
  private static let outageBackoff = Backoff(first: .seconds(2), longest: .seconds(300))
  /// Pauses for a lane that the operator has to fix: longer, because nothing changes by itself.
  private static let operatorBackoff = Backoff(first: .seconds(60), longest: .seconds(900))

  private var failures = 0
  private var trips = 0
  private var isProbing = false

  /// When the pause ends; nil while the breaker is closed.
  private(set) var openUntil: Date?

  /// The number of pushes that may start now; a probe does not wait for those from before the pause.
  func available(capacity: Int, inFlight: Int, at now: Date) -> Int {
    guard let openUntil else { return capacity - inFlight }
    return now >= openUntil && !isProbing ? 1 : 0
  }

  /// Records that a push starts.
  mutating func begin() { isProbing = openUntil != nil }

  /// Records an outcome; one of a push that `began` before the end of the pause changes nothing.
  mutating func record(
    _ outcome: PushOutcome, began: Date, at now: Date, random: Double
  ) {
    if let openUntil, began < openUntil { return }
    isProbing = false
    switch outcome {
    case .delivered, .retry, .deadToken, .rejected:
      self = CircuitBreaker()
    case .held: break
    case .unavailable(let after, _):
      failures += 1
      guard after != nil || openUntil != nil || failures >= Self.threshold else { return }
      open(Self.outageBackoff, atLeast: after ?? .zero, from: now, random)
    case .laneStopped:
      open(Self.operatorBackoff, from: now, random)
    }
  }

  private mutating func open(
    _ backoff: Backoff, atLeast minimum: Duration = .zero, from now: Date, _ random: Double
  ) {
    trips += 1
    openUntil = now + max(minimum, backoff.delay(after: trips, random: random)).seconds
  }
}
