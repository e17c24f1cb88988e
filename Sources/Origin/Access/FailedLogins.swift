import HTTP
import Synchronization

/// Limits password guessing: after too many failures, an address has to wait, and so does every client
/// that tries the same name.
///
/// Unknown names are treated like known ones, so that responses do not reveal which exist. A user is
/// not delayed on an address from which they have signed in before by others who try the same name.
/// Failures of an IPv6 address count for its /64; a successful login counts for the address alone.
final class FailedLogins: Sendable {
  /// The number of failures without a delay.
  private static let burst = 10.0
  /// The seconds after which one failure no longer counts.
  private let interval: Double
  private static let capacity = 100_000

  private struct Bucket {
    var failures: Double
    var at: ContinuousClock.Instant

    /// The number of failures that still count.
    func failures(_ now: ContinuousClock.Instant, _ interval: Double) -> Double {
      max(0, failures - (now - at) / .seconds(interval))
    }
  }

  private struct State {
    var buckets: [String: Bucket] = [:]
    /// Addresses and names of successful logins.
    var successes: Set<String> = []
  }

  private let state = Mutex(State())
  private let wrongCount = Atomic(0)
  private let limitedCount = Atomic(0)

  /// Passwords that were wrong.
  var wrong: Int { wrongCount.load(ordering: .relaxed) }
  /// Attempts that were rejected without checking the password.
  var limited: Int { limitedCount.load(ordering: .relaxed) }

  /// No failures so far; each counts until `interval` seconds have passed for it.
  init(interval: Double = 6) { self.interval = interval }

  /// Whether a login from the address's network has failed recently.
  func hasFailed(from address: String) -> Bool {
    let (now, network) = (ContinuousClock.now, IPAddress.network(address))
    return state.withLock { ($0.buckets["a " + network]?.failures(now, interval) ?? 0) > 0 }
  }

  /// The seconds that the address must wait before a login with the name; nil for none.
  func wait(_ name: String, from address: String) -> Int? {
    let (now, network) = (ContinuousClock.now, IPAddress.network(address))
    let worst = state.withLock { state in
      let isKnown = state.successes.contains(address + " " + name)
      return (["a " + network] + (isKnown ? [] : ["n " + name])).map {
        state.buckets[$0]?.failures(now, interval) ?? 0
      }.max() ?? 0
    }
    guard worst > Self.burst - 1 else { return nil }
    limitedCount.add(1, ordering: .relaxed)
    return Int(((worst - Self.burst + 1) * interval).rounded(.up))
  }

  /// An address or a name for which passwords are not checked now.
  struct Refusal: Sendable {
    /// The address, or the network of an IPv6 address.
    var address: String?
    /// The name.
    var username: String?
    /// The failures that still count.
    let failures: Int
    /// The seconds until the next attempt.
    let wait: Int
  }

  /// Those who have to wait, the longest first, at most `limit`.
  func refusals(limit: Int) -> [Refusal] {
    let now = ContinuousClock.now
    let found = state.withLock { state in
      state.buckets.compactMap { key, bucket -> (key: String, failures: Double)? in
        let failures = bucket.failures(now, interval)
        return failures > Self.burst - 1 ? (key, failures) : nil
      }
    }
    return found.sorted { $0.failures > $1.failures }.prefix(limit).map { key, failures in
      let name = String(key.dropFirst(2))
      return Refusal(
        address: key.hasPrefix("a ") ? name : nil, username: key.hasPrefix("n ") ? name : nil,
        failures: Int(failures.rounded(.up)),
        wait: Int(((failures - Self.burst + 1) * interval).rounded(.up)))
    }
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
      if state.successes.count >= Self.capacity { state.successes.removeAll() }
      state.successes.insert(address + " " + name)
    }
  }
}
