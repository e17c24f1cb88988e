package import PluginHost
import Primitives
import RichPushAPI
import Store
import Synchronization

/// What a render has made, or why it failed.
typealias RenderOutcome = Result<RenderedMedia, ServiceError>

/// A queue of renders for each plugin; the largest total waiting time of callers comes first.
package final class RenderQueues: Sendable {
  /// A user's calls of one plugin.
  private struct Line: Hashable {
    let user: UserID
    let richType: String
  }

  private let queues = Mutex<[String: AdmissionQueue]>([:])
  private let lines = KeyedSemaphore<Line>(maximumWaiters: UserQuota.waitingRenditions)
  /// Those of devices that fetch: many phones of one account may ask at once, and all of them get their media.
  private let fetchLines = KeyedSemaphore<Line>()
  private let concurrency: Int
  private let timeout: Duration

  /// A first estimate of the duration of a render.
  private static let initialDuration = Duration.milliseconds(5)

  /// Creates queues that admit at most `concurrency` calls of one plugin at a time.
  ///
  /// A phone's request times out after 30 s, so a render that would wait longer than `timeout` is rejected
  /// at once.
  package init(concurrency: Int, timeout: Duration = .seconds(20)) {
    (self.concurrency, self.timeout) = (concurrency, timeout)
  }

  /// The number of renders that wait for a plugin, and of those rejected so far.
  package func load(of plugin: Plugin) -> (waiting: Int, rejected: Int) {
    let status = self[plugin].status
    return (status.waiting, status.rejected)
  }

  /// Runs `work`, which may call the plugin, once the user has few calls of it under way.
  ///
  /// Few are all but one that it can run, so that a call of another user finds a process; of a plugin with one
  /// process they are two, of which the second waits for the first.
  ///
  /// The user's other calls wait in a line of their own. Without a user nothing waits.
  ///
  /// - Throws: `tooManyRequests` if too many of the user's calls wait, unless it is a fetch, or what `work` throws.
  func inTurn<R>(
    of user: UserID?, _ plugin: Plugin, isFetch: Bool = false,
    _ work: () async throws(ServiceError) -> R
  ) async throws(ServiceError) -> R {
    guard let user else { return try await work() }
    let line = Line(user: user, richType: plugin.richType)
    let width = width(of: plugin)
    // The plugin host needs a waiting call to detect that the only process is stuck.
    let lines = isFetch ? fetchLines : lines
    guard let permit = await lines.permit(line, width: width == 1 ? 2 : width - 1) else {
      throw ServiceError(underWay: "\(plugin.richType) renditions", UserQuota.waitingRenditions)
    }
    defer { permit.end() }
    return try await work()
  }

  /// The calls of a plugin that can run at once.
  private func width(of plugin: Plugin) -> Int {
    min(plugin.manifest.workers.max ?? .max, concurrency)
  }

  /// Runs `render` when the queue admits it: first what the most callers have waited for the longest.
  func run(
    of plugin: Plugin, waiters: @escaping @Sendable () -> Int,
    _ render: () async -> RenderOutcome
  ) async -> RenderOutcome {
    do throws(AdmissionQueue.Rejection) {
      return try await self[plugin].withAdmission(priority: { $0 * waiters() }, render).get()
    } catch {
      let wait = if case .full(let wait) = error { wait } else { timeout }
      return .failure(
        ServiceError(
          .busy, "The plugin is overloaded; try again.",
          retryAfter: max(1, Int(wait / .seconds(1)))))
    }
  }

  private subscript(_ plugin: Plugin) -> AdmissionQueue {
    // One more call than the plugin can run is admitted: it waits in the plugin host, which needs a
    // waiting call to detect that the plugin is stuck.
    let width = width(of: plugin) + 1
    return queues.withLock { queues in
      if let queue = queues[plugin.richType], queue.width == width { return queue }
      let queue = AdmissionQueue(
        width: width, timeout: timeout, initialDuration: Self.initialDuration)
      queues[plugin.richType] = queue
      return queue
    }
  }
}
