import Testing

@testable import PluginHost

@Suite(.timeLimit(.minutes(1))) struct InlineWaitTests {
  /// The state after calls that took so many microseconds.
  private static func wait(after microseconds: [Int]) -> InlineWait {
    let wait = InlineWait()
    for time in microseconds {
      wait.record(.microseconds(time), wait.nextTimeout(), inline: true)
    }
    return wait
  }

  @Test func `is worthwhile for a plugin that has answered fast several times`() {
    #expect(Self.wait(after: [50, 50, 50, 50]).isWorthwhile)
    #expect(!Self.wait(after: [50, 50, 50]).isWorthwhile)
    #expect(!Self.wait(after: Array(repeating: 5000, count: 10)).isWorthwhile)
  }

  @Test func `waits five milliseconds for a fast plugin, and rarely for a slow one`() {
    let fast = Self.wait(after: Array(repeating: 50, count: 10))
    #expect((0..<100).allSatisfy { _ in fast.nextTimeout() == .milliseconds(5) })
    let slow = Self.wait(after: Array(repeating: 5000, count: 10_000))
    var waits = 0
    for _ in 0..<10_000 {
      let timeout = slow.nextTimeout()
      if timeout > .zero { waits += 1 }
      slow.record(.milliseconds(5), timeout, inline: true)
    }
    #expect((1...200).contains(waits))
  }

  @Test func `forgives a single slow answer, and trusts a plugin again that has become fast`() {
    #expect(Self.wait(after: Array(repeating: 50, count: 10) + [10_000_000]).isWorthwhile)
    let slow = Array(repeating: 5000, count: 10)
    #expect(!Self.wait(after: slow).isWorthwhile)
    #expect(Self.wait(after: slow + Array(repeating: 50, count: 1000)).isWorthwhile)
  }

  @Test func `does not learn from calls that were not waited for`() {
    let wait = InlineWait()
    for _ in 0..<10 { wait.record(.microseconds(50), .zero, inline: true) }
    #expect(!wait.isWorthwhile)
  }

  @Test func `a burst of calls on other threads does not make a fast plugin slow, hanging ones do`()
  {
    let wait = Self.wait(after: Array(repeating: 50, count: 10))
    for _ in 0..<100 { wait.record(.microseconds(900), wait.nextTimeout(), inline: false) }
    #expect(wait.isWorthwhile)
    for _ in 0..<10 { wait.record(.milliseconds(6), wait.nextTimeout(), inline: false) }
    #expect(!wait.isWorthwhile)
  }
}
