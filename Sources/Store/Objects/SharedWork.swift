import Synchronization

/// Work that all callers with one key share while it runs.
final class SharedWork<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  private let running = Mutex<[Key: Task<Result<Value, StoreError>, Never>]>([:])

  /// Runs `body`, unless it runs for this key already, and returns its outcome.
  ///
  /// It is completed even if the caller's task is cancelled, since others may wait for it.
  func run(
    _ key: Key, _ body: @escaping @Sendable () async throws(StoreError) -> Value
  ) async throws(StoreError) -> Value {
    let task = running.withLock { running in
      if let task = running[key] { return task }
      let task = Task<Result<Value, StoreError>, Never>.detached { [self] in
        let result: Result<Value, StoreError>
        do throws(StoreError) { result = .success(try await body()) } catch {
          result = .failure(error)
        }
        self.running.withLock { $0[key] = nil }
        return result
      }
      running[key] = task
      return task
    }
    return try await task.value.get()
  }
}
