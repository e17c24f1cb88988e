import FoundationEssentials
import Testing
import Waiting

@testable import HTTP

/// What happens to a body while the plan for its request is deferred.
@Suite(.timeLimit(.minutes(1))) struct DeferredPlanTests {
  /// A decision that the test makes.
  private struct Decision: Sendable {
    private let answers = AsyncStream<ResponsePlan>.makeStream()
    private let questions = AsyncStream<Void>.makeStream()

    /// Waits until it is asked for.
    func isAwaited() async { for await _ in questions.stream { return } }

    func take(_ answer: ResponsePlan) { answers.continuation.yield(answer) }

    func answer(to request: Request) -> ResponsePlan {
      guard request.segments == ["deferred"] else { return .immediate(.text(200, "next")) }
      return .deferred(deadline: .seconds(60)) {
        questions.continuation.yield()
        for await answer in answers.stream { return answer }
        return .immediate(.empty(500))
      }
    }
  }

  private static let refusal = ResponsePlan.immediate(.problem(403, "No."))
  private static func files(in folder: String) -> [String] {
    (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? ["?"]
  }

  private static let framings = ["Content-Length: 100000", "Transfer-Encoding: chunked"]

  private static func head(_ fields: String..., method: String = "PUT") -> String {
    "\(method) /deferred HTTP/1.1\r\nHost: x\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n"
  }

  private static func saving(in folder: String) -> ResponsePlan {
    .savingBody(limit: 1 << 20, folder: folder, deadline: .seconds(10)) { saved in
      let bytes = FileManager.default.contents(atPath: saved.path) ?? Data()
      return .bytes(200, [UInt8](bytes), type: "a/b")
    }
  }

  @Test(arguments: framings, [false, true])
  func `sends 100 Continue only after the decision, and never with an error`(
    _ framing: String, _ isSecure: Bool
  ) async throws {
    let identity = isSecure ? try TestIdentities.one() : nil
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }, tls: identity) { served in
      let client =
        isSecure
        ? try #require(RawClient(served.port, tls: "NORMAL")) : RawClient(served.port)
      client.send(Self.head(framing, "Expect: 100-continue"))
      decision.take(Self.refusal)
      #expect(client.reply().status == 403)
      #expect(client.isClosed() && !client.wasReset)
    }
  }

  @Test(arguments: framings)
  func `sends 100 Continue once the plan reads the body`(_ framing: String) async throws {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      client.send(Self.head(framing, "Expect: 100-continue"))
      decision.take(Self.saving(in: served.folder))
      #expect(client.reply().status == 100)
      let body = [UInt8](repeating: 65, count: 100_000)
      let isChunked = framing.hasSuffix("chunked")
      client.send(isChunked ? Array("186a0\r\n".utf8) + body + Array("\r\n0\r\n\r\n".utf8) : body)
      #expect(client.reply().body == body)
    }
  }

  @Test(arguments: framings)
  func `writes nothing of a rejected body, and the client receives the error`(
    _ framing: String
  ) async throws {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      let piece = framing.hasSuffix("chunked") ? "4e20\r\n" : ""
      client.send(Self.head(framing) + piece + String(repeating: "x", count: 20_000))
      await decision.isAwaited()
      #expect(Self.files(in: served.folder) == [])
      decision.take(Self.refusal)
      // The request that hides in the body is never seen as one.
      client.send("GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(client.reply().status == 403)
      #expect(client.isClosed() && !client.wasReset)
      #expect(Self.files(in: served.folder) == [])
    }
  }

  @Test func `reads a body from its first byte, also what arrived before the decision`()
    async throws
  {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      let body = TestServer.pattern + [UInt8](repeating: 7, count: 99_000)
      client.send(Array(Self.head("Content-Length: 100000").utf8) + body.prefix(40_000))
      decision.take(Self.saving(in: served.folder))
      client.send(body.dropFirst(40_000) + Array("GET /next HTTP/1.1\r\nHost: x\r\n\r\n".utf8))
      #expect(client.reply().body == body)
      #expect(client.reply().text == "next")
    }
  }

  @Test func `a request without a body keeps its connection, whatever is decided`() async throws {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      for answer in [Self.refusal, .asynchronous(deadline: .seconds(10)) { .text(403, "No.") }] {
        client.send(Self.head(method: "HEAD") + "GET /next HTTP/1.1\r\nHost: x\r\n\r\n")
        decision.take(answer)
        #expect(client.reply(hasBody: false).status == 403)
        #expect(client.reply().text == "next")
      }
    }
  }

  @Test func `a body of a HEAD that is refused is not read, and the answer has none`() async throws
  {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      client.send(Self.head("Content-Length: 100000", method: "HEAD"))
      decision.take(Self.refusal)
      #expect(client.reply(hasBody: false).status == 403)
      #expect(client.isClosed() && !client.wasReset)
    }
  }

  @Test func `a body that is declared too large gets 413 although the request is allowed`()
    async throws
  {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      let client = RawClient(served.port)
      client.send(Self.head("Content-Length: 5000000000", "Expect: 100-continue"))
      decision.take(Self.saving(in: served.folder))
      #expect(client.reply().status == 413)
      #expect(client.isClosed())
      #expect(Self.files(in: served.folder) == [])
    }
  }

  @Test(arguments: [false, true])
  func `a decision that takes too long is a 503, and ends the connection if a body follows`(
    _ hasBody: Bool
  ) async throws {
    try await TestServer.with({ _ in
      .deferred(deadline: .milliseconds(1)) {
        try? await Task.sleep(for: .seconds(60))
        return Self.saving(in: "/nowhere")
      }
    }) { served in
      let client = RawClient(served.port)
      client.send(hasBody ? Self.head("Content-Length: 9") : Self.head())
      #expect(client.reply().status == 503)
      #expect(client.isClosed())
    }
  }

  @Test func `a client that disconnects meanwhile leaves nothing behind`() async throws {
    let decision = Decision()
    try await TestServer.with({ decision.answer(to: $0) }) { served in
      do {
        let client = RawClient(served.port)
        client.send(Self.head("Content-Length: 100000") + "part")
        await decision.isAwaited()
      }
      decision.take(Self.saving(in: served.folder))
      try await served.connectionsClosed()
      try await eventually("its file is removed") { Self.files(in: served.folder) == [] }
    }
  }
}
