import HTTP
import Primitives
import Synchronization

/// Limits how often people sign up from one address; an IPv6 address counts as its /64.
final class SignUpLimiter: Sendable {
  /// In an hour.
  static let most = 5
  private static let window = Duration.seconds(3600)
  private static let capacity = 100_000
  private let clock: any SteadyClock
  /// When somebody has signed up within the last hour, by network, the first first.
  private let times = Mutex<[String: [ContinuousClock.Instant]]>([:])

  /// Nobody has signed up so far.
  init(clock: any SteadyClock) { self.clock = clock }

  /// Counts a sign-up; returns the seconds until the next one is possible instead, if there were too many.
  func wait(from address: String) -> Int? {
    let (now, network) = (clock.now, IPAddress.network(address))
    return times.withLock { times in
      if times.count >= Self.capacity {
        times = times.filter { $0.value.last.map { now - $0 < Self.window } ?? false }
        if times.count >= Self.capacity { times.removeAll() }
      }
      let recent = times[network, default: []].filter { now - $0 < Self.window }
      if recent.count >= Self.most {
        times[network] = recent
        return max(1, Int(((Self.window - (now - recent[0])) / .seconds(1)).rounded(.up)))
      }
      times[network] = recent + [now]
      return nil
    }
  }
}
