import Synchronization

/// Limits how much work runs at once for each key; work for different keys does not wait for each other.
package final class KeyedSemaphore<Key: Hashable & Sendable>: Sendable {
  private struct Entry {
    var running = 0
    var waiters: [CheckedContinuation<Void, Never>] = []
  }

  private let entries = Mutex<[Key: Entry]>([:])
  private let width: Int

  /// Creates a semaphore that admits `width` operations for each key.
  package init(width: Int = 1) { self.width = max(1, width) }

  /// The number of keys with running or waiting work.
  package var count: Int { entries.withLock { $0.count } }

  /// Runs `body` when fewer than `width` operations with this key are running, in order of arrival.
  ///
  /// `width` replaces the semaphore's own. Cancelling the task does not end the wait.
  package func withPermit<R, E>(
    _ key: Key, width: Int? = nil, _ body: () async throws(E) -> R
  ) async throws(E) -> R {
    await acquire(key, width ?? self.width)
    defer { release(key) }
    return try await body()
  }

  private func acquire(_ key: Key, _ width: Int) async {
    if tryAcquire(key, width, else: nil) { return }
    await withCheckedContinuation { waiter in
      if tryAcquire(key, width, else: waiter) { waiter.resume() }
    }
  }

  private func tryAcquire(
    _ key: Key, _ width: Int, else waiter: CheckedContinuation<Void, Never>?
  ) -> Bool {
    entries.withLock { entries in
      if entries[key, default: Entry()].running < width {
        entries[key, default: Entry()].running += 1
        return true
      }
      if let waiter { entries[key]?.waiters.append(waiter) }
      return false
    }
  }

  private func release(_ key: Key) {
    let next = entries.withLock { entries -> CheckedContinuation<Void, Never>? in
      // The permit passes to the next waiter without being freed, so that no newcomer overtakes it.
      if entries[key]?.waiters.isEmpty == false { return entries[key]?.waiters.removeFirst() }
      entries[key]?.running -= 1
      if entries[key]?.running == 0 { entries[key] = nil }
      return nil
    }
    next?.resume()
  }
}
