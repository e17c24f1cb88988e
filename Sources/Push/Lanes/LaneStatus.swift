package import FoundationEssentials

/// How a lane is doing, for metrics and the operator.
package struct LaneStatus: Sendable, Equatable {
  /// Pushes that the service has taken since the start.
  package private(set) var delivered = 0
  /// Pushes that will not be tried again: dead tokens, rejections, expiries.
  package private(set) var failed = 0
  /// Attempts in vain that will be repeated.
  package private(set) var retried = 0
  /// Pushes under way right now.
  package private(set) var inFlight = 0
  /// When the lane tries again, while the service is out of order; nil when all is well.
  package private(set) var pausedUntil: Date?
  /// Why it pauses.
  package private(set) var pauseReason: String?

  mutating func count(_ settlements: [Settlement]) {
    for settlement in settlements {
      switch settlement.outcome {
      case .delivered: delivered += 1
      case .retry: retried += 1
      case .released: break
      case .deadToken, .rejected, .expired: failed += 1
      }
    }
  }

  mutating func update(_ work: LaneWork) {
    inFlight = work.inFlight
    pausedUntil = work.breaker.openUntil
    pauseReason = work.breaker.reason
  }
}
