import Foundation
import Testing

@testable import PluginKit

@Suite struct FastCGITests {
  /// A worker on a thread of this process, and a connection to it.
  private struct Bench: ~Copyable {
    let listener: Int32
    let connection: Int32

    init(_ answer: @escaping @Sendable (PluginRequest) throws -> PluginResponse) {
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr()
      address.sa_family = sa_family_t(AF_UNIX)
      bind(listener, &address, 2)
      listen(listener, 8)
      var size = socklen_t(MemoryLayout<sockaddr>.size)
      getsockname(listener, &address, &size)
      connection = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      connect(connection, &address, size)
      Thread.detachNewThread { _ = FastCGI.answerAll(on: listener, with: answer) }
      self.listener = listener
    }

    deinit {
      shutdown(listener, Int32(SHUT_RDWR))
      close(connection)
    }

    func send(_ records: [Record]) throws {
      var bytes: [UInt8] = []
      for record in records { record.encode(to: &bytes) }
      try Descriptor(number: connection).write(bytes)
    }

    func request(_ body: String = "", role: UInt8 = 1, kept: Bool) throws {
      let name = Array("RICH_MESSAGE".utf8)
      let value = [UInt8](repeating: 0x61, count: 300)
      try send(
        [
          Record(kind: 1, request: 5, content: [0, role, kept ? 1 : 0, 0, 0, 0, 0, 0]),
          Record(kind: 4, request: 5, content: [UInt8(name.count), 0x80, 0, 1, 44] + name + value),
          Record(kind: 4, request: 5, content: []),
          Record(kind: 5, request: 5, content: Array(body.utf8)),
        ] + (body.isEmpty ? [] : [Record(kind: 5, request: 5, content: [])]))
    }
  }

  @Test func `answers one request after another on a connection that is kept`() throws {
    let bench = Bench { .document($0.body + Array("\($0.message.count)".utf8), type: "a/b") }
    var replies = RecordStream(Descriptor(number: bench.connection))
    for body in ["one ", "two ", ""] {
      try bench.request(body, kept: true)
      let output = try #require(try replies.next())
      #expect(output.kind == Record.Kind.output)
      #expect(output.request == 5)
      #expect(String(decoding: output.content, as: UTF8.self).hasSuffix("\r\n\r\n\(body)300"))
      #expect(try replies.next()?.content == [])
      #expect(try replies.next()?.content == [0, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test func `closes a connection that is not kept`() throws {
    let bench = Bench { _ in .json("{}") }
    try bench.request(kept: false)
    var replies = RecordStream(Descriptor(number: bench.connection))
    var kinds: [UInt8] = []
    while let record = try replies.next() { kinds.append(record.kind) }
    #expect(kinds == [6, 6, 3])
  }

  @Test func `reports an error as exit status 70 with its words`() throws {
    struct Mishap: Error {}
    let bench = Bench { _ in throw Mishap() }
    try bench.request(kept: false)
    var replies = RecordStream(Descriptor(number: bench.connection))
    let words = try #require(try replies.next())
    #expect(words.kind == Record.Kind.errors)
    #expect(String(decoding: words.content, as: UTF8.self).contains("Mishap"))
    _ = try replies.next()
    #expect(try replies.next()?.content == [0, 0, 0, 70, 0, 0, 0, 0])
  }

  @Test func `refuses another role and tells its limits`() throws {
    let bench = Bench { _ in .json("{}") }
    try bench.send([Record(kind: 9, request: 0, content: [])])
    var replies = RecordStream(Descriptor(number: bench.connection))
    let values = try #require(try replies.next())
    #expect(Record.pairs(in: values.content)?["FCGI_MPXS_CONNS"] == "0")
    try bench.request(role: 3, kept: false)
    #expect(try replies.next()?.content == [0, 0, 0, 0, 3, 0, 0, 0])
  }

  @Test(arguments: [[5], [5, 1, 2], [0x80, 0, 1], [0xFF, 255, 255, 255, 1]] as [[UInt8]])
  func `takes parameters that are cut short for none`(bytes: [UInt8]) {
    #expect(Record.pairs(in: bytes) == nil)
  }
}
