import HTTP
import Synchronization

/// Limits password guessing: after some wrong passwords an address has to wait, and so has every
/// client that tries the same name.
///
/// Unknown names are treated alike, so responses do not reveal which exist. An address from which a
/// user has signed in before is not delayed by others who try the same name. Failures of an IPv6
/// address count for its /64; a successful login counts for the address alone.
final class FailedLogins: Sendable {
  /// The wrong passwords that are free; one more becomes free after each `interval`, in seconds.
  private static let burst = 10.0
  private let interval: Double
  private static let capacity = 100_000

  private struct Bucket {
    var failures: Double
    var at: ContinuousClock.Instant

    /// The failures that still count.
    func failures(_ now: ContinuousClock.Instant, _ interval: Double) -> Double {
      max(0, failures - (now - at) / .seconds(interval))
    }
  }

  private struct State {
    var buckets: [String: Bucket] = [:]
    var friends: Set<String> = []
  }

  private let state = Mutex(State())
  private let wrongCount = Atomic(0)
  private let limitedCount = Atomic(0)

  /// Passwords that were wrong.
  var wrong: Int { wrongCount.load(ordering: .relaxed) }
  /// Attempts that were rejected without checking the password.
  var limited: Int { limitedCount.load(ordering: .relaxed) }

  /// Counts what fails from now on; one more attempt is free after each `interval`, in seconds.
  init(interval: Double = 6) { self.interval = interval }

  /// Whether a password from the address was wrong, not long ago.
  func hasFailed(from address: String) -> Bool {
    let (now, network) = (ContinuousClock.now, IPAddress.network(address))
    return state.withLock { ($0.buckets["a " + network]?.failures(now, interval) ?? 0) > 0 }
  }

  /// How many seconds the address must wait before the name is looked at; nil when it need not.
  func wait(_ name: String, from address: String) -> Int? {
    let (now, network) = (ContinuousClock.now, IPAddress.network(address))
    let worst = state.withLock { state in
      let isFriend = state.friends.contains(address + " " + name)
      return (["a " + network] + (isFriend ? [] : ["n " + name])).map {
        state.buckets[$0]?.failures(now, interval) ?? 0
      }.max() ?? 0
    }
    guard worst > Self.burst - 1 else { return nil }
    limitedCount.add(1, ordering: .relaxed)
    return Int(((worst - Self.burst + 1) * interval).rounded(.up))
  }

  /// Records a wrong password.
  func failed(_ name: String, from address: String) {
    let (now, network) = (ContinuousClock.now, IPAddress.network(address))
    wrongCount.add(1, ordering: .relaxed)
    state.withLock { state in
      if state.buckets.count >= Self.capacity {
        state.buckets = state.buckets.filter { $0.value.failures(now, interval) > 0 }
        if state.buckets.count >= Self.capacity { state.buckets.removeAll() }
      }
      for key in ["a " + network, "n " + name] {
        state.buckets[key] = Bucket(
          failures: (state.buckets[key]?.failures(now, interval) ?? 0) + 1, at: now)
      }
    }
  }

  /// Records a successful login.
  func succeeded(_ name: String, from address: String) {
    state.withLock { state in
      if state.friends.count >= Self.capacity { state.friends.removeAll() }
      state.friends.insert(address + " " + name)
    }
  }
}
