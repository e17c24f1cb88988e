import Testing

@testable import Store

/// How long a node could have heard from its database.
@Suite(.timeLimit(.minutes(1))) struct RunningClockTests {
  private let start = ContinuousClock.now

  @Test func `every second counts while the process runs, and hardly any while it is suspended`() {
    var clock = RunningClock(start)
    for second in 1...10 {
      #expect(clock.advance(to: start + .seconds(second)) == .seconds(second))
    }
    let suspended = clock.advance(to: start + .seconds(3600))
    #expect(suspended < .seconds(15))
    #expect(clock.advance(to: start + .seconds(3601)) == suspended + .seconds(1))
  }
}
