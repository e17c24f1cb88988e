import FoundationEssentials
package import Primitives
import Synchronization

/// The lanes to all Web Push services, one for each that has work.
///
/// Users choose the services with their endpoints. So a service that is down, slow or hostile has its own
/// pauses and its own few transfers, and there is a limit to how many have a lane. When another is needed, the lane
/// that has had no pushes for longest goes; if all have pushes, those for the other service wait.
package final class WebPushLanes: Sendable {
  /// The most services that have a lane.
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
    /// The names of services without a lane that may have jobs, to be looked at.
    var unopened: Set<String> = []
    var isOpening = false
    /// The names of services with jobs for which there was no lane.
    var refused: Set<String> = []
    var lastWarning: ContinuousClock.Instant?
    var lastCleared: ContinuousClock.Instant?
    /// The counts of lanes that were forgotten.
    var retired = LaneStatus()
    var review: Task<Void, Never>?
    var isStopping = false
  }

  private let sender: WebPushSender
  private let outbox: any PushQueue
  private let limit: Int
  private let log: Log
  /// The names of all lanes with queued jobs.
  private let waiting: @Sendable () async throws -> [String]
  /// Fails the queued jobs of devices that were removed, so that they keep no lane.
  private let clear: @Sendable () async throws -> Void
  /// Tells why the queued jobs of lanes are not sent.
  private let explain: @Sendable (_ reason: String, _ lanes: [String]) async throws -> Void
  private let state = Mutex(State())

  /// Lanes that ``start()`` starts.
  package init(
    sender: WebPushSender, outbox: any PushQueue, limit: Int = WebPushLanes.limit,
    waiting: @escaping @Sendable () async throws -> [String],
    clear: @escaping @Sendable () async throws -> Void,
    explain: @escaping @Sendable (_ reason: String, _ lanes: [String]) async throws -> Void,
    log: Log
  ) {
    (self.sender, self.outbox, self.limit, self.log) = (sender, outbox, limit, log)
    (self.waiting, self.clear, self.explain) = (waiting, clear, explain)
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

  /// Tells the lanes of these names that jobs may be due; starts the missing ones that have jobs.
  package func wake(_ names: Set<String>) {
    let mustOpen = state.withLock { state -> Bool in
      guard state.review != nil, !state.isStopping else { return false }
      for name in names where WebPushLane.origin(of: name) != nil {
        if state.lanes[name] != nil {
          state.lanes[name]?.lastUsed = .now
          state.lanes[name]?.lane.wake()
        } else if state.unopened.count < limit {
          // A review finds the others.
          state.unopened.insert(name)
        }
      }
      guard !state.unopened.isEmpty, !state.isOpening else { return false }
      state.isOpening = true
      return true
    }
    if mustOpen { Task { await openAll() } }
  }

  /// Looks for all jobs: another process may have changed the outbox.
  package func wake() { Task { await review() } }

  private func review() async {
    do {
      let names = Set(try await waiting())
      forget(besides: names)
      let missing = state.withLock { state in
        state.refused = []
        return names.filter { state.lanes[$0] == nil }
      }
      wake(names.subtracting(missing))
      try await start(missing)
    } catch {
      log(.error, "push", "webpush: the outbox is unavailable: \(error)")
    }
  }

  /// Ends the lanes that have had no jobs for an hour.
  private func forget(besides names: Set<String>) {
    state.withLock { state in
      for (name, entry) in state.lanes where !names.contains(name) {
        if entry.lastUsed.duration(to: .now) > Self.idleTime { end(name, entry, in: &state) }
      }
    }
  }

  private func end(_ name: String, _ entry: Entry, in state: inout State) {
    guard entry.lane.status.inFlight == 0 else { return }
    entry.lane.stop()
    state.retired.add(entry.lane.status)
    state.lanes[name] = nil
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

  /// The status of one lane; nil if there is no such lane now.
  package func status(of name: String) -> LaneStatus? {
    state.withLock { $0.lanes[name]?.lane.status }
  }

  /// The number of services that have a lane, how many of them are paused, and how many others have pushes and wait
  /// for a lane.
  package var services: (known: Int, paused: Int, refused: Int) {
    state.withLock { state in
      (
        state.lanes.count, state.lanes.values.count { $0.lane.status.pausedUntil != nil },
        state.refused.count
      )
    }
  }
}

// MARK: - Starting lanes

extension WebPushLanes {
  /// Whether names that were told are still to be looked at.
  var isOpening: Bool { state.withLock { $0.isOpening } }

  /// Starts the lanes that ``wake(_:)`` found missing, until none is left.
  private func openAll() async {
    while true {
      let names = state.withLock { state in
        defer { state.unopened = [] }
        state.isOpening = !state.unopened.isEmpty && !state.isStopping
        return state.isOpening ? state.unopened : []
      }
      if names.isEmpty { return }
      do {
        // Anybody may have told the names.
        var withJobs: [String] = []
        for name in names where try await outbox.nextDue(lane: name) != nil {
          withJobs.append(name)
        }
        try await start(withJobs)
      } catch {
        log(.error, "push", "webpush: the outbox is unavailable: \(error)")
      }
    }
  }

  /// Starts lanes that have jobs, and reports the ones that exceed the limit.
  private func start(_ names: some Collection<String>) async throws {
    if state.withLock({ $0.lanes.count }) + names.count > limit {
      if isDue(\.lastCleared) { try await clear() }
      let busy = Set(try await waiting())
      state.withLock { makeRoom(for: names.count, besides: busy, in: &$0) }
    }
    let refused = state.withLock { state in
      names.filter { !start($0, in: &state) }
    }
    guard !refused.isEmpty else { return }
    state.withLock { $0.refused.formUnion(refused) }
    if isDue(\.lastWarning) {
      log(
        .error, "push",
        "webpush: all \(limit) lanes are in use; pushes to \(refused.count) more services wait"
      )
    }
    try await explain(
      "There is no lane for its push service: all \(limit) are in use. It is tried again.",
      Array(refused))
  }

  /// Ends lanes without jobs, those not used for longest first, until `count` others can start.
  private func makeRoom(for count: Int, besides busy: Set<String>, in state: inout State) {
    let idle = state.lanes.filter { !busy.contains($0.key) }
      .sorted { $0.value.lastUsed < $1.value.lastUsed }
    for (name, entry) in idle where state.lanes.count + count > limit {
      end(name, entry, in: &state)
    }
  }

  /// Starts a lane; false if there are too many.
  private func start(_ name: String, in state: inout State) -> Bool {
    guard state.lanes[name] == nil, !state.isStopping else { return true }
    guard state.lanes.count < limit, let origin = WebPushLane.origin(of: name) else { return false }
    let lane = Lane(
      provider: sender.provider(for: origin), outbox: outbox, pollInterval: 10, log: log)
    state.lanes[name] = Entry(lane: lane, task: Task { await lane.run() })
    return true
  }

  /// Whether it was not done within the last minute; then it is done now.
  private func isDue(_ last: WritableKeyPath<State, ContinuousClock.Instant?>) -> Bool {
    state.withLock { state in
      if let last = state[keyPath: last], .now - last < Self.reviewInterval { return false }
      state[keyPath: last] = .now
      return true
    }
  }
}
