import Synchronization
import Testing
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct EventStreamTests {
  /// Hands each sink that is opened to the test.
  private struct Source: EventSource {
    let opened: @Sendable (EventSink) -> Void
    func open(_ sink: EventSink) { opened(sink) }
  }

  private static func streaming(
    _ limits: ServerConfiguration.Limits = .init(), keeping receiveBuffer: Int32? = nil,
    test: (RawClient, EventSink, TestServer) async throws -> Void
  ) async throws {
    let (sinks, arrival) = AsyncStream<EventSink>.makeStream()
    try await TestServer.with(
      { _ in .immediate(.events(Source { arrival.yield($0) })) }, limits: limits,
      clock: ManualClock()
    ) { served in
      let client = RawClient(served.port, keeping: receiveBuffer)
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      var iterator = sinks.makeAsyncIterator()
      try await test(client, try #require(await iterator.next()), served)
    }
  }

  /// The head of a stream; its chunks are read one by one.
  private static func head(_ client: RawClient) -> RawClient.Reply { client.reply(hasBody: false) }

  private static func text(_ chunk: [UInt8]?) -> String {
    String(decoding: chunk ?? [], as: UTF8.self)
  }

  @Test func `sends events at once and ends when it is closed`() async throws {
    try await Self.streaming { client, sink, _ in
      let head = Self.head(client)
      #expect(head.status == 200)
      #expect(head.fields["content-type"] == "text/event-stream")
      #expect(head.fields["cache-control"] == "no-store")
      for number in 1...5 {
        #expect(sink.send(ServerSentEvent(id: "\(number)", data: "a\nb").bytes))
        #expect(Self.text(client.chunk()) == "id: \(number)\ndata: a\ndata: b\n\n")
      }
      sink.close()
      #expect(client.chunk() == [])
      #expect(!sink.send([1]))
      client.send("GET /again HTTP/1.1\r\nHost: x\r\n\r\n")
      #expect(Self.head(client).status == 200)
    }
  }

  @Test func `a stream that fails is broken off after what was sent`() async throws {
    try await Self.streaming { client, sink, served in
      _ = Self.head(client)
      sink.send(Array("half".utf8))
      sink.fail()
      #expect(Self.text(client.chunk()) == "half")
      #expect(client.isClosed(), "without the chunk that ends it")
      try await served.connectionsClosed()
    }
  }

  @Test func `ends, and its connection with it, when its client disconnects`() async throws {
    try await Self.streaming { client, sink, served in
      #expect(Self.head(client).status == 200)
      client.finish()
      #expect(client.isClosed())
      try await served.connectionsClosed()
      #expect(!sink.send([1]))
    }
  }

  @Test func `keeps what was sent before the head was written`() async throws {
    let source = Source { sink in
      for number in 1...100 { sink.send(ServerSentEvent(data: "\(number)").bytes) }
      sink.close()
    }
    try await TestServer.with({ _ in .immediate(.events(source)) }) { served in
      let reply = RawClient(served.port).ask("GET", "/")
      #expect(reply.text == (1...100).map { "data: \($0)\n\n" }.joined())
    }
  }

  @Test(arguments: [" HTTP/1.0\r\n", " HTTP/1.1\r\nHost: x\r\nConnection: close\r\n"])
  func `a stream that ends with its connection is not chunked`(version: String) async throws {
    let source = Source { sink in
      sink.send(ServerSentEvent(data: "1").bytes)
      sink.send(ServerSentEvent(data: "2").bytes)
      sink.close()
    }
    try await TestServer.with({ _ in .immediate(.events(source)) }) { served in
      let client = RawClient(served.port)
      client.send("GET /\(version)\r\n")
      #expect(Self.head(client).fields["transfer-encoding"] == nil)
      #expect(String(decoding: client.rest(), as: UTF8.self) == "data: 1\n\ndata: 2\n\n")
    }
  }

  @Test func `a stream with too much unsent data is closed`() {
    let sink = EventSink(limit: 10, heartbeat: 1000, isChunked: true) {}
    #expect(sink.send([UInt8](repeating: 65, count: 10)) && !sink.isClosed)
    #expect(!sink.send([65]) && sink.isClosed)
    #expect(sink.next()?.count == 10 && sink.next() == nil)
  }

  @Test func `what is sent while nothing waits may be more than the limit`() {
    let sink = EventSink(limit: 10, heartbeat: 1000, isChunked: true) {}
    for _ in 0..<2 {
      #expect(sink.send([UInt8](repeating: 65, count: 25)) && sink.next()?.count == 25)
    }
    #expect(sink.send([UInt8](repeating: 65, count: 25)))
    #expect(!sink.send([65]), "what comes beside it has to wait")
  }

  @Test func `sends heartbeats on a quiet stream`() async throws {
    try await Self.streaming { client, _, served in
      _ = Self.head(client)
      for _ in 0..<2 {
        await served.pass(.milliseconds(100))  // it notices that the stream is quiet
        await served.pass(.milliseconds(14_900))
        #expect(!client.hasInput)
        await served.pass(.milliseconds(100))
        #expect(Self.text(client.chunk()) == ":\n\n")
      }
    }
  }

  @Test func `calls onClose when the client disconnects`() async throws {
    var limits = ServerConfiguration.Limits()
    limits.heartbeat = .milliseconds(20)
    let (sinks, arrival) = AsyncStream<EventSink>.makeStream()
    let (closes, closing) = AsyncStream<Void>.makeStream()
    let source = Source { sink in
      sink.onClose { closing.yield() }
      arrival.yield(sink)
    }
    try await TestServer.with({ _ in .immediate(.events(source)) }, limits: limits) { served in
      do {
        let client = RawClient(served.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        for await _ in sinks { break }
      }
      var count = 0
      for await _ in closes {
        count += 1
        break
      }
      #expect(count == 1)
    }
  }

  @Test func `a client that disconnects leaves no connection behind`() async throws {
    try await TestServer.with({ _ in .immediate(.events(Source { _ in })) }) { served in
      do {
        let client = RawClient(served.port)
        client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
        #expect(Self.head(client).status == 200)
      }
      try await served.connectionsClosed()
    }
  }

  @Test func `closes the stream of a reader that is too slow, and its connection`() async throws {
    var limits = ServerConfiguration.Limits()
    (limits.transfer, limits.idle) = (.milliseconds(50), .milliseconds(50))
    try await Self.streaming(limits) { client, sink, served in
      let event = [UInt8](repeating: 65, count: 60_000)
      var sent = 0
      while sent < 10_000, sink.send(event) {
        sent += 1
        await Self.drain(sink, served)
      }
      #expect(sent < 10_000)
      #expect(sink.unsentBytes <= 256 * 1024)
      try await Self.endsInTime(served)
      withExtendedLifetime(client) {}
    }
  }

  /// Lets time pass until the stream has ended.
  private static func endsInTime(_ served: TestServer) async throws {
    try await eventually("it has ended") {
      await served.pass(.milliseconds(100))
      return served.server.openConnections == 0
    }
  }

  /// Lets the sockets take as much as they can of what was sent.
  private static func drain(_ sink: EventSink, _ served: TestServer) async {
    var before = 0
    while sink.unsentBytes != before {
      before = sink.unsentBytes
      await served.pass(.zero)
    }
  }

  /// Sends until a little has to wait, which is not too much.
  private static func fill(_ sink: EventSink, _ served: TestServer) async {
    // Large, so that the sockets are full long before the stream ends because nothing is read.
    let event = [UInt8](repeating: 65, count: 200_000)
    while sink.unsentBytes == 0, sink.send(event) {
      await drain(sink, served)
    }
  }

  @Test func `a quiet stream stays open even if the transfer window is short`() async throws {
    var limits = ServerConfiguration.Limits()
    (limits.transfer, limits.idle) = (.milliseconds(50), .milliseconds(50))
    limits.heartbeat = .milliseconds(120)
    try await Self.streaming(limits) { client, sink, served in
      _ = Self.head(client)
      for _ in 0..<5 {
        client.acknowledge()
        try await eventually("a heartbeat comes") {
          await served.pass(.milliseconds(20))
          return client.hasInput
        }
        #expect(Self.text(client.chunk()) == ":\n\n")
      }
      #expect(sink.send(ServerSentEvent(data: "1").bytes))
      #expect(Self.text(client.chunk()) == "data: 1\n\n")
    }
  }

  @Test func `an open stream ends when its client has stopped reading`() async throws {
    var limits = ServerConfiguration.Limits()
    limits.transfer = .milliseconds(600)
    try await Self.streaming(limits, keeping: 8192) { client, sink, served in
      await Self.fill(sink, served)
      #expect(!sink.isClosed)
      try await Self.endsInTime(served)
      withExtendedLifetime(client) {}
    }
  }

  @Test func `an open stream stays open as long as its client reads a little`()
    async throws
  {
    var limits = ServerConfiguration.Limits()
    // Much less is read in this time than another response would need.
    (limits.transfer, limits.transferBytes) = (.milliseconds(150), 10_000_000)
    try await Self.streaming(limits, keeping: 65_536) { client, sink, served in
      for _ in 0..<50 {
        // Twice as much as is read.
        if sink.unsentBytes == 0 { sink.send([UInt8](repeating: 65, count: 40_000)) }
        try #require(client.read(20_000) > 0)
        client.acknowledge()
        await served.pass(.milliseconds(10))
      }
      #expect(!sink.isClosed && served.server.openConnections == 1)
    }
  }

  @Test func `sends more than the limit in total, if the client reads meanwhile`() async throws {
    try await Self.streaming { client, sink, _ in
      let left = Mutex(50)
      let piece = [UInt8](repeating: 66, count: 50_000)
      sink.onDrain {
        let isOver = left.withLock {
          $0 -= 1; return $0 < 0
        }
        if isOver { sink.close() } else { sink.send(piece) }
      }
      sink.send([66])
      _ = Self.head(client)
      var total = 0
      while let chunk = client.chunk(), !chunk.isEmpty { total += chunk.count }
      #expect(total == 50 * 50_000 + 1)
    }
  }
}
