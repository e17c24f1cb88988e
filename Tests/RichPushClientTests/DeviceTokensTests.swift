import Synchronization
import Testing

@testable import RichPushClient

@Suite(.timeLimit(.minutes(1))) struct DeviceTokensTests {
  /// How many tokens the server has issued.
  private final class Issued: Sendable {
    private let number = Mutex(1)
    var count: Int { number.withLock { $0 } }

    func next() -> String {
      number.withLock { number in
        number += 1
        return "t-\(number)"
      }
    }
  }

  @Test func `requests that wait for a token together fail together, and the next one asks again`()
    async throws
  {
    let tokens = DeviceTokens()
    let (gate, opening) = AsyncStream.makeStream(of: Void.self)
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let requests = Issued()
    let fail: @Sendable () async throws -> String = {
      _ = requests.next()
      beginning.finish()
      for await _ in gate {}
      throw RichPushError(.unreachable, "away")
    }
    let all = [Task { try await tokens.token(of: "a", issue: fail) }]
    for await _ in begun {}
    let others = (0..<20).map { _ in Task { try await tokens.token(of: "a", issue: fail) } }
    for _ in 0..<1000 { await Task.yield() }
    opening.finish()
    for request in all + others {
      await #expect(throws: RichPushError.self) { try await request.value }
    }
    #expect(requests.count == 2, "it counts from 1")
    #expect(try await tokens.token(of: "a") { "t-1" } == "t-1")
  }

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
    let issued = Issued()
    let others = (0..<20).map { _ in
      Task {
        try await tokens.token(of: "a", insteadOf: "t-1") { issued.next() }
      }
    }
    for _ in 0..<1000 { await Task.yield() }
    opening.finish()
    #expect(try await first.value == "t-1")
    for other in others { #expect(try await other.value == "t-2") }
    #expect(issued.count == 2)
  }
}
