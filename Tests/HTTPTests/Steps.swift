import Testing

/// The steps of a client that pauses after each.
struct Steps {
  private static let pause = Duration.milliseconds(10)

  private var longest = Duration.zero
  private var last = ContinuousClock.now

  /// Ends a step.
  mutating func pause() async throws {
    try await Task.sleep(for: Self.pause)
    noteTime()
  }

  private mutating func noteTime() {
    let now = ContinuousClock.now
    (longest, last) = (max(longest, now - last), now)
  }

  /// Tries until an attempt succeeds; one may fail only if the machine was so busy that a step took too long.
  ///
  /// An attempt returns false if its connection was closed.
  static func attempt(_ body: (inout Steps) async throws -> Bool) async throws {
    for _ in 0..<20 {
      var steps = Steps()
      if try await body(&steps) { return }
      steps.noteTime()
      if steps.longest < pause * 4 { break }
    }
    Issue.record("the connection was closed")
  }
}
