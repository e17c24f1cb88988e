import Testing

@testable import PluginHost

/// Callers who leave at the very moment when their answer comes.
@Suite(.timeLimit(.minutes(2))) struct CalledOffTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test func `a resident plugin answers the next after any number of calls that were called off`()
    async throws
  {
    try workshop.resident(
      "resident", manifest: #""workers":{"max":4}"#, "sleep 0.002; syswrite $c, ok('fine');")
    try await callOff("resident", times: 80)
  }

  @Test func `a plugin answers the next after any number of calls that were called off`()
    async throws
  {
    try workshop.script("oneshot", "printf 'Content-Type: text/plain\\n\\nfine'")
    try await callOff("oneshot", times: 80)
  }

  /// Calls a plugin, and calls it off about when it should be done.
  private func callOff(_ name: String, times: Int) async throws {
    let begun = ContinuousClock.now
    for _ in 0..<10 { #expect(try await workshop.text(name) == "fine") }
    let usual = (ContinuousClock.now - begun) / 10
    for time in 0..<times {
      let call = Task { await workshop.status(name) }
      let end = ContinuousClock.now + usual * (0.7 + Double(time % 30) / 50)
      while ContinuousClock.now < end { await Task.yield() }
      call.cancel()
      #expect([200, 502].contains(await call.value))
    }
    #expect(try await workshop.text(name) == "fine")
  }
}
