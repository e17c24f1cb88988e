import Primitives
import Synchronization

/// Tells each login whose password cannot be hashed soon when to come back, so that they do not come together.
///
/// Turns are given out at the rate at which passwords are hashed. A login whose turn is near waits for it; another
/// gets a reservation, and need not wait when it comes back at that moment.
final class LoginReservations: Sendable {
  /// A name and the address that sent it.
  typealias Login = KeyedHash.Value
  typealias Instant = ContinuousClock.Instant

  /// When a login's password can be hashed.
  enum Turn: Equatable, Sendable {
    case now
    /// Reserved, after this time.
    case reserved(Duration)
    /// Not before this time; nothing is reserved yet.
    case distant(Duration)
  }

  private struct Entry {
    let turn: Instant
    let isTrusted: Bool
    /// Whether it is being verified now.
    var isAdmitted = false
  }

  private struct State {
    var entries: [Login: Entry] = [:]
    /// The reservations in the order of their turns, some of which have ended; those before `first` have lapsed.
    var order: [(login: Login, turn: Instant)] = []
    var first = 0
    var untrusted = 0
    /// The next turn that is free: that of clients with recent failures, and that of all others.
    var nextTurn: [Bool: Instant] = [:]
  }

  private let state = Mutex(State())
  private let hash = KeyedHash()
  /// The most reservations; only the trusted ones take the last half.
  private let capacity: Int

  /// A login whose turn is nearer waits for it.
  static let longestHold = Duration.seconds(5)
  /// How long after its turn a reservation lasts.
  static let grace = Duration.seconds(60)
  /// A client that is told a whole number of seconds may come this much early.
  private static let tolerance = Duration.seconds(1)

  init(capacity: Int = 100_000) { self.capacity = capacity }

  /// The login with this name from this address.
  func login(_ name: String, from address: String) -> Login { hash(address + " " + name) }

  /// The number of reservations, and of logins that are being verified.
  var count: Int { state.withLock { $0.entries.count } }

  /// Gives the login its turn if that is now; ``end(_:)`` must follow.
  ///
  /// `interval` is the time between two turns of clients that are like this one: suspect or not.
  func turn(
    of login: Login, isSuspect: Bool, every interval: Duration, at now: Instant = .now
  ) -> Turn {
    state.withLock { state in
      removeLapsed(&state, now)
      if let entry = state.entries[login] {
        let wait = entry.turn - now
        guard entry.isAdmitted || wait <= Self.tolerance else { return .reserved(wait) }
        state.entries[login]?.isAdmitted = true
        return .now
      }
      let turn = max(state.nextTurn[isSuspect] ?? now, now)
      guard turn - now <= Self.longestHold else { return .distant(turn - now) }
      state.nextTurn[isSuspect] = turn + interval
      insert(Entry(turn: turn, isTrusted: true, isAdmitted: true), login, &state)
      return .now
    }
  }

  /// Reserves the next turn for a login, unless there are too many.
  ///
  /// Names of users are trusted, from addresses without recent failures.
  func reserve(
    _ login: Login, isTrusted: Bool, isSuspect: Bool, every interval: Duration,
    at now: Instant = .now
  ) -> Turn {
    state.withLock { state in
      let turn = max(state.nextTurn[isSuspect] ?? now, now)
      if let entry = state.entries[login] { return .reserved(entry.turn - now) }
      guard state.entries.count < capacity, isTrusted || state.untrusted < capacity / 2 else {
        return .distant(turn - now)
      }
      state.nextTurn[isSuspect] = turn + interval
      insert(Entry(turn: turn, isTrusted: isTrusted), login, &state)
      state.order.append((login, turn))
      return .reserved(turn - now)
    }
  }

  /// Ends the turn of a login that was verified.
  func end(_ login: Login) { state.withLock { remove(login, &$0) } }

  private func insert(_ entry: Entry, _ login: Login, _ state: inout State) {
    state.entries[login] = entry
    if !entry.isTrusted { state.untrusted += 1 }
  }

  private func remove(_ login: Login, _ state: inout State) {
    guard let entry = state.entries.removeValue(forKey: login) else { return }
    if !entry.isTrusted { state.untrusted -= 1 }
  }

  /// Suspects have turns of their own, so that the order is not exact; a reservation then lasts a little longer.
  private func removeLapsed(_ state: inout State, _ now: Instant) {
    while state.first < state.order.count, state.order[state.first].turn + Self.grace < now {
      let (login, turn) = state.order[state.first]
      if let entry = state.entries[login], entry.turn == turn, !entry.isAdmitted {
        remove(login, &state)
      }
      state.first += 1
    }
    if state.first > 1024, state.first > state.order.count / 2 {
      state.order.removeFirst(state.first)
      state.first = 0
    }
  }
}
