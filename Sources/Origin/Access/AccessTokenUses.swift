import Primitives
import RichPushAPI
import Synchronization

/// When access tokens were last used at this node, and how much each has sent within the last minute.
final class AccessTokenUses: Sendable {
  private struct Use {
    /// When the last use was stored.
    var stored: ContinuousClock.Instant?
    /// The notifications that still count, as of ``counted``.
    var notifications = 0.0
    var counted: ContinuousClock.Instant
  }

  /// How long a use is not stored after another, and after which no notification counts.
  private static let window = Duration.seconds(60)
  private static let capacity = 100_000
  private let clock: any SteadyClock
  private let uses = Mutex<[Int: Use]>([:])

  /// No token was used so far.
  init(clock: any SteadyClock) { self.clock = clock }

  /// Whether a use of a token is to be stored: the last that was is a minute old.
  func isToBeStored(of token: Int) -> Bool {
    let now = clock.now
    return uses.withLock { uses in
      var use = Self.use(of: token, in: &uses, now)
      if let stored = use.stored, now - stored < Self.window { return false }
      use.stored = now
      uses[token] = use
      return true
    }
  }

  /// Counts a notification that is sent with a token.
  ///
  /// - Throws: `tooManyRequests` if it would be more than `rate` within a minute.
  func count(_ token: Int, rate: Int) throws(ServiceError) {
    let now = clock.now
    let wait = uses.withLock { uses -> Double? in
      var use = Self.use(of: token, in: &uses, now)
      let interval = Self.window / .seconds(1) / Double(rate)
      let left = max(0, use.notifications - (now - use.counted) / .seconds(interval))
      guard left <= Double(rate - 1) else { return (left - Double(rate - 1)) * interval }
      (use.notifications, use.counted) = (left + 1, now)
      uses[token] = use
      return nil
    }
    guard let wait else { return }
    let seconds = max(1, Int(wait.rounded(.up)))
    throw ServiceError(
      .tooManyRequests,
      "This access token may send \(rate) notifications a minute; try again in \(seconds) s.",
      retryAfter: seconds)
  }

  private static func use(
    of token: Int, in uses: inout [Int: Use], _ now: ContinuousClock.Instant
  ) -> Use {
    if let use = uses[token] { return use }
    if uses.count >= capacity {
      uses = uses.filter {
        now - max($0.value.stored ?? $0.value.counted, $0.value.counted) < window
      }
      if uses.count >= capacity { uses.removeAll() }
    }
    return Use(counted: now)
  }
}
