import Synchronization

/// When numbered things, such as users, were last changed: what was remembered before must be read again.
///
/// Some numbers share a moment, so that what is remembered of them is read more often than needed.
package final class ChangeClock: Sendable {
  /// A moment between two changes.
  package typealias Moment = Int

  private static let remainders = 4096
  private let now = Atomic<Moment>(0)
  /// The moment of the last change of everything.
  private let all = Atomic<Moment>(0)
  /// The moment of the last change of the numbers with the same remainder.
  private let moments = InlineArray<4096, Atomic<Moment>> { _ in Atomic(0) }
  /// Held while a moment begins.
  private let turn = Mutex<Void>(())

  /// A clock at the moment 0.
  package init() {}

  /// The present moment, to be asked for before the thing is read.
  package var moment: Moment { now.load(ordering: .sequentiallyConsistent) }

  /// Whether the thing was changed after the moment.
  package func hasChanged(_ number: Int, since moment: Moment) -> Bool {
    moments[number & (Self.remainders - 1)].load(ordering: .acquiring) > moment
      || all.load(ordering: .acquiring) > moment
  }

  /// Begins a moment, and returns it.
  package func begin() -> Moment { advance { _ in } }

  /// Makes everything that was remembered before a moment began be read again.
  package func end(before moment: Moment) { all.max(moment, ordering: .sequentiallyConsistent) }

  /// Records a change, which was made before; of everything without a number.
  package func record(_ number: Int?) {
    _ = advance { moment in
      if let number {
        moments[number & (Self.remainders - 1)].store(moment, ordering: .sequentiallyConsistent)
      } else {
        all.max(moment, ordering: .sequentiallyConsistent)
      }
    }
  }

  /// Begins a moment once what happens in it is recorded, so that what is found unchanged after it began was
  /// not changed before.
  private func advance(_ record: (Moment) -> Void) -> Moment {
    turn.withLock { _ in
      let moment = now.load(ordering: .relaxed) + 1
      record(moment)
      now.store(moment, ordering: .sequentiallyConsistent)
      return moment
    }
  }
}
