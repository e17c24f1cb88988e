package import FoundationEssentials
package import Primitives
import Synchronization

/// The worker of one push service: leases jobs, sends them, settles their outcomes.
///
/// Every service has its own lane, so that an outage of one never delays another. Outcomes within a few
/// milliseconds are settled in one commit, which also leases the next jobs.
package final class Lane: Sendable {
  /// How long leased jobs belong to this process: longer than a provider takes to send one, so that a
  /// lease ends only after a crash.
  private static let leaseDuration: TimeInterval = 120
  /// With the backoff below, the last of 16 attempts is made after about an hour and a half.
  private static let maximumAttempts = 16
  /// When to try again, in seconds, after the outbox failed.
  private static let outboxRetryTime: TimeInterval = 1
  private static let backoff = Backoff(first: .seconds(1), longest: .seconds(900))

  private struct Finished: Sendable {
    let push: MergedPush
    let began: Date
    let outcome: PushOutcome
  }

  private struct State {
    var finished: [Finished] = []
    /// Pushes given to the service that are not finished.
    var sending = 0
    /// Whether there may be jobs that have not been looked for yet.
    var mayHaveJobs = true
    var isStopping = false
    var status = LaneStatus()
  }

  private let provider: any PushProvider
  private let lane: PushLane
  private let outbox: any PushQueue
  private let clock: any SteadyClock
  private let now: @Sendable () -> Date
  /// How often to look for jobs that another process committed, in seconds.
  private let pollInterval: TimeInterval
  private let random: @Sendable () -> Double
  private let log: Log
  private let state = Mutex(State())
  private let signal = WakeSignal()

  /// Creates a lane, which ``run()`` starts; `random` returns numbers from 0 to 1.
  package init(
    provider: any PushProvider, outbox: any PushQueue, clock: any SteadyClock = ContinuousClock(),
    now: @escaping @Sendable () -> Date = { Date() }, pollInterval: TimeInterval = 5,
    random: @escaping @Sendable () -> Double = { Double.random(in: 0...1) },
    log: Log
  ) {
    (self.provider, self.outbox, self.clock, self.now) = (provider, outbox, clock, now)
    lane = PushLane(provider)
    (self.pollInterval, self.random, self.log) = (pollInterval, random, log)
  }

  /// The provider's name.
  package var name: String { provider.name }

  /// The lane's state.
  package var status: LaneStatus { state.withLock { $0.status } }

  /// Tells the lane that new jobs may be due.
  package func wake() {
    state.withLock { $0.mayHaveJobs = true }
    signal.send()
  }

  /// Leases no more jobs; ``run()`` returns once those under way are settled.
  package func stop() {
    state.withLock { $0.isStopping = true }
    signal.send()
  }

  /// Works until ``stop()``; cancelling the task also cancels the pushes under way.
  package func run() async {
    var loop = LaneLoopState()
    var lastCommit = Date.distantPast
    var hasBegun = false
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        let (finished, isStopping, mayHaveJobs) = takeEvents()
        record(finished, in: &loop)
        if isStopping, loop.awaitingOutcome == 0 { break }
        if !mayHaveJobs,
          loop.shouldDelayCommit(since: lastCommit, at: now(), commitSize: commitSize)
        {
          await wait(until: lastCommit + LaneLoopState.commitInterval)
          continue
        }
        lastCommit = now()
        if !hasBegun { hasBegun = await begin(&loop) }
        let jobs = await settleAndLease(&loop, isStopping: isStopping)
        start(jobs, &loop, in: &group)
        state.withLock { $0.status.update(loop) }
        if jobs.isEmpty { await waitForWork(loop) }
      }
    }
    record(takeEvents().finished, in: &loop)
    _ = await settleAndLease(&loop, isStopping: true)
  }

  private func wait(until deadline: Date) async {
    let pause = Duration.seconds(max(0, deadline.timeIntervalSince(now())))
    await signal.wait { [clock] in try await clock.sleep(for: pause) }
  }

  /// The outcomes that are worth a commit of their own.
  private var commitSize: Int { max(1, provider.capacity / 4) }
}

// MARK: - Leasing and sending

