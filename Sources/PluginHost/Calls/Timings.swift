import Synchronization

/// How the calls of one plugin went: how many, how many failed, and how long they took.
final class Timings: Sendable {
  private struct State {
    var calls = 0
    var verbs: [String: PluginStatus.Verb] = [:]
    var failures = 0
    var lastFailure: String?
    /// Microseconds of the last calls, the oldest overwritten first.
    var recent: [Int32] = []
    /// A moving average, in microseconds.
    var usual = 0.0
  }

  private static let kept = 512
  private let state = Mutex(State())

  /// Whether it answers so fast that changing threads would take as long.
  var isQuick: Bool { state.withLock { $0.calls > 3 && $0.usual < 400 } }

  /// Counts a call; `failure` is the cause of one that the plugin is to blame for.
  func count(_ verb: PluginCall.Verb, _ duration: Duration, failure: String? = nil) {
    let time = duration.microseconds
    state.withLock { state in
      if state.recent.count < Timings.kept {
        state.recent.append(Int32(clamping: time))
      } else {
        state.recent[state.calls % Timings.kept] = Int32(clamping: time)
      }
      state.calls += 1
      state.verbs[verb.rawValue, default: .init()].count += 1
      state.verbs[verb.rawValue, default: .init()].time += duration
      state.usual += (Double(time) - state.usual) / 8
      if let failure {
        state.failures += 1
        state.verbs[verb.rawValue, default: .init()].failures += 1
        state.lastFailure = failure
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
      median: quantile(0.5), slowest: quantile(0.95), verbs: state.verbs)
  }
}
