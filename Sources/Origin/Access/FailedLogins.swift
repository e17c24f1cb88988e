import HTTP
import Primitives
import Synchronization

/// Limits password guessing: after too many failures a name has to wait at an address, at every address from which
/// its user has not signed in before, and an address has to wait with every name.
///
/// An address has a larger limit than a name, which grows with the users who have signed in there: the wrong password
/// of one does not keep out the others behind it. Unknown names are treated like known ones, so that responses do not
/// reveal which exist. An IPv6 address counts as its /64, but that its user is known counts for the address alone.
final class FailedLogins: Sendable {
  /// The number of failures of a name without a delay.
  private static let burst = 10.0
  /// An address has that number ten times, and once more for each user who has signed in there.
  private static let firstUsers = 10
  /// An address has that number at most so many times.
  private static let mostUsers = 100
  /// The seconds after which one failure of a name no longer counts.
  private let interval: Double
  private let clock: any SteadyClock
  private static let capacity = 100_000

  /// What failures are counted for; a network is an IPv4 address, or the /64 of an IPv6 address.
  private enum Subject: Hashable {
    case login(name: String, network: String)
    case name(String)
    case network(String)
    /// Of codes to pair a device.
    case codes(network: String)
  }

  /// How many failures are without a delay, and how fast they are forgotten, so that after a minute none counts.
  private struct Limit {
    let burst: Double
    let interval: Double

    /// The seconds until the next attempt; nil if there is no need to wait.
    func wait(_ failures: Double) -> Double? {
      failures > burst - 1 ? (failures - burst + 1) * interval : nil
    }
  }

  private struct Bucket {
    var failures: Double
    var at: ContinuousClock.Instant

    /// The number of failures that still count.
    func failures(_ now: ContinuousClock.Instant, _ limit: Limit) -> Double {
      max(0, failures - (now - at) / .seconds(limit.interval))
    }
  }

  private struct State {
    var buckets: [Subject: Bucket] = [:]
    /// Addresses and names of successful logins.
    var successes: Set<[String]> = []
    /// The users who have signed in, by network.
    var users: [String: Set<String>] = [:]
    var userCount = 0
  }

  private let state = Mutex(State())
  private let wrongCount = Atomic(0)
  private let limitedCount = Atomic(0)

  /// Passwords that were wrong.
  var wrong: Int { wrongCount.load(ordering: .relaxed) }
  /// Attempts that were rejected without checking the password.
  var limited: Int { limitedCount.load(ordering: .relaxed) }

  /// No failures so far; each of a name counts until `interval` seconds have passed for it.
  init(interval: Double = 6, clock: any SteadyClock = ContinuousClock()) {
    (self.interval, self.clock) = (interval, clock)
  }

  /// Whether the login, or many from its address's network, have failed recently.
  func isSuspect(_ name: String, from address: String) -> Bool {
    let (now, network) = (clock.now, IPAddress.network(address))
    return state.withLock { state in
      if failures(of: .login(name: name, network: network), state, now) > 0 { return true }
      return !state.successes.contains([address, name])
        && failures(of: .network(network), state, now) > Self.burst - 1
    }
  }

  /// The seconds that the address must wait before a login with the name; nil for none.
  func wait(_ name: String, from address: String) -> Int? {
    let (now, network) = (clock.now, IPAddress.network(address))
    let longest = state.withLock { state in
      let isKnown = state.successes.contains([address, name])
      let subjects =
        [.login(name: name, network: network), .network(network)]
        + (isKnown ? [] : [Subject.name(name)])
      return subjects.compactMap { limit(of: $0, state).wait(failures(of: $0, state, now)) }.max()
    }
    guard let longest else { return nil }
    limitedCount.add(1, ordering: .relaxed)
    return Int(longest.rounded(.up))
  }

  /// An address, a name, or a name at an address, for which passwords are not checked now.
  struct Refusal: Sendable {
    /// The address, or the network of an IPv6 address; nil if the name has to wait at all.
    var address: String?
    /// The name; nil if the address has to wait with all.
    var username: String?
    /// The failures that still count.
    let failures: Int
    /// The seconds until the next attempt.
    let wait: Int
  }