extension Lane {
  /// Commits the settlements, and leases new jobs in the same commit.
  private func settleAndLease(_ loop: inout LaneLoopState, isStopping: Bool) async -> [PushJob] {
    let now = self.now()
    let limit = isStopping ? 0 : available(loop, at: now)
    guard limit > 0 || !loop.settlements.isEmpty else { return [] }
    do {
      let lease = try await outbox.settleAndLease(
        loop.settlements, lane: lane, limit: limit, now: now, until: now + Self.leaseDuration)
      state.withLock {
        $0.status.count(loop.settlements)
        $0.status.countEnded(lease.ended)
      }
      loop.removeSettled()
      if loop.hasOutboxFailed {
        log(.notice, "push", "\(name): the outbox is available again")
      }
      loop.hasOutboxFailed = false
      logEnded(lease.ended)
      if limit > 0 { report(lease.pause, in: &loop) }
      return lease.jobs
    } catch {
      // The settlements are part of the next exchange.
      reportFailure(error, in: &loop)
      return []
    }
  }

  /// Tells the outbox that the lane starts; false if it could not be told.
  private func begin(_ loop: inout LaneLoopState) async -> Bool {
    do {
      try await outbox.begin(lane)
      return true
    } catch {
      reportFailure(error, in: &loop)
      return false
    }
  }

  private func reportFailure(_ error: any Error, in loop: inout LaneLoopState) {
    if !loop.hasOutboxFailed {
      log(
        .error, "push",
        "\(name): the outbox is unavailable, outcomes will be recorded later: \(error)")
    }
    loop.hasOutboxFailed = true
  }

  private func logEnded(_ number: Int) {
    if number == 0 { return }
    let registrations = number == 1 ? "1 registration has" : "\(number) registrations have"
    log(
      .notice, "push",
      "\(name): \(registrations) ended, because the service does not know the device any more")
  }

  /// Logs that a pause has begun or is over, and remembers it.
  private func report(_ pause: PushPause?, in loop: inout LaneLoopState) {
    if let pause {
      if pause.reason != loop.pause?.reason {
        log(.error, "push", "\(name): paused. \(pause.reason)")
      }
    } else if loop.pause != nil {
      log(.notice, "push", "\(name): goes on")
    }
    loop.pause = pause
  }

  /// The number of pushes that may start.
  private func available(_ loop: LaneLoopState, at now: Date) -> Int {
    max(
      0,
      loop.breaker.available(capacity: provider.capacity, inFlight: loop.awaitingOutcome, at: now))
  }

  /// Sends the jobs that have not expired, within the devices' budgets of silent pushes.
  private func start(
    _ jobs: [PushJob], _ loop: inout LaneLoopState, in group: inout DiscardingTaskGroup
  ) {
    let now = self.now()
    let limit = lane.traits.largestPayload
    var pushes: [MergedPush] = []
    var beyondBudget: [(job: PushJob, alert: PushMessage)] = []
    for job in jobs where loop.begin(job) {
      if let expires = job.push.expires, expires <= now {
        loop.settle(job, .expired)
        continue
      }
      let decision =
        lane.traits.limitsSilentPushes
        ? SilentPushBudget.decide(
          on: job, underWay: loop.silentPushesUnderWay(besides: job), at: now,
          fits: { lane.payload($0).largestSize <= limit }) : .send
      switch decision {
      case .send: pushes.append(MergedPush(job))
      case .fallBack(let alert): beyondBudget.append((job, alert))
      case .hold(let until, let reason): loop.settle(job, .released(until: until, reason: reason))
      }
    }
    pushes += MergedPush.alerts(insteadOf: beyondBudget, payload: lane.payload, limit: limit)
    guard !pushes.isEmpty else { return }
    loop.breaker.begin(at: now)
    state.withLock { $0.sending += pushes.count }
    group.addTask { [pushes] in
      await self.provider.send(pushes.map(\.push)) { index, outcome in
        self.finish(Finished(push: pushes[index], began: now, outcome: outcome))
      }
    }
  }

