import FoundationEssentials
import Push
import Store

/// The store's outbox as the lanes see it.
struct StoreQueue: PushQueue {
  let store: Store

  func exchange(
    _ settlements: [Settlement], lane: String, limit: Int, now: Date, until: Date
  ) async throws -> [PushJob] {
    let outcomes = settlements.map { ($0.job, JobOutcome($0.outcome)) }
    let jobs = try await store.outbox.exchange(outcomes, lane: lane, limit: limit, until: until)
    return try jobs.compactMap { job in
      try PushJob(job) { text in
        PushText.addressing(
          try PushText.counting(text) { try job.user.map { try store.unreadCount(of: $0) } ?? 0 },
          to: job.id, job.token)
      }
    }
  }

  func nextDue(lane: String) async throws -> Date? { try store.outbox.nextDue(lane: lane) }
}

extension PushJob {
  /// Nil for a job that a newer version of this program must have written; `fill` completes texts.
  fileprivate init?(_ job: LeasedJob, fill: (String) throws -> String) rethrows {
    guard let kind = PushText.Kind(rawValue: job.kind), let target = OutgoingPush.Target(job.target)
    else { return nil }
    self.init(
      id: job.id,
      push: OutgoingPush(
        id: job.token, target: target, text: PushText(kind, json: try fill(job.text)),
        collapseID: job.collapseID, expires: job.expires),
      attempts: job.attempts,
      fallback: try job.fallback.map { PushText(.alert, json: try fill($0)) },
      recentWakes: job.recentWakes)
  }
}

extension OutgoingPush.Target {
  fileprivate init?(_ target: LeasedJob.Target) {
    switch target {
    case .device(let handle, let platform): self = .device(handle: handle, platform: platform)
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
      case .rejected(let reason): .rejected(reason: reason)
      case .expired: .expired
      }
  }
}
