import Primitives
import Synchronization

/// Limits for how long a node uses what it has read from a database that other nodes change.
///
/// While it hears what they have committed, that is valid until it hears of a change. Once it has heard nothing
/// for five seconds, only what was read within the last minute is used.
final class CacheTrust: Sendable {
  /// A time at which the node heard from the database, and what began then on each of the clocks.
  private struct Mark {
    let time: ContinuousClock.Instant
    let moments: [ChangeClock.Moment]
  }

  private static let patience = Duration.seconds(5)
  private static let validity = Duration.seconds(60)

  private let clocks: [ChangeClock]
  /// The last minute's, oldest first.
  private let marks = Mutex<[Mark]>([])

  /// Ends what is remembered with these clocks.
  init(_ clocks: [ChangeClock]) { self.clocks = clocks }

  /// Called every second with how long ago the node last heard from the database.
  func update(silence: Duration, at now: ContinuousClock.Instant = .now) {
    let heard = now - silence
    marks.withLock { marks in
      while marks.count > 1, marks[1].time < now - Self.validity { marks.removeFirst() }
      if silence >= Self.patience { return end(marks, at: now) }
      if let last = marks.last, last.time >= heard { return }
      marks.append(Mark(time: heard, moments: clocks.map { $0.begin() }))
    }
  }

  /// Ends what was read before the last minute.
  private func end(_ marks: [Mark], at now: ContinuousClock.Instant) {
    // What was read between two marks may be as old as the first.
    guard let first = marks.first, first.time < now - Self.validity else { return }
    if marks.count > 1 {
      for (clock, moment) in zip(clocks, marks[1].moments) { clock.end(before: moment) }
    } else {
      for clock in clocks { clock.record(nil) }
    }
  }
}
