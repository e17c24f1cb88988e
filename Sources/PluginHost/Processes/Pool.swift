import Synchronization

/// The processes that stay for one version of a plugin.
///
/// A gate outside bounds how many are asked at once. The pool starts one when none is idle, gives
/// the longest-serving ones most work so that the others can retire, keeps a minimum ready, and
/// starts ever more slowly when they die without having served.
final class Pool<Member: Resident>: Sendable {
  /// How many there are.
  struct Count: Sendable, Hashable {
    var idle = 0
    var busy = 0
  }

  private struct State {
    /// The one that rested last is the next to work.
    var idle: [Member] = []
    var living = 0
    var failures = 0
    var notBefore = ContinuousClock.now
    var isRefilling = false
    var isClosed = false
  }

  private let limits: Manifest.Workers
  private let start: @Sendable () throws(PluginError) -> Member
  private let state = Mutex(State())

  init(
    limits: Manifest.Workers, start: @escaping @Sendable () throws(PluginError) -> Member
  ) {
    self.limits = limits
    self.start = start
  }

  /// How many are idle and how many are at work.
  var count: Count {
    state.withLock { state in
      Count(idle: state.idle.count, busy: max(0, state.living - state.idle.count))
    }
  }

  /// One for a call; return it with `giveBack` or report it with `lose`.
  ///
  /// - Throws: ``PluginError`` 503 while they keep dying, with the time until the next try.
  func take() throws(PluginError) -> Member {
    let (member, pause) = state.withLock { state -> (Member?, Duration) in
      while let member = state.idle.popLast() {
        if member.isAlive { return (member, .zero) }
      }
      return (nil, state.failures > 1 ? ContinuousClock.now.duration(to: state.notBefore) : .zero)
    }
    if let member { return member }
    guard pause <= .zero else {
      throw PluginError(
        status: 503, reason: "The plugin keeps failing and is started again in a while.",
        retryAfter: Int(pause.components.seconds) + 1)
    }
    return try begin()
  }

  /// Takes one back that answered.
  func giveBack(_ member: Member) {
    rest(member)
    let isKept = state.withLock { state in
      state.failures = 0
      guard !state.isClosed, member.requests < limits.requests else { return false }
      state.idle.append(member)
      return true
    }
    if !isKept { member.retire() }
  }

  /// To be called before it is among the idle ones, where the next call may take it at once.
  private func rest(_ member: Member) {
    member.rest(until: .now + .seconds(limits.idleSeconds)) { [weak self, weak member] in
      if let member { self?.dismiss(member) }
    }
  }

  /// Takes one back with an empty TMPDIR; one that makes that impossible has to go.
  func release(_ member: Member) async {
    guard member.isAlive else { return }
    if await member.scratch.empty() { giveBack(member) } else { member.retire() }
  }

  /// Notes that one died or was killed before it answered.
  func lose() {
    state.withLock { state in
      state.failures += 1
      let seconds = state.failures > 1 ? min(60, 1 << min(state.failures - 2, 6)) : 0
      state.notBefore = .now + .seconds(seconds)
    }
  }

  /// Starts as many as will be needed in a moment, unless they have failed of late.
  func prepare(_ count: Int) {
    while state.withLock({ !$0.isClosed && $0.living < count && $0.failures == 0 }) {
      guard let member = try? begin() else { return }
      giveBackUnused(member)
    }
  }

  /// Starts as many as there must be at least; those that die are replaced, ever more slowly.
  func fill() {
    let pause = state.withLock { state -> Duration? in
      guard !state.isClosed, !state.isRefilling, state.living < limits.min else { return nil }
      state.isRefilling = true
      return max(.zero, ContinuousClock.now.duration(to: state.notBefore))
    }
    guard let pause else { return }
    Task { [weak self] in
      try? await Task.sleep(for: pause)
      self?.refill()
    }
  }

  /// Retires all, the busy ones when they come back.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for member in idle { member.retire() }
  }

  private func refill() {
    while state.withLock({ !$0.isClosed && $0.living < limits.min }) {
      guard let member = try? begin() else {
        lose()
        break
      }
      giveBackUnused(member)
    }
    state.withLock { $0.isRefilling = false }
  }

  private func giveBackUnused(_ member: Member) {
    rest(member)
    let isKept = state.withLock { state in
      if !state.isClosed { state.idle.insert(member, at: 0) }
      return !state.isClosed
    }
    if !isKept { member.retire() }
  }

  private func begin() throws(PluginError) -> Member {
    let member = try start()
    state.withLock { $0.living += 1 }
    member.whenEnded { [weak self, weak member] in self?.ended(member) }
    return member
  }

  private func ended(_ member: Member?) {
    let isUnused = state.withLock { state in
      state.living -= 1
      guard let index = state.idle.firstIndex(where: { $0 === member }) else { return false }
      state.idle.remove(at: index)
      return member?.requests == 0
    }
    if isUnused { lose() }
    if member?.isReplaced != false { fill() }
  }

  private func dismiss(_ member: Member) {
    let isIdle = state.withLock { state in
      guard state.idle.count > limits.min,
        let index = state.idle.firstIndex(where: { $0 === member })
      else { return false }
      state.idle.remove(at: index)
      return true
    }
    if isIdle { member.retire() }
  }
}
