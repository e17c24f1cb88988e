package import PluginHost
import Primitives
import RichPushAPI
import Synchronization

/// A queue of renders in front of each plugin: first what the most callers have waited for the longest.
package final class RenderQueues: Sendable {
  private let queues = Mutex<[String: AdmissionQueue<InFlightRender>]>([:])
  private let concurrency: Int
  private let timeout: Duration

  /// A first estimate of what a render takes.
  private static let initialDuration = Duration.milliseconds(5)

  /// The time that all callers of a render have waited together.
  static func priority(_ render: InFlightRender, waited: Duration) -> Duration {
    waited * render.subscribers
  }

  /// Creates queues that admit at most `concurrency` calls of one plugin at a time.
  ///
  /// A phone's request gives up after 30 s; what could only be served after `timeout` is rejected at once.
  package init(concurrency: Int, timeout: Duration = .seconds(20)) {
    (self.concurrency, self.timeout) = (concurrency, timeout)
  }

  /// The number of renders that wait for a plugin, and of those rejected so far.
  package func load(of plugin: Plugin) -> (waiting: Int, rejected: Int) {
    let status = self[plugin].status
    return (status.waiting, status.rejected)
  }

  /// Runs `render` when the queue admits it.
  func run(
    _ inFlight: InFlightRender, of plugin: Plugin,
    _ render: () async -> InFlightRender.Outcome
  ) async -> InFlightRender.Outcome {
    do throws(AdmissionQueue<InFlightRender>.Rejection) {
      return try await self[plugin].withAdmission(inFlight, render).get()
    } catch {
      let wait = if case .full(let wait) = error { wait } else { timeout }
      return .failure(
        ServiceError(
          .busy, "The plugin has more to do than it can; try again.",
          retryAfter: max(1, Int(wait / .seconds(1)))))
    }
  }

  private subscript(_ plugin: Plugin) -> AdmissionQueue<InFlightRender> {
    // One call more than the plugin takes is admitted: it waits in the plugin host, which notices by it
    // when no call ends any more.
    let width = min(plugin.manifest.workers.max ?? .max, concurrency) + 1
    return queues.withLock { queues in
      if let queue = queues[plugin.richType], queue.width == width { return queue }
      let queue = AdmissionQueue<InFlightRender>(
        width: width, timeout: timeout, initialDuration: Self.initialDuration,
        priority: Self.priority)
      queues[plugin.richType] = queue
      return queue
    }
  }
}
