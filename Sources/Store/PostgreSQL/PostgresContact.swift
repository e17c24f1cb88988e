import Dispatch
import Primitives
import Synchronization

/// When the database last gave a sign of life, and when the listener last heard from it.
///
/// Statements fail at once while there was no sign of life for five seconds: each would wait as long for its
/// own time limit. The listener goes on trying, so one of its answers lets statements through again.
final class PostgresContact: Sendable {
  /// Without a sign of life for so long, statements are not sent.
  private static let patience = Duration.seconds(5)
  /// So much later than the listener, others have heard from the database if its connection is lost alone.
  private static let delay = Duration.seconds(3)
  private static let interval = DispatchTimeInterval.seconds(1)

  private let clock: any SteadyClock
  private let start: ContinuousClock.Instant
  /// Nanoseconds after `start`.
  private let life = Atomic<Int64>(0)
  private let heard = Atomic<Int64>(0)
  private let isOutdated = Atomic(false)
  /// What tells for how long this process could have heard from the database, and the last sign of life by it.
  private let running: Mutex<(clock: RunningClock, life: Duration)>
  private let queue = DispatchQueue(label: "store.contact")

  /// Tells observers every second for how long the listener has not heard from the database.
  init(observers: CommitObservers, clock: any SteadyClock = ContinuousClock()) {
    (self.clock, start) = (clock, clock.now)
    running = Mutex((RunningClock(start), .zero))
    tellEverySecond(observers)
  }

  /// Records that the server has answered, or has refused to.
  func recordLife() {
    life.store(now, ordering: .relaxed)
    running.withLock { $0.life = $0.clock.advance(to: clock.now) }
  }

  /// Records that the listener has received all messages so far.
  func recordHearing() {
    recordLife()
    heard.store(now, ordering: .relaxed)
  }

  /// Records whether the tables are those of a later version, which this one does not know.
  func record(isOutdated: Bool) { self.isOutdated.store(isOutdated, ordering: .relaxed) }

  /// Throws if it is of no use to send a statement.
  func requireLife() throws {
    if isOutdated.load(ordering: .relaxed) { throw PostgresSchema.outdated }
    let silence = running.withLock { $0.clock.advance(to: clock.now) - $0.life }
    guard silence < Self.patience else {
      throw StoreError.unavailable("it has not answered for \(silence.components.seconds) s")
    }
  }

  private func tellEverySecond(_ observers: CommitObservers) {
    queue.asyncAfter(deadline: .now() + Self.interval) { [weak self] in
      self?.tell(observers)
      self?.tellEverySecond(observers)
    }
  }

  /// Tells observers for how long the listener has not heard from the database.
  func tell(_ observers: CommitObservers) {
    running.withLock { _ = $0.clock.advance(to: clock.now) }
    let (now, heard) = (now, heard.load(ordering: .relaxed))
    // The database is there, but does not tell of changes: whatever was read must be read again.
    if Duration.nanoseconds(life.load(ordering: .relaxed) - heard) > Self.delay {
      observers.onEverything(())
    }
    observers.onHearing(.nanoseconds(now - heard))
  }

  private var now: Int64 {
    let (seconds, attoseconds) = (clock.now - start).components
    return seconds * 1_000_000_000 + attoseconds / 1_000_000_000
  }
}

/// A clock that stands still while this process does: a virtual machine may be suspended for seconds, in which
/// nothing is heard of a database that is there.
struct RunningClock {
  /// The longest time between two calls of a process that runs; there is one at least every second.
  private static let longestStep = Duration.seconds(2)

  private var last: ContinuousClock.Instant
  private var elapsed = Duration.zero

  /// Begins at a time.
  init(_ start: ContinuousClock.Instant) { last = start }

  /// The time since the beginning.
  mutating func advance(to now: ContinuousClock.Instant) -> Duration {
    elapsed += min(now - last, Self.longestStep)
    last = now
    return elapsed
  }
}
