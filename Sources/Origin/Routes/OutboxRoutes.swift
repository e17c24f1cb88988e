import Delivery
import FoundationEssentials
import HTTP
import Push
import RichPushAPI
import Store

/// `/api/outbox` and `/api/lanes`: pushes that wait or failed, for administrators.
struct OutboxRoutes: Sendable {
  let store: Store
  let pushLanes: PushLanes

  /// `GET /api/outbox`: pushes, newest first.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("lane", "state", "after", "limit")
    let limit = try query.number("limit", 1...500) ?? 50
    let after = try query.number("after", RequestContext.ids)
    let state = try query["state"].map(JobState.init(query:))
    let found = try await store.administration.jobs(
      in: state, lane: query["lane"], before: after, limit: limit + 1)
    let page = found.prefix(limit)
    return .json(
      200,
      OutboxPage(
        jobs: page.map(OutboxPage.Job.init), next: found.count > limit ? page.last?.job : nil))
  }

  /// `POST /api/outbox/<id>/replay`: sends a dead letter again.
  func replay(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let job = Self.job(context), try await store.outbox.replay(job) == 1 else {
      throw ServiceError(.notFound, "There is no failed push with this number.")
    }
    return .json(200, Replayed(replayed: 1))
  }

  /// `POST /api/outbox/replay`: sends all dead letters again, or those of a lane.
  func replayAll(_ context: RequestContext) async throws -> Response {
    let lane = try context.query("lane")["lane"]
    return .json(200, Replayed(replayed: try await store.administration.replay(lane: lane)))
  }

  /// `DELETE /api/outbox/<id>`: cancels a push that has not been sent.
  func cancel(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    guard let job = Self.job(context), try await store.outbox.cancel(job: job) else {
      throw ServiceError(.notFound, "There is no waiting push with this number.")
    }
    return .empty(204)
  }

  /// `GET /api/lanes`: the state of each push service.
  func lanes(_ context: RequestContext) async throws -> Response {
    _ = try context.query()
    return .json(200, try await lanes())
  }

  /// The state of each push service.
  func lanes() async throws -> LaneReport {
    let queues = try await store.administration.laneQueues()
    let status = pushLanes.status
    // Another node may be the one that found out.
    let pauses = try await store.outbox.pauses()
    let names = Set(queues.map(\.lane)).union(status.map(\.name)).union(pauses.map(\.lane))
    let lanes = names.sorted().map { name in
      LaneReport.Lane(
        name, queues.first { $0.lane == name },
        status.first { $0.name == name }?.status ?? webPushStatus(of: name),
        pauses.first { $0.lane == name })
    }
    return LaneReport(lanes: lanes)
  }

  /// `POST /api/lanes/resume`: ends the pause of a lane, or of all, and sends again what its service refused.
  func resume(_ context: RequestContext) async throws -> Response {
    let lane = try context.query("lane")["lane"]
    return .json(200, Resumed(resumed: try await store.outbox.resume(lane: lane)))
  }

  /// `POST /api/lanes/restore`: brings back the registrations that a lane has ended since a time.
  func restore(_ context: RequestContext) async throws -> Response {
    let query = try context.query("lane", "since")
    guard let lane = query["lane"], let text = query["since"], let since = JSONCoding.time(text)
    else {
      throw ServiceError(
        .invalidRequest,
        "Name the lane and the time since when, such as lane=apns&since=2026-12-31T23:00:00Z.")
    }
    let number = try await store.outbox.restoreRegistrations(endedBy: lane, since: since)
    return .json(200, Restored(restored: number))
  }

  /// A service that devices chose and that has no lane now has no pushes, or too many others have.
  private func webPushStatus(of name: String) -> LaneStatus? {
    guard WebPushLane.origin(of: name) != nil else { return nil }
    return pushLanes.status(ofWebPushLane: name)
      ?? pushLanes.webPushServices.map { _ in LaneStatus() }
  }

  private static func job(_ context: RequestContext) -> Int? {
    context.parameters.first.flatMap { Int($0) }
  }
}

extension OutboxPage.Job {
  fileprivate init(_ job: JobRecord) {
    self.init(
      id: job.job, lane: job.lane, state: job.state.rawValue, attempts: job.attempts,
      due: job.due, updated: job.updated)
    (notification, user, reason) = (job.notificationID, job.user, job.reason)
  }
}

extension LaneReport.Lane {
  fileprivate init(
    _ name: String, _ queue: LaneQueue?, _ status: LaneStatus?, _ pause: LanePause?
  ) {
    let isPaused = pause != nil || status?.pausedUntil != nil
    // What is not configured any more sends nothing after its pause, either.
    let state = status == nil ? "off" : isPaused ? "paused" : "running"
    self.init(
      name: name, state: state, queued: queue?.queued ?? 0, sent: status?.delivered ?? 0,
      failed: status?.failed ?? 0, retried: status?.retried ?? 0)
    reason = pause?.reason ?? queue?.reason
    (until, oldestWaiting) = (pause?.until ?? status?.pausedUntil, queue?.oldest)
  }
}
