import Delivery
import Media
import PluginHost
import Primitives
import Store
import Synchronization

/// Whether the server can do what it is there for: for `/readyz`, the log and the metrics.
final class Readiness: Sendable {
  /// For whom the server may be ready.
  enum Purpose: String, CaseIterable, Sendable {
    /// Devices get what was sent to them.
    case devices
    /// What publishers post is stored, and sent at once.
    case publishing
  }

  /// Why the server is not ready.
  struct Problem: Sendable, Equatable {
    enum Cause: Sendable, Equatable {
      case store
      case plugins([String])
      case lanes([String])
    }

    let cause: Cause
    /// A sentence that anybody may read.
    let sentence: String
    /// What the store has said; nil if it says nothing.
    var reason: String?
  }

  private struct State {
    var checks: [Purpose: (begin: ContinuousClock.Instant, task: Task<[Problem], Never>)] = [:]
    var problems: [Purpose: [Problem]] = [:]
  }

  private let store: Store
  private let host: PluginHost
  private let lanes: PushLanes
  private let conditions: Conditions
  private let log: Log
  private let clock: any SteadyClock
  private let state = Mutex(State())
  /// Changes wait for those before them, so one that waits tells as much as several.
  private let writing = Attempt()
  /// The same of files.
  private let space = Attempt()

  /// A check answers all who ask within this time: anybody may ask, and it writes to the disk.
  private static let validity = Duration.seconds(1)
  /// How long the store may take; longer than a commit takes on a slow disk.
  private static let patience = Duration.seconds(3)
  /// How often it is checked for the log and the metrics.
  private static let interval = Duration.seconds(5)

  init(
    store: Store, host: PluginHost, lanes: PushLanes, conditions: Conditions,
    clock: any SteadyClock, log: Log
  ) {
    (self.store, self.host, self.lanes, self.conditions) = (store, host, lanes, conditions)
    (self.clock, self.log) = (clock, log)
  }

  /// Checks from time to time, until the task is cancelled.
  func run() async {
    while !Task.isCancelled {
      for purpose in Purpose.allCases { _ = await problems(for: purpose) }
      try? await clock.sleep(for: Self.interval)
    }
  }

  /// What keeps the server from it now; none if it is ready.
  func problems(for purpose: Purpose) async -> [Problem] {
    let now = clock.now
    let task = state.withLock { state in
      if let last = state.checks[purpose], now - last.begin < Self.validity { return last.task }
      let task = Task { await check(purpose) }
      state.checks[purpose] = (now, task)
      return task
    }
    return await task.value
  }

  /// Whether it was ready at the last check.
  func isReady(for purpose: Purpose) -> Bool {
    state.withLock { $0.problems[purpose]?.isEmpty ?? true }
  }

  private func check(_ purpose: Purpose) async -> [Problem] {
    var problems: [Problem] = []
    if let problem = await storeProblem(for: purpose) { problems.append(problem) }
    let stuck = host.status().filter(\.queue.isStalled).map(\.plugin.richType)
    if !stuck.isEmpty {
      problems.append(
        Problem(
          cause: .plugins(stuck),
          sentence: "Plugin calls do not end while others wait: \(stuck.joined(separator: ", "))."))
    }
    let paused = purpose == .publishing ? lanes.paused : []
    if !paused.isEmpty {
      problems.append(
        Problem(
          cause: .lanes(paused),
          sentence:
            "Pushes wait, because push services fail: \(paused.joined(separator: ", "))."))
    }
    record(problems, purpose)
    return problems
  }

  /// What is wrong with the store: the database, its disk, and the object store.
  private func storeProblem(for purpose: Purpose) async -> Problem? {
    async let space = purpose == .devices ? Result.success(()) : spaceOutcome()
    async let objects = Attempt().outcome(within: Self.patience, clock) { [store] in
      try await store.probeObjects()
    }
    let database = await databaseOutcome(for: purpose)
    record(database, purpose)
    let outcomes = await [database, space, objects]
    let does = purpose == .devices ? "does not respond" : "takes nothing new"
    if let error = outcomes.lazy.compactMap({ $0?.failure }).first {
      let reason = error.logDescription
      return Problem(cause: .store, sentence: "The store \(does): \(reason).", reason: reason)
    }
    guard outcomes.contains(where: { $0 == nil }) else { return nil }
    let wait = "\(Self.patience.components.seconds) s"
    return Problem(
      cause: .store,
      sentence: purpose == .devices
        ? "The store has not responded for \(wait)."
        : "The store has taken no change for \(wait): another program may have locked the database."
    )
  }

