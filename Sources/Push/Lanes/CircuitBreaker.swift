package import FoundationEssentials

/// Keeps a lane from hammering a service that is out of order.
///
/// Closed, everything passes. After several failures in a row, or at once when the service names a
/// time or the operator has to act, it opens: nothing passes until the pause is over. Then one push
/// goes out as a probe; its answer closes the breaker or opens it for longer.
package struct CircuitBreaker: Sendable {
  private static let threshold = 5
  private static let pauses = Backoff(first: .seconds(2), longest: .seconds(300))
  private static let stops = Backoff(first: .seconds(60), longest: .seconds(900))

  private var failures = 0
  private var trips = 0
  private var isProbing = false

  /// When the pause ends; nil while the breaker is closed.
  package private(set) var openUntil: Date?
  /// Why it opened, for the operator.
  package private(set) var reason: String?

  package init() {}

  /// How many more pushes may start now; a probe does not wait for those from before the pause.
  package func room(capacity: Int, inFlight: Int, at now: Date) -> Int {
    guard let openUntil else { return capacity - inFlight }
    return now >= openUntil && !isProbing ? 1 : 0
  }

  /// Takes note that a push starts.
  package mutating func begin() { isProbing = openUntil != nil }

  /// Learns from an answer; one to a push that `began` before the end of the pause changes nothing.
  package mutating func record(
    _ delivery: PushOutcome, began: Date, at now: Date, random: Double
  ) {
    if let openUntil, began < openUntil { return }
    isProbing = false
    switch delivery {
    case .delivered, .retry, .deadToken, .rejected:
      self = CircuitBreaker()
    case .unavailable(let after, let reason):
      failures += 1
      guard after != nil || openUntil != nil || failures >= Self.threshold else { return }
      trips += 1
      let pause = max(after ?? .zero, Self.pauses.delay(after: trips, random: random))
      open(for: pause, from: now, because: reason)
    case .laneStopped(let reason):
      trips += 1
      open(for: Self.stops.delay(after: trips, random: random), from: now, because: reason)
    }
  }

  private mutating func open(for pause: Duration, from now: Date, because reason: String) {
    openUntil = now + pause.seconds
    self.reason = reason
  }
}

extension Duration {
  /// The duration as a floating-point number of seconds.
  var seconds: Double {
    Double(components.seconds) + Double(components.attoseconds) / 1e18
  }
}