  private func finish(_ finished: Finished) {
    let mustWake = state.withLock { state in
      state.finished.append(finished)
      state.sending -= 1
      // The first, because the loop may be waiting; then when a commit is worth it.
      return [1, commitSize].contains(state.finished.count) || state.sending == 0
    }
    if mustWake { signal.send() }
  }
}

// MARK: - Settling

extension Lane {
  private func takeEvents() -> (finished: [Finished], isStopping: Bool, mayHaveJobs: Bool) {
    state.withLock { state in
      defer { (state.finished, state.mayHaveJobs) = ([], false) }
      return (state.finished, state.isStopping, state.mayHaveJobs)
    }
  }

  private func record(_ finished: [Finished], in loop: inout LaneLoopState) {
    for finished in finished {
      // A delivered push does not wait, and a random number costs a system call.
      let random = if case .delivered = finished.outcome { 0.0 } else { random() }
      loop.breaker.record(
        finished.outcome, began: finished.began, at: now(), random: random)
      let isBelieved = loop.isBelieved(finished.outcome, began: finished.began)
      if !isBelieved, loop.isFirstRefusal {
        log(
          .notice, "push",
          "\(name): a push was refused; it waits until the service has accepted another one. "
            + (finished.outcome.reason ?? ""))
      }
      for item in finished.push.items {
        loop.settle(
          item.job,
          settlement(of: item.job, item.note, finished, isBelieved: isBelieved, random))
      }
    }
  }

  private func settlement(
    of job: PushJob, _ note: String?, _ finished: Finished, isBelieved: Bool, _ random: Double
  ) -> Settlement.Outcome {
    switch finished.outcome {
    case .delivered(let reference):
      return .delivered(
        as: finished.push.push.text.kind, reference: reference, note: note)
    case .unavailable(let after, let reason):
      // The service as a whole is asked again before long, whatever it says.
      return retry(job, after: after.map { min($0, CircuitBreaker.longestPause) }, reason, random)
    case .retry(let after, let reason), .throttled(let after, let reason):
      return retry(job, after: after, reason, random)
    case .deadToken(let since, let reason):
      return isBelieved
        ? .deadToken(since: since, reason: reason)
        : .refused(endsRegistration: true, since: since, reason: reason)
    case .refused(let reason):
      return isBelieved
        ? .rejected(reason: reason)
        : .refused(endsRegistration: false, since: nil, reason: reason)
    case .rejected(let reason): return .rejected(reason: reason)
    case .held(let time, let reason):
      return .released(until: now() + time.seconds, reason: reason)
    case .laneStopped(let reason): return .stopped(reason: reason)
    }
  }

  private func retry(
    _ job: PushJob, after: Duration?, _ reason: String, _ random: Double
  ) -> Settlement.Outcome {
    let attempts = job.attempts + 1
    guard attempts < Self.maximumAttempts else {
      return .rejected(reason: "Failed after \(attempts) attempts: \(reason)")
    }
    return .retry(at: retryTime(attempts: attempts, after: after, random), reason: reason)
  }

  /// When to try again: after the backoff, but not before the service's `Retry-After`.
  private func retryTime(attempts: Int, after: Duration?, _ random: Double) -> Date {
    now() + max(after ?? .zero, Self.backoff.delay(after: attempts, random: random)).seconds
  }

  /// Waits for an outcome, a call of ``wake()``, or a job that is due.
  private func waitForWork(_ loop: LaneLoopState) async {
    let now = self.now()
    var deadline = now + pollInterval
    if !loop.settlements.isEmpty {
      // Also in a pause: what was accepted must not be sent again when its lease ends.
      deadline = now + Self.outboxRetryTime
    } else if loop.pause != nil, let pauseEnd = loop.pausedUntil, pauseEnd > now {
      // An operator may end it at another node, or from the command line.
      deadline = min(deadline, pauseEnd)
    } else if let pauseEnd = loop.breaker.pauseEnd(at: now) {
      deadline = pauseEnd
    } else if available(loop, at: now) > 0, let due = try? await outbox.nextDue(lane: name) {
      // Not at once: a due job may be one that an earlier unsettled one blocks.
      deadline = min(deadline, max(due, now + 0.05))
    }
    await wait(until: deadline)
  }
}
