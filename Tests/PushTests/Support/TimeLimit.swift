import Testing

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

/// Returns when the condition holds, for what nothing signals; records an issue if it does not in 30 s.
func eventually(
  _ what: Comment, sourceLocation: SourceLocation = #_sourceLocation,
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(30)
  while try await !condition() {
    guard .now < end else {
      Issue.record(what, sourceLocation: sourceLocation)
      return
    }
    try await Task.sleep(for: .milliseconds(5))
  }
}
