import Synchronization

/// Admits at most `width` operations at a time.
///
/// The rest wait, highest priority first, and are rejected when the queue is full or the wait would exceed
/// `timeout`.
///
/// Rendering, plugin calls, password hashing and uploads share this type; they differ only in how they rank
/// waiters.
///
///     let queue = AdmissionQueue(width: 2, timeout: .seconds(20))
///     let rendition = try await queue.withAdmission(priority: { $0 * callers }) {
///       await plugin.render(request)
///     }
package final class AdmissionQueue: Sendable {
  /// Why an operation was not admitted.
  package enum Rejection: Error, Equatable, CustomStringConvertible {
    /// The queue is longer than can be served within the timeout; carries the expected wait.
    case full(expectedWait: Duration)
    /// Not admitted before the timeout.
    case timedOut
    /// The task was cancelled while it waited.
    case cancelled

    /// What happened, in words.
    package var description: String {
      switch self {
      case .full(let wait): "queue full, expected wait \(wait)"
      case .timedOut: "not admitted in time"
      case .cancelled: "cancelled"
      }
    }
  }

  /// The priority of a waiter: the larger value is admitted first, and of equal ones the earlier arrival.
  package typealias Priority = @Sendable (_ waited: Duration) -> Duration

  private typealias Continuation = CheckedContinuation<Rejection?, Never>

  private struct Waiter {
    let id: Int
    let priority: Priority?
    let enqueued: ContinuousClock.Instant
    let continuation: Continuation
  }

  private struct State {
    var running = 0
    /// In the order of arrival.
    var waiters: [Waiter] = []
    /// Slots that are kept for ``tryAdmit(reserving:)`` while others wait.
    var reserved = 0
    var lastID = 0
    var rejected = 0
    var hasTimer = false
    /// Since when waiters exist without any operation having ended.
    var stalledSince: ContinuousClock.Instant?
    var averageDuration: Duration
  }

  /// The number of operations that may run at once.
  package let width: Int
  private let maximumWaiters: Int
  private let timeout: Duration
  private let clock: any SteadyClock
  private let state: Mutex<State>

  /// Comparing all waiters would cost O(n) at each release.
  private static let candidates = 32

  /// Creates a queue.
  ///
  /// - Parameters:
  ///   - width: The number of operations that may run at once.
  ///   - maximumWaiters: The number that may wait.
  ///   - timeout: The longest wait.
  ///   - initialDuration: The first estimate of how long an operation takes; later ones are measured by
  ///     ``withAdmission(_:_:)``. If it is too high, callers are rejected too early after a cold start, not
  ///     too late. Zero: only `maximumWaiters` and `timeout` reject.
  ///   - clock: What waits and operations are measured by.
  package init(
    width: Int, maximumWaiters: Int = .max, timeout: Duration, initialDuration: Duration = .zero,
    clock: any SteadyClock = ContinuousClock()
  ) {
    self.width = max(1, width)
    (self.maximumWaiters, self.timeout, self.clock) = (maximumWaiters, timeout, clock)
    state = Mutex(State(averageDuration: initialDuration))
  }

  /// The queue's load.
  package struct Status: Sendable {
    /// Operations that are running.
    package let running: Int
    /// Operations that wait.
    package let waiting: Int
    /// Operations rejected since the start.
    package let rejected: Int
    /// Whether no operation has ended for twice the timeout while others wait.
    package let isStalled: Bool
  }

  /// How many operations run, wait and were rejected.
  package var status: Status {
    state.withLock { state in
      Status(
        running: state.running, waiting: state.waiters.count, rejected: state.rejected,
        isStalled: state.stalledSince.map { clock.now - $0 > timeout * 2 } ?? false)
    }
  }

  /// Runs `body` once admitted, and measures how long it takes.
  package func withAdmission<R, E>(
    priority: Priority? = nil, _ body: () async throws(E) -> R
  ) async throws(Rejection) -> Result<R, E> {
    try await admit(priority: priority)
    let start = clock.now
    let result: Result<R, E>
    do throws(E) { result = .success(try await body()) } catch { result = .failure(error) }
    release(after: clock.now - start)
    return result
  }

  /// Waits for admission, which ``release(after:)`` ends.
  ///
  /// - Parameters:
  ///   - priority: The rank among waiters; without it they are admitted in the order of arrival. All
  ///     operations of a queue have one, or none has.
  ///   - reserved: Slots that are left for ``tryAdmit(reserving:)``.
  /// - Throws: `Rejection` if the operation may not run.
  package func admit(
    priority: Priority? = nil, reserving reserved: Int = 0
  ) async throws(Rejection) {
    if tryAdmit(reserving: reserved) { return }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let rejection = await withTaskCancellationHandler {
      await withCheckedContinuation { enqueue(id, $0, priority, reserving: reserved) }
    } onCancel: {
      reject(id, .cancelled)
    }
    if let rejection { throw rejection }
  }

  /// Admits an operation if a slot is free now.
  package func tryAdmit(reserving reserved: Int = 0) -> Bool {
    state.withLock { state in
      guard state.running < width - reserved else { return false }
      state.running += 1
      return true
    }
  }

  /// Ends an operation that was admitted, and admits the next.
  ///
  /// `time` is how long it took, if that is to count for the expected wait.
  package func release(after time: Duration? = nil) {
    let now = clock.now
    let next = state.withLock { state -> Continuation? in
      if let time { state.averageDuration = (state.averageDuration * 7 + time) / 8 }
      state.stalledSince = nil
      // The slot passes to the next waiter without being freed, so that no newcomer overtakes it.
      if state.running <= width - state.reserved, let next = takeNext(from: &state, now) {
        if !state.waiters.isEmpty { state.stalledSince = now }
        return next.continuation
      }
      state.running -= 1
      return nil
    }
    // Resumed outside the lock: resuming takes the task's own lock, which a cancelling thread may hold
    // while it waits for ours.
    next?.resume(returning: nil)
  }

  private func takeNext(from state: inout State, _ now: ContinuousClock.Instant) -> Waiter? {
    guard !state.waiters.isEmpty else { return nil }
    var (first, highest) = (0, Duration.zero)
    for index in 0..<min(state.waiters.count, Self.candidates) {
      guard let priority = state.waiters[index].priority else { break }
      let rank = priority(now - state.waiters[index].enqueued)
      if rank > highest { (first, highest) = (index, rank) }
    }
    return state.waiters.remove(at: first)
  }

  private func enqueue(
    _ id: Int, _ continuation: Continuation, _ priority: Priority?, reserving reserved: Int
  ) {
    let now = clock.now
    let (outcome, mustStartTimer) = state.withLock { state -> (Rejection??, Bool) in
      state.reserved = reserved
      if state.running < width - reserved {
        state.running += 1
        return (.some(nil), false)
      }
      if state.stalledSince == nil { state.stalledSince = now }
      if Task.isCancelled { return (.cancelled, false) }
      let expectedWait = state.averageDuration * (state.waiters.count / width)
      guard state.waiters.count < maximumWaiters, expectedWait <= timeout else {
        state.rejected += 1
        return (.full(expectedWait: expectedWait), false)
      }
      state.waiters.append(
        Waiter(id: id, priority: priority, enqueued: now, continuation: continuation))
      defer { state.hasTimer = true }
      return (nil, !state.hasTimer)
    }
    if let outcome { continuation.resume(returning: outcome) }
    if mustStartTimer { Task { await rejectTimedOut(from: now + timeout) } }
  }

  /// Rejects waiters at their timeout; one task does it for all, for as long as there are any.
  private func rejectTimedOut(from first: ContinuousClock.Instant) async {
    var next: ContinuousClock.Instant? = first
    while let deadline = next {
      try? await clock.sleep(until: deadline, tolerance: nil)
      let late = state.withLock { state in
        let late = state.waiters.prefix { $0.enqueued + timeout <= clock.now }
        state.waiters.removeFirst(late.count)
        state.rejected += late.count
        next = state.waiters.first.map { $0.enqueued + timeout }
        state.hasTimer = next != nil
        return late
      }
      for waiter in late { waiter.continuation.resume(returning: .timedOut) }
    }
  }

  private func reject(_ id: Int, _ rejection: Rejection) {
    let continuation = state.withLock { state -> Continuation? in
      guard let index = state.waiters.firstIndex(where: { $0.id == id }) else { return nil }
      state.rejected += 1
      return state.waiters.remove(at: index).continuation
    }
    continuation?.resume(returning: rejection)
  }
}
