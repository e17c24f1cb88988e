import FoundationEssentials
package import Primitives
import Synchronization

/// The lanes to all Web Push services, one for each that has work.
///
/// Users choose the services with their endpoints. So a service that is down, slow or hostile has its own
/// pauses and its own few transfers, and there is a limit to how many are known.
package final class WebPushLanes: Sendable {
  /// The most services that have a lane; jobs for others wait in the outbox.
  private static let limit = 10_000
  /// How often to look for services with jobs that another process committed, and for idle lanes.
  private static let reviewInterval = Duration.seconds(60)
  /// After so long without jobs a lane and what it knows of the service are forgotten.
  private static let idleTime = Duration.seconds(3600)

  private struct Entry {
    let lane: Lane
    let task: Task<Void, Never>
    var lastUsed = ContinuousClock.now
  }

  private struct State {
    var lanes: [String: Entry] = [:]
    /// The counts of lanes that were forgotten.
    var retired = LaneStatus()
    var review: Task<Void, Never>?
    var isStopping = false
  }

  private let sender: WebPushSender
  private let outbox: any PushQueue
  private let log: Log
  /// The names of all lanes with queued jobs.
  private let waiting: @Sendable () async throws -> [String]
  private let state = Mutex(State())

  /// Lanes that ``start()`` starts.
  package init(
    sender: WebPushSender, outbox: any PushQueue,
    waiting: @escaping @Sendable () async throws -> [String],
    log: Log
  ) {
    (self.sender, self.outbox, self.waiting, self.log) = (sender, outbox, waiting, log)
  }

  /// Starts the lanes of services with queued jobs, and looks for others from time to time.
  package func start() {
    state.withLock { state in
      state.review = Task { [weak self] in
        while !Task.isCancelled {
          await self?.review()
          try? await Task.sleep(for: Self.reviewInterval)
        }
      }
    }
  }

  /// Tells the lanes of these names that jobs may be due; starts the missing ones.
  package func wake(_ names: Set<String>) {
    state.withLock { state in
      guard state.review != nil, !state.isStopping else { return }
      for name in names {
        if state.lanes[name] == nil {
          guard state.lanes.count < Self.limit, let origin = WebPushLane.origin(of: name) else {
            continue
          }
          let lane = Lane(
            provider: sender.provider(for: origin), outbox: outbox, pollInterval: 10, log: log)
          state.lanes[name] = Entry(lane: lane, task: Task { await lane.run() })
        }
        state.lanes[name]?.lastUsed = .now
        state.lanes[name]?.lane.wake()
      }
    }
  }

  /// Looks for all jobs: another process may have changed the outbox.
  package func wake() { Task { await review() } }

  private func review() async {
    do {
      let names = Set(try await waiting())
      forget(besides: names)
      wake(names)
    } catch {
      log(.error, "push", "push webpush: the outbox is unavailable: \(error)")
    }
  }

  /// Ends the lanes that have had no jobs for an hour.
  private func forget(besides names: Set<String>) {
    state.withLock { state in
      for (name, entry) in state.lanes where !names.contains(name) {
        guard entry.lastUsed.duration(to: .now) > Self.idleTime, entry.lane.status.inFlight == 0
        else { continue }
        entry.lane.stop()
        state.retired.add(entry.lane.status)
        state.lanes[name] = nil
      }
    }
  }

  /// Stops; waits for pushes that are being sent.
  package func stop() async {
    let entries = state.withLock { state in
      state.isStopping = true
      state.review?.cancel()
      return Array(state.lanes.values)
    }
    for entry in entries { entry.lane.stop() }
    for entry in entries { await entry.task.value }
  }

  /// The counts of all lanes together.
  package var status: LaneStatus {
    state.withLock { state in
      var sum = state.retired
      for entry in state.lanes.values { sum.add(entry.lane.status) }
      return sum
    }
  }

  /// The number of services that have a lane, and how many are paused.
  package var services: (known: Int, paused: Int) {
    state.withLock { state in
      (state.lanes.count, state.lanes.values.count { $0.lane.status.pausedUntil != nil })
    }
  }
}
