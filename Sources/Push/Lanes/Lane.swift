import FoundationEssentials
import Synchronization

/// The worker of one push service: leases jobs, sends them, settles what became of them.
///
/// Every service has a lane of its own, so the outage of one never holds up another. What finishes
/// within a few milliseconds is settled in one commit, which leases the next jobs as well.
package final class Lane: Sendable {
  private static let leaseTime: TimeInterval = 120
  private static let idleTime: TimeInterval = 5
  private static let attempts = 16
  private static let backoff = Backoff(first: .seconds(1), longest: .seconds(900))

  /// Parcels that were given to the service together.
  private final class Shipment: Sendable {
    let parcels: [Parcel]
    let began: Date

    init(_ parcels: [Parcel], began: Date) { (self.parcels, self.began) = (parcels, began) }
  }

  private struct Finished: Sendable {
    let shipment: Shipment
    let place: Int
    let delivery: PushOutcome

    var parcel: Parcel { shipment.parcels[place] }
    var began: Date { shipment.began }
  }

  private struct State {
    var finished: [Finished] = []
    /// Parcels that were given to the service and are not finished.
    var sending = 0
    /// Whether there may be jobs that nobody has looked for yet.
    var isWoken = true
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
  package func wake() {
    state.withLock { $0.isWoken = true }
    bell.ring()
  }

  /// Takes no more jobs; `run()` returns when what is under way has been settled.
  package func stop() {
    state.withLock { $0.isStopping = true }
    bell.ring()
  }

  /// Works until ``stop()``; cancelling the task cancels what is under way as well.
  package func run() async {
    var work = LaneWork()
    var exchanged = Date.distantPast
    await withDiscardingTaskGroup { group in
      while !Task.isCancelled {
        record(takeFinished(), in: &work)
        let (isStopping, isWoken) = takeSignals()
        if isStopping, work.underWay == 0 { break }
        if !isWoken, work.isWorthWaiting(since: exchanged, at: clock.now, batch: batch) {
          await bell.wait(until: exchanged + LaneWork.pace, by: clock)
          continue
        }
        exchanged = clock.now
        let jobs = await exchange(&work, isStopping: isStopping)
        start(jobs, &work, in: &group)
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
    let room = isStopping ? 0 : self.room(work, at: now)
    guard room > 0 || !work.settlements.isEmpty else { return [] }
    do {
      let jobs = try await outbox.exchange(
        work.settlements, lane: name, limit: room, now: now, until: now + Self.leaseTime)
      state.withLock { $0.status.count(work.settlements) }
      work.endSettled()
      if work.isRefused { log("push \(name): the outbox answers again") }
      work.isRefused = false
      return jobs
    } catch {
      if !work.isRefused {
        log("push \(name): the outbox does not answer, outcomes will be offered again: \(error)")
      }
      work.isRefused = true
      return []
    }
  }

  /// How many more pushes may start.
  private func room(_ work: LaneWork, at now: Date) -> Int {
    max(0, work.breaker.room(capacity: provider.capacity, inFlight: work.underWay, at: now))
  }

  /// Sends what is in time, within what the devices may be woken.
  private func start(
    _ jobs: [PushJob], _ work: inout LaneWork, in group: inout DiscardingTaskGroup
  ) {
    let now = clock.now
    var parcels: [Parcel] = []
    var wakes: [(job: PushJob, alert: PushText)] = []
    for job in jobs where work.begin(job) {
      if let expires = job.push.expires, expires <= now {
        work.settle(job, .expired)
        continue
      }
      guard provider.governsSilentPushes else {
        parcels.append(Parcel(job))
        continue
      }
      switch SilentGovernor.decide(on: job, underWay: work.wakesUnderWay(besides: job), at: now) {
      case .send: parcels.append(Parcel(job))
      case .fallBack(let alert): wakes.append((job, alert))
      case .hold(let until, let reason): work.settle(job, .released(until: until, reason: reason))
      }
    }
    parcels += Parcel.alerts(insteadOf: wakes)
    guard !parcels.isEmpty else { return }
    work.breaker.begin()
    send(parcels, began: now, in: &group)
  }

  private func send(_ parcels: [Parcel], began: Date, in group: inout DiscardingTaskGroup) {
    state.withLock { $0.sending += parcels.count }
    let shipment = Shipment(parcels, began: began)
    group.addTask {
      await self.provider.send(shipment.parcels.map(\.push)) { place, delivery in
        self.take(Finished(shipment: shipment, place: place, delivery: delivery))
      }
    }
  }

  private func take(_ finished: Finished) {
    let isPressing = state.withLock { state in
      state.finished.append(finished)
      state.sending -= 1
      return [1, batch].contains(state.finished.count) || state.sending == 0
    }
    if isPressing { bell.ring() }
  }

  /// So many outcomes are worth a commit.
  private var batch: Int { max(1, provider.capacity / 4) }
}

// MARK: - Settling them

extension Lane {
  private func takeSignals() -> (isStopping: Bool, isWoken: Bool) {
    state.withLock { state in
      defer { state.isWoken = false }
      return (state.isStopping, state.isWoken)
    }
  }

  private func takeFinished() -> [Finished] {
    state.withLock { state in
      defer { state.finished = [] }
      return state.finished
    }
  }

  private func record(_ finished: [Finished], in work: inout LaneWork) {
    for one in finished {
      // Whoever is delivered does not wait, and a random number is a system call.
      let random = if case .delivered = one.delivery { 0.0 } else { random() }
      work.breaker.record(one.delivery, began: one.began, at: clock.now, random: random)
      for item in one.parcel.items { work.settle(item.job, outcome(one, for: item, random)) }
    }
  }

  private func outcome(
    _ finished: Finished, for item: Parcel.Item, _ random: Double
  ) -> Settlement.Outcome {
    switch finished.delivery {
    case .delivered(let reference):
      return .delivered(
        as: finished.parcel.push.text.kind, reference: reference, note: item.note)
    case .retry(let after, let reason), .unavailable(let after, let reason):
      let attempts = item.job.attempts + 1
      guard attempts < Self.attempts else {
        return .rejected(reason: "Given up after \(attempts) attempts: \(reason)")
      }
      let delay = max(after ?? .zero, Self.backoff.delay(after: attempts, random: random))
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
    } else if room(work, at: now) > 0, let due = try? await outbox.nextDue(lane: name) {
      deadline = min(deadline, max(due, now + 0.05))
    }
    await bell.wait(until: deadline, by: clock)
  }
}
