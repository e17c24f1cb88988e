package import FoundationEssentials
import Synchronization

/// The state of one plugin in this server.
package struct PluginStatus: Sendable {
  /// The processes that are kept between calls.
  package struct Processes: Sendable, Hashable {
    package var idle, busy: Int
    /// The limit.
    package var maximum: Int

    package init(idle: Int = 0, busy: Int = 0, maximum: Int = 0) {
      (self.idle, self.busy, self.maximum) = (idle, busy, maximum)
    }
  }

  /// The calls that run or wait.
  package struct Queue: Sendable, Hashable {
    package var running = 0, waiting = 0
    /// Calls rejected because too many waited, or for too long.
    package var rejected = 0
    /// Whether calls wait although none has ended for twice the queue's timeout.
    package var isStalled = false
  }

  /// The calls of one verb since the server started.
  package struct Verb: Sendable, Hashable {
    package var count = 0, failures = 0
    /// Their total duration, without the time in the queue.
    package var time = Duration.zero
  }

  /// All calls since the server started.
  package struct Calls: Sendable, Hashable {
    package var count = 0
    /// Calls that failed through the plugin's or the server's fault (``PluginError/Code/isFailure``).
    package var failures = 0
    /// The cause of the last failure, as in the log.
    package var lastFailure: String?
    /// When that was.
    package var lastFailureTime: Date?
    /// The end of what the plugin wrote to its standard error in that call; may be empty.
    package var lastFailureOutput = ""
    /// The median and the 95th percentile of the last 512 durations; nil before the first call.
    package var median: Duration?
    package var percentile95: Duration?
    /// By verb, such as `render`.
    package var verbs: [String: Verb] = [:]
  }

  /// The plugin as its folder has it now.
  package let plugin: Plugin
  package let processes: Processes
  package let queue: Queue
  package let calls: Calls
}

/// Counts the calls of one plugin, and measures how long they take.
final class CallStatistics: Sendable {
  private struct State {
    var calls = PluginStatus.Calls()
    /// The microseconds of the last calls; the oldest is overwritten first.
    var durations: [Int32] = []
    var measured = 0
  }

  /// Enough for a stable 95th percentile, few enough to sort on request.
  private static let kept = 512
  private let state = Mutex(State())

  /// Counts a call.
  ///
  /// - Parameters:
  ///   - verb: The call's verb.
  ///   - duration: From its admission to its end; nil if it was not admitted.
  ///   - error: Why it has no reply. A refusal does not count as a failure.
  ///   - output: The end of what the plugin wrote to its standard error.
  func count(
    _ verb: PluginCall.Verb, _ duration: Duration?, _ error: PluginError? = nil,
    output: String = ""
  ) {
    state.withLock { state in
      if let duration {
        let microseconds = Int32(clamping: duration.microseconds)
        if state.durations.count < Self.kept {
          state.durations.append(microseconds)
        } else {
          state.durations[state.measured % Self.kept] = microseconds
        }
        state.measured += 1
      }
      state.calls.count += 1
      state.calls.verbs[verb.rawValue, default: .init()].count += 1
      state.calls.verbs[verb.rawValue]?.time += duration ?? .zero
      guard let error, error.code.isFailure else { return }
      state.calls.failures += 1
      state.calls.verbs[verb.rawValue]?.failures += 1
      state.calls.lastFailure = error.cause
      state.calls.lastFailureTime = Date()
      state.calls.lastFailureOutput = output
    }
  }

  /// Everything counted so far.
  var summary: PluginStatus.Calls {
    var (calls, sorted) = state.withLock { ($0.calls, $0.durations) }
    sorted.sort()
    func quantile(_ share: Double) -> Duration? {
      guard let last = sorted.last else { return nil }
      let index = Int(share * Double(sorted.count))
      return .microseconds(Int(index < sorted.count ? sorted[index] : last))
    }
    (calls.median, calls.percentile95) = (quantile(0.5), quantile(0.95))
    return calls
  }
}

extension Duration {
  /// Whole microseconds, at least 0 and at most about as many as an Int counts: `idleSeconds` may be any number.
  var microseconds: Int {
    let seconds = min(max(components.seconds, -1), .max / 1_000_001)
    return max(0, Int(seconds) * 1_000_000 + Int(components.attoseconds / 1_000_000_000_000))
  }

  /// Whole milliseconds, at least 0.
  var milliseconds: Int { microseconds / 1000 }
}
