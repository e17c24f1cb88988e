import Synchronization

/// What waits to be made by one plugin: so much is made at a time, and first what most wait for longest.
///
/// The line is as long as can be done in its patience. Whoever comes when it is full is told at once.
final class RenderLine: Sendable {
  private struct Place {
    let making: Making
    let turn: CheckedContinuation<Bool, Never>
    let since = ContinuousClock.now

    /// What they have waited together.
    func weight(at moment: ContinuousClock.Instant) -> Duration {
      (moment - since) * making.waiting
    }
  }

  private struct State {
    /// From the one that came first.
    var places: [Place] = []
    var running = 0
    var refused = 0
    /// What one took lately.
    var cost = Duration.milliseconds(5)

    /// Those who came before then.
    mutating func takeLate(_ then: ContinuousClock.Instant) -> ArraySlice<Place> {
      let late = places.prefix { $0.since < then }
      places.removeFirst(late.count)
      refused += late.count
      return late
    }

    mutating func takeNext(_ now: ContinuousClock.Instant) -> Place? {
      let weights = places.prefix(RenderLine.compared).map { $0.weight(at: now) }
      guard let heaviest = weights.max(), let index = weights.firstIndex(of: heaviest) else {
        return nil
      }
      return places.remove(at: index)
    }
  }

  /// So many of those in front are compared for each turn.
  private static let compared = 32
  private let state = Mutex(State())
  /// So much is made at a time.
  let width: Int
  private let patience: Duration

  init(width: Int, patience: Duration = .seconds(20)) {
    (self.width, self.patience) = (width, patience)
  }

  /// How many renditions wait, and how many had to be refused.
  var standing: (waiting: Int, refused: Int) {
    state.withLock { ($0.places.count, $0.refused) }
  }

  /// Makes something when its turn has come, or refuses with 503.
  func make(_ making: Making, by work: () async -> Making.Outcome) async -> Making.Outcome {
    let wait = state.withLock { $0.cost * $0.places.count / width }
    guard wait <= patience else {
      state.withLock { $0.refused += 1 }
      return .failure(Self.busy(wait))
    }
    let isMyTurn = await withCheckedContinuation { turn in
      let isFree = state.withLock { state in
        guard state.running < width else {
          state.places.append(Place(making: making, turn: turn))
          return false
        }
        state.running += 1
        return true
      }
      if isFree { turn.resume(returning: true) }
    }
    guard isMyTurn else { return .failure(Self.busy(patience)) }
    let begun = ContinuousClock.now
    let outcome = await work()
    leave(after: .now - begun)
    return outcome
  }

  private func leave(after time: Duration) {
    let now = ContinuousClock.now
    let (late, next) = state.withLock { state in
      state.cost = (state.cost * 7 + time) / 8
      let late = state.takeLate(now - patience)
      let next = state.takeNext(now)
      if next == nil { state.running -= 1 }
      return (late, next)
    }
    for place in late { place.turn.resume(returning: false) }
    next?.turn.resume(returning: true)
  }

  private static func busy(_ wait: Duration) -> Refusal {
    Refusal(
      503, "The plugin has more to do than it can; try again.",
      retryAfter: max(1, Int(wait / .seconds(1))))
  }
}
