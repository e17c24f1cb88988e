import Synchronization
import Testing

@testable import RichPushClient

@Suite(.timeLimit(.minutes(1))) struct DeviceTokensTests {
  @Test func `requests whose token was rejected together share the next one`() async throws {
    let tokens = DeviceTokens()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    // All of them wait for the token that is then rejected.
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let first = Task {
      try await tokens.token(of: "a") {
        beginning.finish()
        for await _ in gate {}
        return "t-1"
      }
    }
    for await _ in begun {}
    let issued = Atomic(1)
    let others = (0..<20).map { _ in
      Task {
        try await tokens.token(of: "a", insteadOf: "t-1") {
          "t-\(issued.add(1, ordering: .relaxed).newValue)"
        }
      }
    }
    for _ in 0..<1000 { await Task.yield() }
    opening.finish()
    #expect(try await first.value == "t-1")
    for other in others { #expect(try await other.value == "t-2") }
    #expect(issued.load(ordering: .relaxed) == 2)
  }
}
