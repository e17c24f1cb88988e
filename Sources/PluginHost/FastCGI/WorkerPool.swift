import Synchronization

/// The resident workers of one version of a plugin.
///
/// A gate outside bounds how many are asked at once; the pool starts a worker when none is idle,
/// gives the longest-serving ones most work so that the others can retire, and starts ever more
/// slowly when they die without having served.
final class WorkerPool: Sendable {
  private struct State {
    /// The one that rested last is the next to work.
    var idle: [Worker] = []
    var failures = 0
    var notBefore = ContinuousClock.now
    var isClosed = false
  }

  /// The identity of the version it serves.
  let identity: String
  private let limits: Manifest.Workers
  private let start: @Sendable () throws(PluginError) -> Worker
  private let state = Mutex(State())

  init(
    plugin: Plugin, start: @escaping @Sendable () throws(PluginError) -> Worker
  ) {
    identity = plugin.identity
    limits = plugin.manifest.workers
    self.start = start
  }

  /// A worker for one request; return it with `giveBack` or report it with `lose`.
  ///
  /// - Throws: ``PluginError`` 503 while workers keep dying, with the time until the next try.
  func take() throws(PluginError) -> Worker {
    let (worker, pause) = state.withLock { state -> (Worker?, Duration) in
      while let worker = state.idle.popLast() {
        if worker.isAlive { return (worker, .zero) }
      }
      return (nil, state.failures > 1 ? ContinuousClock.now.duration(to: state.notBefore) : .zero)
    }
    if let worker { return worker }
    guard pause <= .zero else {
      throw PluginError(
        status: 503, reason: "The plugin keeps failing and is started again in a while.",
        retryAfter: Int(pause.components.seconds) + 1)
    }
    return try start()
  }

  /// Takes a worker back that answered.
  func giveBack(_ worker: Worker) {
    let isKept = state.withLock { state in
      state.failures = 0
      guard !state.isClosed, worker.requests < limits.requests else { return false }
      state.idle.append(worker)
      return true
    }
    guard isKept else { return worker.retire() }
    worker.rest(until: .now + .seconds(limits.idleSeconds)) { [weak self, weak worker] in
      if let worker { self?.dismiss(worker) }
    }
  }

  /// Notes that a worker died or was killed before it answered.
  func lose(_ worker: Worker) {
    state.withLock { state in
      state.failures += 1
      let seconds = state.failures > 1 ? min(60, 1 << min(state.failures - 2, 6)) : 0
      state.notBefore = .now + .seconds(seconds)
    }
  }

  /// Retires all workers, the busy ones when they come back.
  func close() {
    let idle = state.withLock { state in
      state.isClosed = true
      defer { state.idle = [] }
      return state.idle
    }
    for worker in idle { worker.retire() }
  }

  private func dismiss(_ worker: Worker) {
    let isIdle = state.withLock { state in
      guard state.idle.count > limits.min,
        let index = state.idle.firstIndex(where: { $0 === worker })
      else { return false }
      state.idle.remove(at: index)
      return true
    }
    if isIdle { worker.retire() }
  }
}
