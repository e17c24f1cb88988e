import Testing
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct WebSocketTests {
  /// Hands each sink that is opened to the test.
  private struct Source: EventSource {
    let opened: @Sendable (EventSink) -> Void
    var form: StreamForm { .webSocket }
    func open(_ sink: EventSink) { opened(sink) }
  }

  private static let handshake = """
    GET / HTTP/1.1\r\nHost: x\r\nConnection: keep-alive, Upgrade\r\nUpgrade: WebSocket\r\n\
    Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n\r\n
    """

  private static func connected(
    clock: ManualClock = ManualClock(),
    test: (RawClient, EventSink, TestServer) async throws -> Void
  ) async throws {
    let (sinks, arrival) = AsyncStream<EventSink>.makeStream()
    try await TestServer.with(
      { request in
        let refusal = WebSocketHandshake.refusal(of: request)
        return .immediate(
          refusal ?? .webSocket(Source { arrival.yield($0) }, to: request))
      }, clock: clock
    ) { served in
      let client = RawClient(served.port)
      client.send(handshake)
      let head = client.reply(hasBody: false)
      // The example of RFC 6455, section 1.3.
      #expect(head.status == 101 && head.fields["upgrade"] == "websocket")
      #expect(head.fields["connection"] == "Upgrade")
      #expect(head.fields["sec-websocket-accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      #expect(head.fields["transfer-encoding"] == nil && head.fields["content-length"] == nil)
      var iterator = sinks.makeAsyncIterator()
      try await test(client, try #require(await iterator.next()), served)
    }
  }

  /// A client's frame.
  static func frame(
    _ first: UInt8, _ payload: [UInt8], mask: [UInt8] = [1, 2, 3, 4]
  ) -> [UInt8] {
    let count = payload.count
    let length: [UInt8] =
      count < 126
      ? [0x80 | UInt8(count)]
      : count < 65_536
        ? [0xFE, UInt8(count >> 8), UInt8(count & 255)]
        : [0xFF] + (0..<8).reversed().map { UInt8(truncatingIfNeeded: count >> (8 * $0)) }
    return [first] + length + mask + payload.enumerated().map { $1 ^ mask[$0 % 4] }
  }

  private static func events(_ bytes: [UInt8], piece: Int = .max) -> [WebSocketReader.Event] {
    let reader = WebSocketReader()
    return stride(from: 0, to: bytes.count, by: min(piece, bytes.count)).flatMap { start in
      bytes[start..<min(bytes.count, start + min(piece, bytes.count))].withUnsafeBytes {
        reader.read($0)
      }
    }
  }

  @Test func `sends frames, answers pings, and ends when the client closes`() async throws {
    try await Self.connected { client, sink, served in
      for size in [2, 125, 126, 65_535, 65_536] {
        let text = String(repeating: "a", count: size)
        #expect(sink.send(WebSocketFrame.text(text)))
        let head: [UInt8] =
          switch size {
          case ..<126: [0x81, UInt8(size)]
          case ..<65_536: [0x81, 126, UInt8(size >> 8), UInt8(size & 255)]
          default: [0x81, 127, 0, 0, 0, 0, 0, 1, 0, 0]
          }
        #expect(client.take(head.count + size) == head + Array(text.utf8))
      }
      // What the client says is passed over, in as many frames as it likes.
      client.send(Self.frame(0x01, Array("to ".utf8)) + Self.frame(0x89, [7, 8]))
      #expect(client.take(4) == [0x8A, 2, 7, 8])
      client.send(Self.frame(0x80, Array("be".utf8)) + Self.frame(0x8A, []))
      client.send(Self.frame(0x88, [0x03, 0xE9] + Array("bye".utf8)))
      #expect(client.rest() == [0x88, 2, 0x03, 0xE9])
      #expect(!sink.send([1]))
      client.finish()
      try await served.connectionsClosed()
    }
  }

  @Test func `a quiet connection is pinged, and one that ends is told so`() async throws {
    try await Self.connected { client, sink, served in
      await served.pass(.milliseconds(100))  // it notices that the stream is quiet
      await served.pass(.seconds(15))
      #expect(client.take(2) == [0x89, 0])
      sink.close()
      #expect(client.rest() == [0x88, 2, 0x03, 0xE9])
    }
  }

  @Test func `ends when its client disconnects`() async throws {
    try await Self.connected { client, sink, served in
      client.finish()
      #expect(client.isClosed())
      try await served.connectionsClosed()
      #expect(!sink.send([1]))
    }
  }

  @Test(arguments: [
    (["Upgrade: websocket"], 426), (["Connection: Upgrade"], 426),
    (["Connection: Upgrade", "Upgrade: h2c"], 426),
    (["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 8"], 426),
    (["Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13"], 400),
    (
      [
        "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
        "Sec-WebSocket-Key: dGhlIHNhbXBsZQ==",
      ], 400
    ),
  ])
  func `what is no handshake is refused`(fields: [String], status: Int) async throws {
    try await TestServer.with({
      .immediate(WebSocketHandshake.refusal(of: $0) ?? .empty(204))
    }) { served in
      let client = RawClient(served.port)
      client.send(
        "GET / HTTP/1.1\r\nHost: x\r\n" + fields.map { $0 + "\r\n" }.joined() + "\r\n")
      #expect(client.reply().status == status)
    }
  }

  @Test func `frames may arrive in pieces of any size`() {
    let bytes =
      Self.frame(0x02, [UInt8](repeating: 9, count: 300)) + Self.frame(0x89, [1])
      + Self.frame(0x80, [UInt8](repeating: 9, count: 65_536)) + Self.frame(0x89, [])
      + Self.frame(0x88, []) + Self.frame(0x89, [3])
    for piece in [1, 7, 1000, .max] {
      #expect(
        Self.events(bytes, piece: piece) == [.ping([1]), .ping([]), .close(nil)], "\(piece)")
    }
  }

  @Test(
    arguments: [
      ("without a mask", [0x81, 0x01, 65], 1002),
      ("with a reserved bit", frame(0xC1, []), 1002),
      ("with an unknown opcode", frame(0x83, []), 1002),
      ("with an unknown control opcode", frame(0x8B, []), 1002),
      ("a control frame in parts", frame(0x09, []), 1002),
      ("a long control frame", frame(0x89, [UInt8](repeating: 1, count: 126)), 1002),
      ("a continuation of nothing", frame(0x80, []), 1002),
      ("a message within another", frame(0x01, []) + frame(0x81, []), 1002),
      ("a length in more bytes than it needs", [0x82, 0xFE, 0, 125, 1, 2, 3, 4], 1002),
      ("a negative length", [0x82, 0xFF, 0x80, 0, 0, 0, 0, 1, 0, 0, 1, 2, 3, 4], 1009),
      ("a frame that is too long", frame(0x82, [UInt8](repeating: 1, count: 65_537)), 1009),
      ("half a code", frame(0x88, [3]), 1002),
      ("a code that nobody sends", frame(0x88, [0x03, 0xED]), 1002),
      ("a reason that is no text", frame(0x88, [0x03, 0xE8, 0xFF]), 1002),
    ] as [(String, [UInt8], UInt16)])
  func `what breaks a rule ends the connection`(what: String, bytes: [UInt8], code: UInt16) {
    #expect(Self.events(bytes + Self.frame(0x89, [])) == [.close(code)], "\(what)")
  }
}
