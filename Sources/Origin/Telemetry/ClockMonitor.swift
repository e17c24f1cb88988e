import FoundationEssentials
import Primitives
import Store
import Synchronization

/// Notices when the wall clock of the machine is set, and when it differs from that of the PostgreSQL server.
///
/// All times that are stored are the wall clock's: what is scheduled and what is tried again, leases of pushes, and the
/// ends of sessions, codes and links.
final class ClockMonitor: Sendable {
  private struct State {
    var wall: Date
    var steady: ContinuousClock.Instant
    var jumps = 0
    var jumped: ContinuousClock.Instant?
    var compared: ContinuousClock.Instant?
    var ahead: TimeInterval?
  }

  private let store: Store
  private let conditions: Conditions
  private let clock: any SteadyClock
  private let now: @Sendable () -> Date
  private let state: Mutex<State>

  private static let interval = Duration.seconds(1)
  /// A clock that is corrected without being set moves by less than a millisecond in that time.
  private static let leastJump: TimeInterval = 3
  /// How long a jump is something to look at.
  private static let validity = Duration.seconds(3600)
  private static let comparisonInterval = Duration.seconds(60)
  /// Less is of no consequence for leases, and less than a busy machine may take to answer.
  private static let tolerance: TimeInterval = 5

  /// `clock` goes on while the machine is suspended, as the wall clock does.
  init(
    store: Store, conditions: Conditions, clock: any SteadyClock = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() }
  ) {
    (self.store, self.conditions, self.clock, self.now) = (store, conditions, clock, now)
    state = Mutex(State(wall: now(), steady: clock.now))
  }

  /// How often the clock was set since the start.
  var jumps: Int { state.withLock(\.jumps) }

  /// How many seconds the clock of the PostgreSQL server is ahead; nil if that is not known.
  var databaseAhead: TimeInterval? { state.withLock(\.ahead) }

  /// Looks from time to time, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      check()
      await compare()
      try? await clock.sleep(for: Self.interval)
    }
  }

  /// Compares the wall clock with the steady one.
  func check() {
    let (wall, steady) = (now(), clock.now)
    let (jump, isOver) = state.withLock { state in
      let jump = wall.timeIntervalSince(state.wall) - (steady - state.steady) / .seconds(1)
      (state.wall, state.steady) = (wall, steady)
      if abs(jump) >= Self.leastJump {
        state.jumps += 1
        state.jumped = steady
        return (Optional(jump), false)
      }
      let isOver = state.jumped.map { steady - $0 >= Self.validity } ?? false
      if isOver { state.jumped = nil }
      return (nil, isOver)
    }
    if let jump {
      let effect =
        jump < 0
        ? "what is scheduled, and pushes that are tried again, wait so much longer"
        : "what was scheduled until then is sent, and sessions and links may have ended early"
      conditions.begin(
        .clockJumped,
        "the clock was set \(jump < 0 ? "back" : "forward") by \(Self.text(abs(jump))): \(effect); check that it is "
          + "right and kept so: timedatectl, chronyc tracking", count: Self.seconds(jump))
    }
    if isOver { conditions.set(.clockJumped, nil) }
  }

  /// Compares the wall clock with that of the PostgreSQL server, if a minute has passed.
  func compare() async {
    let time = clock.now
    let isDue = state.withLock { state in
      guard state.compared.map({ time - $0 >= Self.comparisonInterval }) ?? true else {
        return false
      }
      state.compared = time
      return true
    }
    // While the database is away nothing is known of its clock.
    guard isDue, let difference = try? await store.databaseClock() else { return }
    state.withLock { $0.ahead = difference.ahead }
    let isSame = abs(difference.ahead) <= Self.tolerance + difference.error
    conditions.set(
      .clockDiffers,
      isSame
        ? nil
        : """
        this machine's clock is \(Self.text(abs(difference.ahead))) \(difference.ahead > 0 ? "behind" : "ahead of") \
        that of the PostgreSQL server: nodes whose clocks differ send again what another sends, or wait for it; \
        check both: timedatectl, chronyc tracking
        """, count: -Self.seconds(difference.ahead))
  }

  private static func seconds(_ time: TimeInterval) -> Int {
    Int(Swift.max(-1e12, Swift.min(time, 1e12)).rounded())
  }

  /// Such as `2 h 5 min`.
  private static func text(_ seconds: TimeInterval) -> String {
    let total = Int(min(seconds, 1e12).rounded())
    let (days, hours, minutes) = (total / 86_400, total / 3600 % 24, total / 60 % 60)
    let parts = [(days, "d"), (hours, "h"), (minutes, "min"), (total % 60, "s")]
    let shown = parts.drop { $0.0 == 0 }.prefix(2).filter { $0.0 > 0 }
    return shown.map { "\($0.0) \($0.1)" }.joined(separator: " ")
  }
}