  private func databaseOutcome(for purpose: Purpose) async -> Result<Void, any Error>? {
    switch purpose {
    case .devices:
      await Attempt().outcome(within: Self.patience, clock) { [store] in
        try await store.probeReading()
      }
    case .publishing:
      await writing.outcome(within: Self.patience, clock) { [store] in try await store.probe() }
    }
  }

  private func spaceOutcome() async -> Result<Void, any Error>? {
    await space.outcome(within: Self.patience, clock) { [store] in try await store.probeSpace() }
  }

  /// Says what is wrong with the database, by a read or a change that has failed, or takes too long: then the outcome
  /// is nil.
  private func record(_ outcome: Result<Void, any Error>?, _ purpose: Purpose) {
    let code = (outcome?.failure as? StoreError)?.code
    let isLate = outcome == nil
    switch purpose {
    case .devices:
      conditions.set(
        .databaseAway,
        isLate || code == .unavailable
          ? (outcome?.failure?.logDescription ?? "the database has not responded for seconds")
            + ": requests get 503 until it does; look at its server, its disk, and the network between"
          : nil, reason: outcome?.failure?.logDescription)
    case .publishing:
      let isLocked = (isLate || code == .busy) && !conditions.has(.databaseAway)
      let holder = isLocked ? store.lockHolder() : nil
      conditions.set(
        .databaseLocked, isLocked ? Self.lockSentence(holder) : nil, name: holder)
      conditions.set(
        .databaseFull,
        code == .full && !store.isDatabaseLocal
          ? "the disk of the PostgreSQL server is full: nothing is stored until there is space there"
          : nil)
    }
    if let damage = store.damage { conditions.set(.databaseDamaged, damage) }
  }

  private static func lockSentence(_ holder: String?) -> String {
    "\(holder ?? "another program or session") keeps the database from being changed: what would change it gets "
      + "503; end it"
      + (holder == nil
        ? ", or look for it: fuser richpush.db, or pg_stat_activity in PostgreSQL" : "")
  }

  private func record(_ problems: [Problem], _ purpose: Purpose) {
    let before = state.withLock { state in
      defer { state.problems[purpose] = problems }
      return state.problems[purpose] ?? []
    }
    // The sentences may have numbers that change.
    guard problems.map(\.cause) != before.map(\.cause) else { return }
    let sentences = problems.map(\.sentence).joined(separator: " ")
    switch (purpose, problems.isEmpty) {
    case (.devices, false): log(.error, "ready", "devices cannot be served: \(sentences)")
    case (.devices, true): log(.notice, "ready", "devices can be served again")
    case (.publishing, false): log(.warning, "ready", "publishing is disturbed: \(sentences)")
    case (.publishing, true): log(.notice, "ready", "publishing is possible again")
    }
  }
}

/// Something that may take long, one at a time; those who ask for its outcome wait for a while only.
private final class Attempt: Sendable {
  private let running = Mutex<Task<Result<Void, any Error>, Never>?>(nil)

  /// The outcome of what runs already, or else of `body`; nil if it takes longer than `time`.
  func outcome(
    within time: Duration, _ clock: any SteadyClock,
    _ body: @escaping @Sendable () async throws -> Void
  ) async -> Result<Void, any Error>? {
    let task = running.withLock { running in
      if let running { return running }
      let task = Task<Result<Void, any Error>, Never> {
        let result: Result<Void, any Error>
        do { result = .success(try await body()) } catch { result = .failure(error) }
        self.running.withLock { $0 = nil }
        return result
      }
      running = task
      return task
    }
    let (outcomes, outcome) = AsyncStream.makeStream(of: Result<Void, any Error>?.self)
    Task { outcome.yield(await task.value) }
    let timer = Task {
      try? await clock.sleep(for: time)
      outcome.yield(nil)
    }
    defer { timer.cancel() }
    for await first in outcomes { return first }
    return nil
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
