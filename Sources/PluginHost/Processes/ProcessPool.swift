import Synchronization

/// A process that is kept between calls: a resident process, or the supervisor of one-shot processes.
protocol PooledProcess: AnyObject, Sendable {
  /// Whether it still runs, as far as is known.
  var isAlive: Bool { get }
  /// The number of calls it was given.
  var requests: Int { get }
  /// Whether to replace it when it has ended, even without a call.
  var isReplaceable: Bool { get }
  /// Where calls can write; emptied after each.
  var scratch: ScratchFolder { get }
  /// Notes that it has no call; calls `action` unless it is given one before `deadline`.
  func becomeIdle(
    until deadline: ContinuousClock.Instant, then action: @escaping @Sendable () -> Void)
  /// Calls `action` when it has ended, or now if it has.
  func onEnd(_ action: @escaping @Sendable () -> Void)
  /// Lets it finish its call and end.
  func retire()
}

/// The processes of one version of a plugin.
///
/// How many run at once is limited by the runtime's queue. The pool starts a process when none is idle, prefers
/// the one used last so that the others become idle for long enough to be ended, keeps a minimum ready, and
/// delays starts more and more while processes end without having answered.
final class ProcessPool<Member: PooledProcess>: Sendable {
  private struct State {
    /// The one used last is last.
    var idle: [Member] = []
    var living = 0
    var failures = 0
    var nextStart = ContinuousClock.now
    var isRefilling = false
    var isClosed = false
  }

  private let limits: Manifest.Workers
  private let start: @Sendable () throws(PluginError) -> Member
  private let state = Mutex(State())

  /// The longest pause between two starts, in seconds.
  private let longestPause = 60

  init(
    limits: Manifest.Workers, start: @escaping @Sendable () throws(PluginError) -> Member
  ) {
    (self.limits, self.start) = (limits, start)
  }

  /// The number of idle processes, and of those with a call.
  var count: (idle: Int, busy: Int) {
    state.withLock { state in
      (state.idle.count, max(0, state.living - state.idle.count))
    }
  }

  /// Runs `body` with a process, which is then returned to the pool.
  ///
  /// - Throws: ``PluginError/Code/busy`` while processes keep failing, with the time until the next start.
  func withProcess<R>(
    _ body: (Member) async throws(PluginError) -> R
  ) async throws(PluginError) -> R {
    let member = try take()
    let result: Result<R, PluginError>
    do throws(PluginError) {
      result = .success(try await body(member))
    } catch {
      result = .failure(error)
    }
    await release(member)
    return try result.get()
  }

  private func take() throws(PluginError) -> Member {
    let (member, pause) = state.withLock { state -> (Member?, Duration) in
      while let member = state.idle.popLast() {
        if member.isAlive { return (member, .zero) }
      }
      // A single failure starts another at once.
      return (nil, state.failures > 1 ? ContinuousClock.now.duration(to: state.nextStart) : .zero)
    }
    if let member { return member }
    guard pause <= .zero else {
      throw PluginError(
        .busy, "The plugin keeps failing and is started again in a while.",
        retryAfter: Int(pause.components.seconds) + 1)
    }
    return try startOne()
  }

  /// One whose TMPDIR cannot be emptied must not serve another call.
  private func release(_ member: Member) async {
    guard member.isAlive else { return }
    guard await member.scratch.empty() else { return member.retire() }
    becomeIdle(member)
    let isKept = state.withLock { state in
      state.failures = 0
      guard !state.isClosed, member.requests < limits.requests else { return false }
      state.idle.append(member)
      return true
    }
    if !isKept { member.retire() }
  }

  /// Must be called before the process is listed as idle: from then on a call may take it.
  private func becomeIdle(_ member: Member) {
    member.becomeIdle(until: .now + .seconds(limits.idleSeconds)) { [weak self, weak member] in
      if let member { self?.endIdle(member) }
    }
  }

  /// Records that a process ended or was killed before it answered.
  func recordFailure() {
    state.withLock { state in
      state.failures += 1
      // 0, 1, 2, 4 … seconds.
      let pause = state.failures > 1 ? min(longestPause, 1 << min(state.failures - 2, 6)) : 0
      state.nextStart = .now + .seconds(pause)
    }
  }

  /// Starts processes until there are `count`, unless they have failed lately.
  func prestart(_ count: Int) {
    while state.withLock({ !$0.isClosed && $0.living < count && $0.failures == 0 }) {
      guard startIdle() else { return }
    }
  }

  /// Starts processes until there is the minimum, after the pause that failures demand.
  func fill() {
    let pause = state.withLock { state -> Duration? in
      guard !state.isClosed, !state.isRefilling, state.living < limits.min else { return nil }
      state.isRefilling = true
      return max(.zero, ContinuousClock.now.duration(to: state.nextStart))
    }
    guard let pause else { return }
    Task { [weak self] in
      try? await Task.sleep(for: pause)
      self?.refill()
    }
  }

  private func refill() {
    while state.withLock({ !$0.isClosed && $0.living < limits.min }) {
      guard startIdle() else {
        recordFailure()
        break
      }
    }
    state.withLock { $0.isRefilling = false }
  }

  /// Ends the idle processes now, and the others when their calls have ended.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for member in idle { member.retire() }
  }

  private func startIdle() -> Bool {
    guard let member = try? startOne() else { return false }
    becomeIdle(member)
    let isKept = state.withLock { state in
      if !state.isClosed { state.idle.insert(member, at: 0) }
      return !state.isClosed
    }
    if !isKept { member.retire() }
    return true
  }

  private func startOne() throws(PluginError) -> Member {
    let member = try start()
    state.withLock { $0.living += 1 }
    member.onEnd { [weak self, weak member] in self?.ended(member) }
    return member
  }

  private func ended(_ member: Member?) {
    let wasUnused = state.withLock { state in
      state.living -= 1
      return Self.removeIdle(member, from: &state) && member?.requests == 0
    }
    if wasUnused { recordFailure() }
    if member?.isReplaceable != false { fill() }
  }

  private func endIdle(_ member: Member) {
    let isSurplus = state.withLock { state in
      state.idle.count > limits.min && Self.removeIdle(member, from: &state)
    }
    if isSurplus { member.retire() }
  }

  private static func removeIdle(_ member: Member?, from state: inout State) -> Bool {
    guard let index = state.idle.firstIndex(where: { $0 === member }) else { return false }
    state.idle.remove(at: index)
    return true
  }
}
