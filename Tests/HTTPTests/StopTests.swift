import Dispatch
import Synchronization
import Testing
import Primitives
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct StopTests {
  private static let request = "GET / HTTP/1.1\r\nHost: x\r\n\r\n"

  private static func server(
    _ limits: ServerConfiguration.Limits = .init(),
    _ answer: @escaping @Sendable (Request) -> ResponsePlan
  ) throws -> Server {
    try Server(
      ServerConfiguration(limits: limits), responder: TestServer.ClosureResponder(closure: answer),
      log: .silent)
  }

  @Test func `a loop that a responder blocks does not turn`() async throws {
    let gate = DispatchSemaphore(value: 0)
    let server = try Self.server { _ in
      gate.wait()
      return .immediate(.text(200, "late"))
    }
    func turns(within time: DispatchTimeInterval) -> Bool {
      let group = DispatchGroup()
      server.turn(group)
      return group.wait(timeout: .now() + time) == .success
    }
    #expect(turns(within: .seconds(30)))
    let client = RawClient(server.port)
    client.send(Self.request)
    try await eventually("the loop is blocked") { !turns(within: .milliseconds(20)) }
    gate.signal()
    #expect(client.reply().text == "late")
    #expect(turns(within: .seconds(30)))
    await server.stop(grace: .zero)
  }

  @Test func `finishes every response that was begun`() async throws {
    for _ in 0..<10 {
      let (started, starting) = AsyncStream<Void>.makeStream()
      let (gate, opener) = AsyncStream<Void>.makeStream()
      let server = try Self.server { _ in
        .asynchronous(deadline: .seconds(10)) {
          starting.yield()
          for await _ in gate { break }
          return .text(200, "late but whole")
        }
      }
      let client = RawClient(server.port)
      client.send(Self.request)
      for await _ in started { break }
      async let stop: Void = server.stop(grace: .seconds(3600))
      opener.finish()
      #expect(client.reply().text == "late but whole")
      #expect(client.isClosed())
      await stop
    }
  }

  @Test func `answers 503 to requests that are not finished in time`() async throws {
    let (started, starting) = AsyncStream<Void>.makeStream()
    let server = try Self.server { _ in
      .asynchronous(deadline: .seconds(60)) {
        starting.yield()
        try? await Task.sleep(for: .seconds(60))
        return .empty(204)
      }
    }
    let client = RawClient(server.port)
    client.send(Self.request)
    for await _ in started { break }
    await server.stop(grace: .milliseconds(20))
    #expect(client.reply().status == 503)
  }

  @Test func `sends a large response completely to a slow reader`() async throws {
    let body = [UInt8](repeating: 67, count: 8_000_000)
    let (started, starting) = AsyncStream<Void>.makeStream()
    let server = try Self.server { _ in
      starting.yield()
      return .immediate(.bytes(200, body, type: "a/b"))
    }
    let client = RawClient(server.port)
    client.send(Self.request)
    for await _ in started { break }
    async let stop: Void = server.stop(grace: .seconds(3600))
    #expect(client.reply().body.count == body.count)
    #expect(client.isClosed())
    await stop
  }

  @Test func `waits for no client that closed its connection before the response`() async throws {
    let (started, starting) = AsyncStream<Void>.makeStream()
    let (gate, opener) = AsyncStream<Void>.makeStream()
    let server = try Self.server { _ in
      .asynchronous(deadline: .seconds(60)) {
        starting.yield()
        for await _ in gate { break }
        return .text(200, "nobody reads this")
      }
    }
    var client: RawClient? = RawClient(server.port)
    client?.send(Self.request)
    for await _ in started { break }
    client = nil
    let began = ContinuousClock.now
    async let stop: Void = server.stop(grace: .seconds(3600))
    opener.finish()
    await stop
    // The kernel keeps what it cannot deliver, and progress is checked after 30 s.
    #expect(.now - began < .seconds(15))
  }

  @Test func `answers a request that was on its way when it stopped`() async throws {
    // It waits for a tenth of a second, in which a busy machine may not send one.
    for attempt in 1...10 {
      let server = try Self.server { _ in .immediate(.text(200, "in time")) }
      let client = RawClient(server.port)
      #expect(client.ask("GET", "/").text == "in time")
      async let stop: Void = server.stop(grace: .seconds(10))
      try await eventually("it accepts no more") {
        RawClient(server.port).ask("GET", "/").status == 0
      }
      client.send(Self.request)
      let text = client.reply().text
      await stop
      if text.isEmpty, attempt < 10 { continue }
      #expect(text == "in time")
      #expect(client.isClosed())
      return
    }
  }

  @Test func `closes idle connections and streams, and accepts no more`() async throws {
    let (opened, opening) = AsyncStream<Void>.makeStream()
    struct Source: EventSource {
      let opening: AsyncStream<Void>.Continuation
      func open(_ sink: EventSink) { opening.yield() }
    }
    let server = try Self.server { request in
      request.segments.isEmpty
        ? .immediate(.empty(204)) : .immediate(.events(Source(opening: opening)))
    }
    let (idle, stream) = (RawClient(server.port), RawClient(server.port))
    #expect(idle.ask("GET", "/").status == 204)
    stream.send("GET /stream HTTP/1.1\r\nHost: x\r\n\r\n")
    for await _ in opened { break }
    await server.stop(grace: .seconds(10))
    #expect(idle.isClosed())
    let streamed = stream.reply()
    #expect(streamed.status == 200)
    #expect(streamed.text == "retry: 1000\n\n")
    #expect(RawClient(server.port).ask("GET", "/").status == 0)
    #expect(server.openConnections == 0)
  }
}