  /// Those who have to wait, the longest first, at most `limit`.
  func refusals(limit: Int) -> [Refusal] {
    let now = clock.now
    let found = state.withLock { state in
      state.buckets.keys.compactMap {
        subject -> (subject: Subject, failures: Double, wait: Double)? in
        let failures = failures(of: subject, state, now)
        return self.limit(of: subject, state).wait(failures).map { (subject, failures, $0) }
      }
    }
    return found.sorted { $0.wait > $1.wait }.prefix(limit).map { subject, failures, wait in
      let (address, name): (String?, String?) =
        switch subject {
        case .login(let name, let network): (network, name)
        case .name(let name): (nil, name)
        case .network(let network), .codes(let network): (network, nil)
        }
      return Refusal(
        address: address, username: name, failures: Int(failures.rounded(.up)),
        wait: Int(wait.rounded(.up)))
    }
  }

  /// Records a wrong password.
  func failed(_ name: String, from address: String) {
    let (now, network) = (clock.now, IPAddress.network(address))
    wrongCount.add(1, ordering: .relaxed)
    state.withLock { state in
      makeRoom(in: &state, now)
      for subject in [.login(name: name, network: network), .name(name), Subject.network(network)] {
        state.buckets[subject] = Bucket(failures: failures(of: subject, state, now) + 1, at: now)
      }
    }
  }

  /// Counts an attempt with a code to pair a device; returns the seconds that the address must wait instead, if too many
  /// codes were wrong.
  ///
  /// It is counted before the code is looked up, so that many at once are not too many; ``codeWasRight(from:)`` takes
  /// it back.
  func waitForCode(from address: String) -> Int? {
    count(.codes(network: IPAddress.network(address)))
  }

  /// Takes back that an attempt was counted: the code exists, or existed lately.
  func codeWasRight(from address: String) {
    takeBack(.codes(network: IPAddress.network(address)))
  }

  /// Counts a sign-in at a provider as a wrong password of an address; returns the seconds that the address must wait
  /// instead.
  ///
  /// ``signInWasRight(from:)`` takes it back.
  func waitForSignIn(from address: String) -> Int? { count(.network(IPAddress.network(address))) }

  /// Takes back that a sign-in was counted: it succeeded, or could not be judged.
  func signInWasRight(from address: String) { takeBack(.network(IPAddress.network(address))) }

  private func count(_ subject: Subject) -> Int? {
    let now = clock.now
    let wait = state.withLock { state in
      let failures = failures(of: subject, state, now)
      if let wait = limit(of: subject, state).wait(failures) { return Optional(wait) }
      makeRoom(in: &state, now)
      state.buckets[subject] = Bucket(failures: failures + 1, at: now)
      return nil
    }
    guard let wait else { return nil }
    limitedCount.add(1, ordering: .relaxed)
    return Int(wait.rounded(.up))
  }

  private func takeBack(_ subject: Subject) {
    let now = clock.now
    state.withLock { state in
      let failures = failures(of: subject, state, now) - 1
      state.buckets[subject] = failures > 0 ? Bucket(failures: failures, at: now) : nil
    }
  }

  /// Records a successful login.
  func succeeded(_ name: String, from address: String) {
    let network = IPAddress.network(address)
    state.withLock { state in
      if state.successes.count >= Self.capacity { state.successes.removeAll() }
      state.successes.insert([address, name])
      guard state.users[network]?.contains(name) != true,
        state.users[network]?.count ?? 0 < Self.mostUsers
      else { return }
      if state.userCount >= Self.capacity { (state.users, state.userCount) = ([:], 0) }
      state.users[network, default: []].insert(name)
      state.userCount += 1
    }
  }

  private func makeRoom(in state: inout State, _ now: ContinuousClock.Instant) {
    guard state.buckets.count >= Self.capacity else { return }
    state.buckets = state.buckets.filter { failures(of: $0.key, state, now) > 0 }
    if state.buckets.count >= Self.capacity { state.buckets.removeAll() }
  }

  private func failures(
    of subject: Subject, _ state: borrowing State, _ now: ContinuousClock.Instant
  ) -> Double {
    state.buckets[subject]?.failures(now, limit(of: subject, state)) ?? 0
  }

  private func limit(of subject: Subject, _ state: borrowing State) -> Limit {
    guard case .network(let network) = subject else {
      return Limit(burst: Self.burst, interval: interval)
    }
    let known = Self.firstUsers + (state.users[network]?.count ?? 0)
    let users = Double(min(known, Self.mostUsers))
    return Limit(burst: Self.burst * users, interval: interval / users)
  }
}
