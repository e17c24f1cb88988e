/// A condition that was not met in time.
package struct Unmet: Error, CustomStringConvertible {
  package let description: String

  package init(_ description: String) { self.description = description }
}

/// Waits until a condition holds that another task, thread or process brings about.
///
/// It gives up much later than any of them takes on a busy machine.
///
/// - Throws: ``Unmet`` after 100 seconds, or when the task is cancelled, as a suite's time limit does.
package func eventually(
  _ what: @autoclosure () -> String, file: StaticString = #fileID, line: UInt = #line,
  _ condition: () async throws -> Bool
) async throws {
  let end = ContinuousClock.now + .seconds(100)
  var pause = Duration.milliseconds(1)
  while try await !condition() {
    guard .now < end, (try? await Task.sleep(for: pause)) != nil else {
      throw Unmet("\(file):\(line): it did not come true that \(what())")
    }
    pause = min(pause * 2, .milliseconds(20))
  }
}

/// Runs `body`, for which there is a limit of time.
///
/// What `body` waits for has to end when its task is cancelled.
///
/// - Throws: ``Unmet`` if it takes longer.
package func within<R: Sendable>(
  _ limit: Duration = .seconds(40), _ body: @escaping @Sendable () async throws -> R
) async throws -> R {
  try await withThrowingTaskGroup(of: R.self) { group in
    group.addTask { try await body() }
    group.addTask {
      try await Task.sleep(for: limit)
      throw Unmet("it has not ended after \(limit)")
    }
    defer { group.cancelAll() }
    guard let result = try await group.next() else { throw CancellationError() }
    return result
  }
}
