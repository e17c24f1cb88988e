/// Runs `body` and throws if it takes too long: a fault in a lane must fail its test, not end the run.
///
/// What `body` waits for has to end when its task is cancelled.
func within<R: Sendable>(
  _ limit: Duration = .seconds(40), _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
  try await withThrowingTaskGroup(of: R.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw TimedOut()
    }
    defer { group.cancelAll() }
    guard let result = try await group.next() else { throw TimedOut() }
    return result
  }
}

struct TimedOut: Error {}
