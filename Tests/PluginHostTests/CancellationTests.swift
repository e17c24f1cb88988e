import Testing
import Waiting

@testable import PluginHost

/// Callers that give up at the very moment when their answer is received.
@Suite(.serialized, .timeLimit(.minutes(2))) struct CancellationTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test func `a resident plugin answers the next call after any number of cancelled ones`()
    async throws
  {
    try fixture.resident(
      "resident", manifest: #""workers":{"max":4}"#, "sleep 0.002; syswrite $c, ok('fine');")
    try await cancelCalls(of: "resident")
  }

  @Test func `a one-shot plugin answers the next call after any number of cancelled ones`()
    async throws
  {
    try fixture.script("oneshot", "printf 'Content-Type: text/plain\\n\\nfine'")
    try await cancelCalls(of: "oneshot")
  }

  @Test func `a cancelled call ends at once and counts as no failure of a process`() async throws {
    try fixture.resident("slow", "syswrite $c, ok('fine') if $p->{RICH_ID} eq '9'; sleep 60;")
    for _ in 0..<3 {
      let call = Task { await fixture.code("slow") }
      try await eventually("it is called") {
        fixture.host.status().first?.processes.busy == 1
      }
      call.cancel()
      #expect(await call.value == .failed)
    }
    // After three failures a process would not be started for two seconds.
    #expect(try await fixture.text(PluginCall(verb: .render, richType: "slow", id: "9")) == "fine")
  }

  /// Cancels calls at the moment when others that began together with them are answered.
  private func cancelCalls(of name: String) async throws {
    for _ in 0..<30 {
      let call = Task { await fixture.code(name) }
      #expect(try await fixture.text(name) == "fine")
      call.cancel()
      #expect([nil, .failed].contains(await call.value))
    }
    #expect(try await fixture.text(name) == "fine")
  }
}
