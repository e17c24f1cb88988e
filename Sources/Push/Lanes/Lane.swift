import FoundationEssentials
import Synchronization

/// The worker of one push service: leases jobs, sends them, settles what became of them.
///
/// Every service has a lane of its own, so the outage of one never holds up another. What finishes
/// while a settlement is being committed is settled together in the next one.
package final class Lane: Sendable {
  private static let leaseTime: TimeInterval = 120
  private static let idleTime: TimeInterval = 5
  private static let attempts = 16
  private static let backoff = Backoff(first: .seconds(1), longest: .seconds(900))

  private struct Finished: Sendable {
    let job: PushJob
    let delivery: PushOutcome
    let kind: PushText.Kind
    let note: String?
  }

  private struct State {
    var finished: [Finished] = []
    var isStopping = false
    var status = LaneStatus()
  }

  private let provider: any PushProvider
  private let outbox: any PushQueue
  private let clock: any PushClock
  private let random: @Sendable () -> Double
  private let log: @Sendable (String) -> Void
  private let state = Mutex(State())
  private let bell = Bell()

  /// A lane that is not running yet; `random` gives numbers between 0 and 1.
  package init(
    provider: any PushProvider, outbox: any PushQueue, clock: any PushClock = SystemClock(),
    random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
    log: @escaping @Sendable (String) -> Void
  ) {
    self.provider = provider
    self.outbox = outbox
    self.clock = clock
    self.random = random
    self.log = log
  }

  /// The provider's name.
  package var name: String { provider.name }

  /// How the lane is doing.
  package var status: LaneStatus { state.withLock { $0.status } }

  /// Says that new jobs may be waiting.
  package func wake() { bell.ring() }

  /// Takes no more jobs; `run()` returns when what is under way has been settled.
  package func stop() {
    state.withLock { $0.isStopping = true }
    bell.ring()
  }

  /// Works until ``stop()``; cancelling the task cancels what is under way as well.
  package func run() async {
    var work = LaneWork()
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        record(takeFinished(), in: &work)
        let isStopping = state.withLock { $0.isStopping }
        if isStopping, work.underWay == 0 { break }
        let jobs = await exchange(&work, isStopping: isStopping)
        for job in jobs { start(job, &work, in: &group) }
        state.withLock { $0.status.update(work) }
        if jobs.isEmpty { await rest(work) }
      }
    }
    record(takeFinished(), in: &work)
    _ = await exchange(&work, isStopping: true)
  }
}

// MARK: - Taking jobs

extension Lane {
  /// Commits what is settled, and takes new jobs in the same commit.
  private func exchange(_ work: inout LaneWork, isStopping: Bool) async -> [PushJob] {
    let now = clock.now
    let room =
      isStopping
      ? 0
      : max(0, work.breaker.room(capacity: provider.capacity, inFlight: work.underWay, at: now))
    guard room > 0 || !work.settlements.isEmpty else { return [] }
    do {
      let jobs = try await outbox.exchange(
        work.settlements, lane: name, limit: room, now: now, until: now + Self.leaseTime)
      state.withLock { $0.status.count(work.settlements) }
      work.endSettled()
      return jobs
    } catch {
      log("push \(name): the outbox does not answer, outcomes will be offered again: \(error)")
      return []
    }
  }

  private func start(_ job: PushJob, _ work: inout LaneWork, in group: inout DiscardingTaskGroup) {
    let now = clock.now
    guard work.begin(job) else { return }
    if let expires = job.push.expires, expires <= now {
      return work.settle(job, .expired)
    }
    guard provider.governsSilentPushes else { return send(job, job.push, note: nil, in: &group) }
    switch SilentGovernor.decide(on: job, underWay: work.wakesUnderWay(besides: job), at: now) {
    case .send: send(job, job.push, note: nil, in: &group)
    case .fallBack(let text, let note): send(job, job.push.saying(text), note: note, in: &group)
    case .hold(let until, let reason): work.settle(job, .released(until: until, reason: reason))
    }
  }

  private func send(
    _ job: PushJob, _ push: OutgoingPush, note: String?, in group: inout DiscardingTaskGroup
  ) {
    group.addTask {
      let delivery = await self.provider.send(push)
      self.state.withLock {
        $0.finished.append(
          Finished(job: job, delivery: delivery, kind: push.text.kind, note: note))
      }
      self.bell.ring()
    }
  }
}

// MARK: - Settling them

extension Lane {
  private func takeFinished() -> [Finished] {
    state.withLock { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  private func record(_ finished: [Finished], in work: inout LaneWork) {
    for one in finished {
      work.breaker.record(one.delivery, at: clock.now, random: random())
      work.settle(one.job, outcome(of: one))
    }
  }

  private func outcome(of finished: Finished) -> Settlement.Outcome {
    switch finished.delivery {
    case .delivered(let reference):
      return .delivered(as: finished.kind, reference: reference, note: finished.note)
    case .retry(let after, let reason), .unavailable(let after, let reason):
      let attempts = finished.job.attempts + 1
      guard attempts < Self.attempts else {
        return .rejected(reason: "Given up after \(attempts) attempts: \(reason)")
      }
      let delay = max(after ?? .zero, Self.backoff.delay(after: attempts, random: random()))
      return .retry(at: clock.now + delay.seconds, reason: reason)
    case .deadToken(let since, let reason): return .deadToken(since: since, reason: reason)
    case .rejected(let reason): return .rejected(reason: reason)
    case .laneStopped(let reason): return .released(until: clock.now, reason: reason)
    }
  }

  /// Waits for something to do: an answer, a call of `wake()`, a job that comes due.
  private func rest(_ work: LaneWork) async {
    let now = clock.now
    var deadline = now + Self.idleTime
    if let opens = work.breaker.openUntil, opens > now {
      deadline = opens
    } else if !work.settlements.isEmpty {
      deadline = now + 1
    } else if work.inFlight < provider.capacity, let due = try? await outbox.nextDue(lane: name) {
      deadline = min(deadline, max(due, now + 0.05))
    }
    await bell.wait(until: deadline, by: clock)
  }
}
