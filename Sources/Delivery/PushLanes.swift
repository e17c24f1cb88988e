import FoundationEssentials
package import Push
package import Store
import Synchronization
package import Primitives

/// The lanes of the configured push services.
package final class PushLanes: Sendable {
  private let lanes: [Lane]
  /// The lanes to Web Push services; nil if Web Push is not one of the services.
  private let webPush: WebPushLanes?
  private let tasks = Mutex<[Task<Void, Never>]>([])

  /// Creates lanes that have not started.
  package init(
    _ providers: [any PushProvider], webPush sender: WebPushSender? = nil, store: Store,
    payloads: PushPayloads, log: Log
  ) {
    let queue = StoredPushQueue(store: store, payloads: payloads)
    lanes = providers.map { Lane(provider: $0, outbox: queue, log: log) }
    webPush = sender.map { sender in
      WebPushLanes(
        sender: sender, outbox: queue,
        waiting: { try await store.outbox.lanes(beginningWith: WebPushLane.prefix) },
        clear: {
          try await store.outbox.failJobsOfRemovedDevices(inLanesBeginningWith: WebPushLane.prefix)
        },
        explain: { try await store.outbox.explain($0, lanes: $1) }, log: log)
    }
    store.observers.onJobs.add { [lanes, webPush] names in
      for lane in lanes where names.contains(lane.name) { lane.wake() }
      webPush?.wake(names)
    }
  }

  /// Starts to send the pushes in the outbox.
  package func start() {
    tasks.withLock { tasks in
      tasks += lanes.map { lane in Task { await lane.run() } }
    }
    webPush?.start()
  }

  /// Looks for pushes that are due: another process may have changed the outbox.
  package func wake() {
    for lane in lanes { lane.wake() }
    webPush?.wake()
  }

  /// Stops; waits for pushes that are being sent.
  package func stop() async {
    for lane in lanes { lane.stop() }
    await webPush?.stop()
    for task in tasks.withLock({ $0 }) { await task.value }
  }

  /// The status of each lane; those to Web Push services count as one.
  package var status: [(name: String, status: LaneStatus)] {
    lanes.map { ($0.name, $0.status) } + (webPush.map { [(WebPushProvider.name, $0.status)] } ?? [])
  }

  /// The status of the lane to one Web Push service by its name, such as `webpush:https://push.example`; nil if it
  /// has none.
  package func status(ofWebPushLane name: String) -> LaneStatus? { webPush?.status(of: name) }

  /// The configured services whose lanes are paused.
  ///
  /// Web Push services are not among them: devices choose those.
  package var paused: [String] {
    lanes.filter { $0.status.pausedUntil != nil }.map(\.name).sorted()
  }

  /// The number of Web Push services with a lane, how many are paused, and how many others wait for a lane; nil
  /// without Web Push.
  package var webPushServices: (known: Int, paused: Int, refused: Int)? { webPush?.services }
}

/// The store's outbox, as the lanes' queue.
struct StoredPushQueue: PushQueue {
  let store: Store
  let payloads: PushPayloads

  func begin(_ lane: PushLane) async throws { try await store.outbox.begin(SendingLane(lane)) }

  func settleAndLease(
    _ settlements: [Settlement], lane: PushLane, limit: Int, now: Date, until: Date
  ) async throws -> PushLease {
    let outcomes = settlements.map { ($0.job, JobOutcome($0.outcome)) }
    let lease = try await store.outbox.settleAndLease(
      outcomes, lane: SendingLane(lane), limit: limit, until: until)
    var pushes: [(job: LeasedJob, push: AnnouncedPush)] = []
    for job in lease.jobs {
      guard let push = try await payloads.push(of: job, over: lane, at: now) else { continue }
      pushes.append((job, push))
    }
    let values = try await payloads.values(for: pushes.lazy.map { ($0.push, $0.job.user) })
    var jobs: [PushJob] = []
    for (job, push) in pushes {
      guard let target = OutgoingPush.Target(job.target) else { continue }
      let own = push.message.id.flatMap { id in job.user.flatMap { values[id]?[$0] } }
      let made = push.made(for: job.language.map { [$0] } ?? [], values: own ?? [:])
      var unread = 0
      if made.message.countsUnread, let user = job.user {
        unread = try await store.notifications.unreadCount(of: user)
      }
      let suffix = payloads.suffix(of: job, in: made)
      let push = OutgoingPush(
        id: job.token, target: target, user: job.user?.rawValue, message: made.message,
        text: made.template.payload(badge: unread, job: suffix), collapseID: job.collapseID,
        expires: job.expires,
        isCollapsible: try await isCollapsible(job, within: lane.traits.collapseLimit, at: now))
      jobs.append(
        PushJob(
          id: job.id, push: push, attempts: job.attempts, unread: unread,
          recentSilentPushes: job.recentSilentPushes, secret: suffix.secret))
    }
    let pause = lease.pause.map {
      PushPause(since: $0.since, until: $0.until, reason: $0.reason)
    }
    return PushLease(jobs: jobs, pause: pause, ended: lease.ended)
  }

  /// Whether the service still takes the job's collapse ID for its device.
  private func isCollapsible(
    _ job: LeasedJob, within limit: CollapseLimit?, at now: Date
  ) async throws -> Bool {
    guard let limit, job.collapseID != nil else { return true }
    return try await store.outbox.pendingCollapseIDs(before: job.id, since: now - limit.life)
      < limit.count
  }

  func nextDue(lane: String) async throws -> Date? { try await store.outbox.nextDue(lane: lane) }
}

extension SendingLane {
  fileprivate init(_ lane: PushLane) {
    let family = lane.traits.lanes == .onePerOrigin ? WebPushLane.prefix : nil
    self.init(lane.name, settings: lane.settings, family: family)
  }
}

extension OutgoingPush.Target {
  fileprivate init?(_ target: LeasedJob.Target) {
    switch target {
    case .device(let handle, let platform): self = .device(handle: handle, platform: platform)
    case .subscription(let endpoint, let keys): self = .subscription(endpoint: endpoint, keys: keys)
    case .audience(let text):
      guard let expression = try? TagExpression(text) else { return nil }
      self = .audience(expression)
    }
  }
}

extension JobOutcome {
  fileprivate init(_ outcome: Settlement.Outcome) {
    self =
      switch outcome {
      case .delivered(let kind, let reference, let note):
        .delivered(as: kind.rawValue, reference: reference, note: note)
      case .retry(let at, let reason): .retry(at: at, reason: reason)
      case .released(let until, let reason): .released(until: until, reason: reason)
      case .deadToken(let since, let reason): .deadToken(since: since, reason: reason)
      case .refused(let endsRegistration, let since, let reason):
        .refused(endsRegistration: endsRegistration, since: since, reason: reason)
      case .stopped(let reason): .stopped(reason: reason)
      case .rejected(let reason): .rejected(reason: reason)
      case .expired: .expired
      }
  }
}
