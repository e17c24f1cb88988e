import Foundation
import Primitives
import Testing

@testable import PluginKit

@Suite(.timeLimit(.minutes(1))) struct FastCGITests {
  /// A worker on a thread of this process, and a connection to it.
  private final class Worker {
    let listener: Int32
    let connection: FileDescriptor

    init(_ handler: @escaping @Sendable (PluginRequest) throws -> PluginResponse) throws {
      let listener = socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)
      var address = sockaddr()
      address.sa_family = sa_family_t(AF_UNIX)
      bind(listener, &address, 2)
      listen(listener, 8)
      var size = socklen_t(MemoryLayout<sockaddr>.size)
      getsockname(listener, &address, &size)
      connection = try #require(
        FileDescriptor(owning: socket(AF_UNIX, Int32(SOCK_STREAM.rawValue), 0)))
      try #require(connect(connection.number, &address, size) == 0)
      Thread.detachNewThread { _ = FastCGIWorker(handler: handler).run(listener: listener) }
      self.listener = listener
    }

    deinit { shutdown(listener, Int32(SHUT_RDWR)) }

    var replies: RecordReader { RecordReader(connection: connection) }

    func send(_ records: [(kind: FastCGIRecord.Kind, content: [UInt8])], requestID: UInt16 = 5)
      throws
    {
      try replies.write { bytes in
        for record in records {
          FastCGIRecord.append(
            record.kind, requestID: requestID, record.content[...], to: &bytes)
        }
      }
    }

    func request(_ body: String = "", role: UInt8 = 1, kept: Bool) throws {
      let message = (name: "RICH_MESSAGE", value: String(repeating: "a", count: 300))
      try send(
        [
          (.beginRequest, [0, role, kept ? 1 : 0, 0, 0, 0, 0, 0]),
          (.parameters, FastCGIRecord.encode([message])), (.parameters, []),
          (.input, Array(body.utf8)),
        ] + (body.isEmpty ? [] : [(.input, [])]))
    }
  }

  @Test func `answers one request after another on a connection that is kept`() throws {
    let worker = try Worker { .document($0.body + Array("\($0.message.count)".utf8), type: "a/b") }
    var replies = worker.replies
    for body in ["one ", "two ", ""] {
      try worker.request(body, kept: true)
      let output = try #require(try replies.next())
      #expect(output.kind == .output)
      #expect(output.requestID == 5)
      #expect(String(decoding: output.content, as: UTF8.self).hasSuffix("\r\n\r\n\(body)300"))
      #expect(try replies.next()?.content == [])
      #expect(try replies.next()?.content == [0, 0, 0, 0, 0, 0, 0, 0])
    }
  }

  @Test func `closes a connection that is not kept`() throws {
    let worker = try Worker { _ in .json("{}") }
    try worker.request(kept: false)
    var replies = worker.replies
    var kinds: [FastCGIRecord.Kind?] = []
    while let record = try replies.next() { kinds.append(record.kind) }
    #expect(kinds == [.output, .output, .endRequest])
  }

  @Test func `reports an error as exit status 70 with its text`() throws {
    struct Mishap: Error {}
    let worker = try Worker { _ in throw Mishap() }
    try worker.request(kept: false)
    var replies = worker.replies
    let text = try #require(try replies.next())
    #expect(text.kind == .errors)
    #expect(String(decoding: text.content, as: UTF8.self).contains("Mishap"))
    _ = try replies.next()
    #expect(try replies.next()?.content == [0, 0, 0, 70, 0, 0, 0, 0])
  }

  @Test func `refuses another role and reports its limits`() throws {
    let worker = try Worker { _ in .json("{}") }
    try worker.send([(.getValues, [])], requestID: 0)
    var replies = worker.replies
    let values = try #require(try replies.next())
    #expect(FastCGIRecord.decodePairs(values.content)?["FCGI_MPXS_CONNS"] == "0")
    try worker.request(role: 3, kept: false)
    #expect(try replies.next()?.content == [0, 0, 0, 0, 3, 0, 0, 0])
  }

  @Test(arguments: [[5], [5, 1, 2], [0x80, 0, 1], [0xFF, 255, 255, 255, 1]] as [[UInt8]])
  func `reports truncated parameters as an error`(bytes: [UInt8]) throws {
    let worker = try Worker { _ in .json("{}") }
    try worker.send([
      (.beginRequest, [0, 1, 0, 0, 0, 0, 0, 0]), (.parameters, bytes), (.parameters, []),
      (.input, []),
    ])
    var replies = worker.replies
    #expect(try replies.next()?.kind == .errors)
  }
}
