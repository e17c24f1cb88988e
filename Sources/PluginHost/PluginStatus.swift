/// How a plugin fares in this server.
package struct PluginStatus: Sendable {
  /// Its processes that stay.
  package struct Processes: Sendable, Hashable {
    package var idle = 0
    package var busy = 0
    /// The most there may be.
    package var most = 0

    /// None at all.
    package init() {}

    init(idle: Int, busy: Int, most: Int) { (self.idle, self.busy, self.most) = (idle, busy, most) }
  }

  /// Those who wait for their turn with it.
  package struct Queue: Sendable, Hashable {
    /// Calls under way, and those that wait.
    package var running = 0, waiting = 0
    /// Calls that were refused because too many waited, or for too long.
    package var refused = 0
    /// Whether calls wait in vain: for twice the patience of the queue none was over.
    package var isStuck = false
  }

  /// The calls of one verb since the server started.
  package struct Verb: Sendable, Hashable {
    package var count = 0, failures = 0
    /// The time they took together, from their turn on.
    package var time = Duration.zero

    mutating func add(_ time: Duration, isFailure: Bool) {
      count += 1
      failures += isFailure ? 1 : 0
      self.time += time
    }
  }

  /// The calls of it since the server started.
  package struct Calls: Sendable, Hashable {
    package var count = 0
    /// Those that ended with 502, 503 or 504.
    package var failures = 0
    /// The cause of the last of them.
    package var lastFailure: String?
    /// Of the last 512 calls, half were faster; nil before the first.
    package var median: Duration?
    /// Of the last 512 calls, 95 in 100 were faster; nil before the first.
    package var slowest: Duration?
    /// By verb, such as `render`.
    package var verbs: [String: Verb] = [:]
  }

  /// The plugin as its folder has it at this moment.
  package let plugin: Plugin
  package let processes: Processes
  package let queue: Queue
  package let calls: Calls
}
