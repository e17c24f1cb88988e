import Synchronization

/// How the calls of one plugin went: how many, how many failed, and how long they took.
final class Timings: Sendable {
  private struct State {
    var calls = 0
    var verbs: [PluginCall.Verb: PluginStatus.Verb] = [:]
    var failures = 0
    var lastFailure: String?
    /// Microseconds of the last calls, the oldest overwritten first.
    var recent: [Int32] = []
    /// How many there were.
    var timed = 0
    /// How many were waited for on the thread that asked, and in microseconds how long it was held up
    /// of late.
    var tried = 0
    var hold = 0.0
    /// How many were not tried so.
    var passed = 0

    var isQuick: Bool { hold < Timings.longestHold }

    mutating func note(_ duration: Duration) {
      let time = Int32(clamping: duration.microseconds)
      if recent.count < Timings.kept {
        recent.append(time)
      } else {
        recent[timed % Timings.kept] = time
      }
      timed += 1
    }
  }

  /// How long a thread is held up by one call at most, and in microseconds what it bears on average.
  ///
  /// A wait that would end before the kernel's next tick has to set the hardware's timer, which costs as
  /// much as a quick plugin does.
  private static let patience = Duration.milliseconds(5)
  private static let longestHold = 400.0
  /// However long one took, it counts as no more: a single hold-up is forgiven.
  private static let worstHold = Duration.milliseconds(1)
  /// After so many calls a slow plugin is tried anew: on a busy machine everything is slow at times.
  private static let trial = 256
  private static let kept = 512
  private let state = Mutex(State())

  /// Whether it is known to answer so fast that changing threads would take as long.
  var isQuick: Bool { state.withLock { $0.tried > 3 && $0.isQuick } }

  /// How long the next call shall be waited for on the thread that asks.
  func patience() -> Duration {
    state.withLock { state in
      if !state.isQuick {
        state.passed += 1
        if state.passed % Timings.trial == 0 { state.hold = 0 }
      }
      return state.isQuick ? Timings.patience : .zero
    }
  }

  /// Notes how long a call took for which there was that patience.
  func noteHold(_ duration: Duration, of patience: Duration) {
    guard patience > .zero else { return }
    let time = Double(min(duration, Timings.worstHold).microseconds)
    state.withLock { state in
      state.tried += 1
      state.hold += (time - state.hold) / 8
    }
  }

  /// Counts a call.
  ///
  /// - Parameters:
  ///   - verb: What was asked.
  ///   - duration: From its turn to its end; nil when its turn never came.
  ///   - fault: What became of it instead of a reply; a refusal is none of the plugin's failures.
  func count(_ verb: PluginCall.Verb, _ duration: Duration?, _ fault: Fault? = nil) {
    state.withLock { state in
      if let duration { state.note(duration) }
      state.calls += 1
      let isFailure = fault.map { $0.error.status >= 500 } ?? false
      state.verbs[verb, default: .init()].add(duration ?? .zero, isFailure: isFailure)
      if let fault, isFailure {
        state.failures += 1
        state.lastFailure = fault.cause
      }
    }
  }

  /// All of it.
  var summary: PluginStatus.Calls {
    let state = state.withLock { $0 }
    let sorted = state.recent.sorted()
    func quantile(_ share: Double) -> Duration? {
      sorted.isEmpty
        ? nil : .microseconds(Int(sorted[min(sorted.count - 1, Int(share * Double(sorted.count)))]))
    }
    return PluginStatus.Calls(
      count: state.calls, failures: state.failures, lastFailure: state.lastFailure,
      median: quantile(0.5), slowest: quantile(0.95),
      verbs: Dictionary(uniqueKeysWithValues: state.verbs.map { ($0.key.rawValue, $0.value) }))
  }
}
