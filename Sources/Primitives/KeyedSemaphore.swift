import Synchronization

/// Limits how much is under way at once for each key, such as a user; different keys do not wait for each other.
///
///     let uploads = KeyedSemaphore<UserID>(width: 8)
///     guard let permit = uploads.tryPermit(user) else { throw tooMany }
///     defer { permit.end() }
package final class KeyedSemaphore<Key: Hashable & Sendable>: Sendable {
  private struct Waiter {
    let id: Int
    let continuation: CheckedContinuation<Bool, Never>
  }

  private struct Entry {
    var running = 0
    /// In the order of arrival.
    var waiters: [Waiter] = []
  }

  private struct State {
    var entries: [Key: Entry] = [:]
    var lastID = 0
  }

  private let state = Mutex(State())
  private let width: Int
  private let maximumWaiters: Int

  /// Creates a semaphore that admits `width` operations for each key.
  ///
  /// For each key at most `maximumWaiters` calls of ``permit(_:width:)`` wait.
  package init(width: Int = 1, maximumWaiters: Int = .max) {
    (self.width, self.maximumWaiters) = (max(1, width), maximumWaiters)
  }

  /// The number of keys with running or waiting work.
  package var count: Int { state.withLock { $0.entries.count } }

  /// The permits of a key that have not ended.
  package func running(_ key: Key) -> Int { state.withLock { $0.entries[key]?.running ?? 0 } }

  /// What was admitted; it ends with ``end()``, or with the last reference to it, which may be before the end of a scope
  /// in which it is not used any more.
  package final class Permit: Sendable {
    private let semaphore: KeyedSemaphore
    private let key: Key
    private let isOver = Atomic(false)

    fileprivate init(_ semaphore: KeyedSemaphore, _ key: Key) {
      (self.semaphore, self.key) = (semaphore, key)
    }

    deinit { end() }

    /// Admits the next one; does nothing the second time.
    package func end() {
      if !isOver.exchange(true, ordering: .acquiringAndReleasing) { semaphore.release(key) }
    }
  }

  /// A permit if fewer than `width` are under way with this key; nil otherwise.
  ///
  /// `width` replaces the semaphore's own.
  package func tryPermit(_ key: Key, width: Int? = nil) -> Permit? {
    state.withLock { tryAcquire(key, width, in: &$0) } ? Permit(self, key) : nil
  }

  /// A permit once fewer than `width` are under way with this key, in order of arrival; nil if too many wait
  /// already, or the task is cancelled.
  ///
  /// `width` replaces the semaphore's own.
  package func permit(_ key: Key, width: Int? = nil) async -> Permit? {
    if let permit = tryPermit(key, width: width) { return permit }
    let id = state.withLock { state in
      state.lastID += 1
      return state.lastID
    }
    let isAdmitted = await withTaskCancellationHandler {
      await withCheckedContinuation { waiter in
        let outcome = state.withLock { state -> Bool? in
          if Task.isCancelled { return false }
          return enqueue(
            Waiter(id: id, continuation: waiter), key, width, maximumWaiters, in: &state)
        }
        if let outcome { waiter.resume(returning: outcome) }
      }
    } onCancel: {
      cancel(id, key)
    }
    return isAdmitted ? Permit(self, key) : nil
  }

  /// Runs `body` when fewer than `width` operations with this key are running, in order of arrival.
  ///
  /// `width` replaces the semaphore's own. Cancelling the task does not end the wait, and any number may wait.
  package func withPermit<R, E>(
    _ key: Key, width: Int? = nil, _ body: () async throws(E) -> R
  ) async throws(E) -> R {
    _ = await withCheckedContinuation { waiter in
      let outcome = state.withLock { state in
        enqueue(Waiter(id: 0, continuation: waiter), key, width, .max, in: &state)
      }
      if let outcome { waiter.resume(returning: outcome) }
    }
    defer { release(key) }
    return try await body()
  }

  private func tryAcquire(_ key: Key, _ width: Int?, in state: inout State) -> Bool {
    guard state.entries[key]?.running ?? 0 < width ?? self.width else { return false }
    state.entries[key, default: Entry()].running += 1
    return true
  }

  /// Admits at once (true), refuses (false), or adds a waiter (nil).
  private func enqueue(
    _ waiter: Waiter, _ key: Key, _ width: Int?, _ limit: Int, in state: inout State
  ) -> Bool? {
    if tryAcquire(key, width, in: &state) { return true }
    guard state.entries[key, default: Entry()].waiters.count < limit else { return false }
    state.entries[key, default: Entry()].waiters.append(waiter)
    return nil
  }

  private func release(_ key: Key) {
    let next = state.withLock { state -> Waiter? in
      // The permit passes to the next waiter without being freed, so that no newcomer overtakes it.
      if state.entries[key]?.waiters.isEmpty == false {
        return state.entries[key]?.waiters.removeFirst()
      }
      state.entries[key]?.running -= 1
      if state.entries[key]?.running == 0 { state.entries[key] = nil }
      return nil
    }
    // Outside the lock, as in `AdmissionQueue`.
    next?.continuation.resume(returning: true)
  }

  private func cancel(_ id: Int, _ key: Key) {
    let waiter = state.withLock { state -> Waiter? in
      guard let index = state.entries[key]?.waiters.firstIndex(where: { $0.id == id }) else {
        return nil
      }
      return state.entries[key]?.waiters.remove(at: index)
    }
    waiter?.continuation.resume(returning: false)
  }
}
