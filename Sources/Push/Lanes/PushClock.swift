package import FoundationEssentials

/// Where lanes take their time from, so that tests can own it.
package protocol PushClock: Sendable {
  /// The wall-clock time.
  var now: Date { get }

  /// Suspends until the wall-clock time is reached, or throws when the task is cancelled.
  func sleep(until deadline: Date) async throws
}

/// The machine's clock.
package struct SystemClock: PushClock {
  package init() {}

  package var now: Date { Date() }

  package func sleep(until deadline: Date) async throws {
    try await Task.sleep(for: .seconds(max(0, deadline.timeIntervalSinceNow)))
  }
}
