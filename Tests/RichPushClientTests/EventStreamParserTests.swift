import Testing

@testable import RichPushClient

@Suite struct EventStreamParserTests {
  @Test(arguments: [
    ("data: a\n\n", ["|a"]),
    ("data:a\n\n", ["|a"]),
    ("data:  a\n\n", ["| a"]),
    ("data\n\n", ["|"]),
    ("data: a\ndata: b\n\n", ["|a\nb"]),
    ("id: 1\ndata: a\n\ndata: b\n\n", ["1|a", "1|b"]),
    ("id: 1\ndata: a\n\nid\ndata: b\n\n", ["1|a", "|b"]),
    ("id: 1\0\ndata: a\n\n", ["|a"]),
    (": heartbeat\n\ndata: a\n\n", ["|a"]),
    ("event: push\nother: x\ndata: a\n\n", ["|a"]),
    ("data: a\r\n\r\ndata: b\r\rdata: c\n\n", ["|a", "|b", "|c"]),
    ("\u{FEFF}data: a\n\n", ["|a"]),
    ("retry: 250\ndata: a\n\n", ["250 ms", "|a"]),
    ("retry: 2s\nretry: -1\n\n", []),
    ("data: never ended\n", []),
    ("id: 7\n\ndata: a\n\n", ["7|a"]),
  ])
  func `reads the standard's streams, in one piece and byte by byte`(
    stream: String, expected: [String]
  ) throws {
    var whole = EventStreamParser()
    #expect(try whole.read(stream.utf8).map(text) == expected)
    var piecewise = EventStreamParser()
    #expect(try stream.utf8.flatMap { try piecewise.read([$0]) }.map(text) == expected)
  }

  @Test func `goes on from the last event's id`() throws {
    var parser = EventStreamParser(lastEventID: "41")
    #expect(try parser.read("data: a\n\n".utf8) == [.event(id: "41", data: "a")])
    _ = try parser.read("id: 42\n".utf8)
    #expect(parser.lastEventID == "41")
    _ = try parser.read("\n".utf8)
    #expect(parser.lastEventID == "42")
  }

  @Test func `refuses a line without end`() {
    var parser = EventStreamParser()
    let line = [UInt8](repeating: UInt8(ascii: "x"), count: EventStreamParser.limit + 1)
    #expect(throws: RichPushError.self) { try parser.read(line) }
  }

  @Test func `refuses an event without end`() {
    var parser = EventStreamParser()
    let line = Array("data: \(String(repeating: "x", count: 1000))\n".utf8)
    #expect(throws: RichPushError.self) {
      for _ in 0...EventStreamParser.limit / 1000 { _ = try parser.read(line) }
    }
  }

  private func text(_ item: EventStreamParser.Item) -> String {
    switch item {
    case .event(let id, let data): "\(id)|\(data)"
    case .retry(let milliseconds): "\(milliseconds) ms"
    }
  }
}
