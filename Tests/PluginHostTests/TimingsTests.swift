import Testing

@testable import PluginHost

@Suite struct TimingsTests {
  /// What is thought of a plugin whose calls took so many microseconds.
  private static func times(_ microseconds: [Int]) -> Timings {
    let timings = Timings()
    for time in microseconds {
      timings.noteHold(.microseconds(time), of: timings.patience())
    }
    return timings
  }

  @Test func `calls quick what answered several times before another thread would have begun`() {
    #expect(Self.times([50, 50, 50, 50]).isQuick)
    #expect(!Self.times([50, 50]).isQuick)
    #expect(!Self.times(Array(repeating: 5000, count: 10)).isQuick)
  }

  @Test func `is patient with what is quick, and rarely with what is slow`() {
    let quick = Self.times(Array(repeating: 50, count: 10))
    #expect((0..<100).allSatisfy { _ in quick.patience() > .zero })
    let slow = Self.times(Array(repeating: 5000, count: 10_000))
    var tries = 0
    for _ in 0..<10_000 {
      let patience = slow.patience()
      if patience > .zero { tries += 1 }
      slow.noteHold(.milliseconds(5), of: patience)
    }
    #expect((1...200).contains(tries))
  }

  @Test func `forgives a single hold-up, and trusts again what has become quick`() {
    #expect(Self.times(Array(repeating: 50, count: 10) + [10_000_000]).isQuick)
    let slow = Array(repeating: 5000, count: 10)
    #expect(!Self.times(slow).isQuick)
    #expect(Self.times(slow + Array(repeating: 50, count: 1000)).isQuick)
  }

  @Test func `does not time calls whose turn never came`() {
    let timings = Timings()
    timings.count(.render, .microseconds(50))
    timings.count(.render, nil, Fault(error: .busy("Wait."), cause: "its queue is full"))
    #expect(timings.summary.count == 2 && timings.summary.failures == 1)
    #expect(timings.summary.slowest == .microseconds(50))
  }

  @Test func `times a call from its turn on`() async throws {
    let workshop = try Workshop()
    try workshop.resident("slow", "sleep 0.01; syswrite $c, ok('done');")
    let begun = ContinuousClock.now
    await withTaskGroup { group in
      for _ in 0..<12 { group.addTask { _ = await workshop.status("slow") } }
    }
    let elapsed = ContinuousClock.now - begun
    let calls = try #require(workshop.host.status().first).calls
    #expect(calls.count == 12 && calls.failures == 0)
    // There is one worker, so that turns follow each other; waits would overlap.
    #expect(try #require(calls.verbs["render"]).time <= elapsed)
  }
}
