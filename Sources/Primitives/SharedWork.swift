import Synchronization

/// Work that all callers with one key share while it is under way.
///
/// It is completed even if a caller's task is cancelled, since others may wait for it.
///
///     let fetches = SharedWork<Digest, Bool>()
///     let isFetched = await fetches.value(digest) { await store.fetch(digest) }
package final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private final class Outcome: Sendable {
    let value = Mutex<Value?>(nil)
  }

  /// What to call with the outcome of the work that is under way for a key.
  private let waiting = Mutex<[Key: [@Sendable (Value) -> Void]]>([:])

  /// Creates one with nothing under way.
  package init() {}

  /// Whether work with this key is under way.
  package func isUnderWay(_ key: Key) -> Bool { waiting.withLock { $0[key] != nil } }

  /// How many callers wait for the work with this key.
  package func waiters(_ key: Key) -> Int { waiting.withLock { $0[key]?.count ?? 0 } }

  /// The outcome of `body`, which begins at once on the calling thread; if work with this key is under way, calls
  /// `joining`, and returns its outcome.
  package func value(
    _ key: Key, joining: () -> Void = {}, _ body: @escaping @Sendable () async -> Value
  ) async -> Value {
    await withCheckedContinuation { caller in
      let isNew = waiting.withLock { waiting in
        let isNew = waiting[key] == nil
        waiting[key, default: []].append { caller.resume(returning: $0) }
        return isNew
      }
      if isNew { _ = start(key, body) } else { joining() }
    }
  }

  /// Begins `body` on the calling thread, unless work with this key is under way; returns its outcome if it ends
  /// without suspending.
  @discardableResult
  package func begin(_ key: Key, _ body: @escaping @Sendable () async -> Value) -> Value? {
    let isNew = waiting.withLock { waiting in
      if waiting[key] != nil { return false }
      waiting[key] = []
      return true
    }
    return isNew ? start(key, body) : nil
  }

  /// Calls a function when the work with this key has ended; at once if none is under way.
  package func whenEnded(_ key: Key, _ body: @escaping @Sendable () -> Void) {
    let isUnderWay = waiting.withLock { $0[key]?.append({ _ in body() }) != nil }
    if !isUnderWay { body() }
  }

  private func start(_ key: Key, _ body: @escaping @Sendable () async -> Value) -> Value? {
    let outcome = Outcome()
    Task.immediate { [self] in
      let value = await body()
      outcome.value.withLock { $0 = value }
      let callers = waiting.withLock { $0.removeValue(forKey: key) }
      for caller in callers ?? [] { caller(value) }
    }
    return outcome.value.withLock { $0 }
  }
}

extension SharedWork {
  /// The result of `body`, or what it throws, like ``value(_:joining:_:)``.
  package func run<Success: Sendable, Failure: Error>(
    _ key: Key, _ body: @escaping @Sendable () async throws(Failure) -> Success
  ) async throws(Failure) -> Success where Value == Result<Success, Failure> {
    try await value(key) {
      do throws(Failure) { return .success(try await body()) } catch { return .failure(error) }
    }.get()
  }
}
