import Dispatch
import Glibc
import Primitives
import Testing

@testable import HTTP

private let bytes = TestServer.longPattern(20_000)

@Suite(.timeLimit(.minutes(1))) struct ResponseFileTests {
  @Test func `a frequent response is sent from a file, and is the same as before`() async throws {
    try await TestServer.with(bytes) { served in
      let client = RawClient(served.port)
      var dates: Set<String> = []
      // Until it was sent from the file in two seconds at least.
      while dates.count < 3 {
        let reply = client.ask("GET", "/")
        let date = try #require(reply.fields["date"])
        dates.insert(date)
        #expect(reply.status == 200 && reply.body == bytes)
        #expect(reply.head.hasSuffix("nosniff\r\nDate: \(date)\r\n\r\n"), "\(reply.head)")
      }
      // The content's file, and the response's.
      #expect(served.server.cacheMetrics.descriptors == 2)
      // What differs from the most frequent response.
      let traced = client.ask("GET", "/", "X-Request-Id: abc")
      #expect(traced.fields["x-request-id"] == "abc" && traced.body == bytes)
      #expect(client.ask("GET", "/", "Range: bytes=5-9").body == Array(bytes[5...9]))
      #expect(client.ask("HEAD", "/").fields["content-length"] == "20000")
      let last = client.ask("GET", "/", "Connection: close")
      #expect(last.fields["connection"] == "close" && last.body == bytes)
    }
  }

  @Test func `a client that reads slowly gets all of many responses`() async throws {
    try await TestServer.with(bytes) { served in
      let client = RawClient(served.port, keeping: 4096)
      let count = 500
      client.send(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: count))
      for _ in 0..<count { #expect(client.reply().body == bytes) }
    }
  }

  @Test func `bytes that are being sent stay as they were when the file is written again`() throws {
    try TestServer.inFolder { (folder) throws in
      let response = ResponseFile()
      var ends: [Int32] = [0, 0]
      try #require(pipe(&ends) == 0)
      let output = try #require(FileDescriptor(owning: ends[0]))
      let input = try #require(FileDescriptor(owning: ends[1]))
      for second in 1...2 {
        #expect(try ask(response, second == 1 ? 32 : 1, at: second, in: folder) == nil)
        let file = try #require(try ask(response, 1, at: second, in: folder))
        // The pipe gets the pages of the file, as a socket does.
        var start = 0
        #expect(sendfile(input.number, file.descriptor.number, &start, 20_000) == 20_000)
      }
      for second in 1...2 {
        let sent = try output.readAll(limit: 20_000)
        #expect(sent == Array(("head\(second)".utf8 + bytes).prefix(20_000)))
      }
    }
  }

  @Test func `only a response that is frequent in its second has a file`() throws {
    try TestServer.inFolder { (folder) throws in
      let response = ResponseFile()
      for second in [1, 3] {
        #expect(try ask(response, 31, at: second, in: folder) == nil)
        #expect(try ask(response, 1, at: second, in: folder) == nil)
        #expect(try ask(response, 1, at: second, in: folder) != nil)
      }
      // The clock was set back.
      #expect(try ask(response, 1, at: 2, in: folder) == nil)
    }
  }

  @Test func `a response without space for it is sent without a file`() throws {
    try TestServer.inFolder { (folder) throws in
      for (subfolder, limit) in [("none", 1), ("", 0)] {
        let (response, metrics) = (ResponseFile(), CacheMetrics(descriptorLimit: limit))
        for second in 1...2 {
          for _ in 0..<2 {
            #expect(
              try ask(response, 32, at: second, in: folder, subfolder, metrics: metrics) == nil)
          }
        }
        #expect(metrics.snapshot.descriptors == 0)
      }
    }
  }

  @Test func `a response whose content was truncated has no file`() throws {
    try TestServer.inFolder { (folder) throws in
      let response = ResponseFile()
      #expect(try ask(response, 32, at: 1, in: folder, size: bytes.count - 1) == nil)
      #expect(try ask(response, 1, at: 1, in: folder, size: bytes.count - 1) == nil)
      #expect(try ask(response, 1, at: 2, in: folder) == nil)
      #expect(try ask(response, 1, at: 2, in: folder) != nil)
    }
  }

  /// What the last of several requests gets; what it leads to has been done afterwards.
  ///
  /// The content's file has so many bytes, and is said to be in the subfolder.
  private func ask(
    _ response: ResponseFile, _ count: Int, at second: Int, in folder: String,
    _ subfolder: String = "", size: Int = bytes.count, metrics: CacheMetrics = CacheMetrics()
  ) throws -> OutgoingFile? {
    defer { ResponseFile.writer.sync {} }
    let file = try TestServer.content(Array(bytes.prefix(size)), in: folder)
    let body = OutgoingFile(try FileDescriptor(file.path, O_RDONLY))
    let content = Content(
      path: "\(folder)/\(subfolder)/file", size: bytes.count, mediaType: file.mediaType,
      etag: file.etag, lastModified: file.lastModified)
    return Array("head".utf8).withUnsafeBytes { head in
      (0..<count).map { _ in
        response.file(at: second, head, Array("\(second)".utf8), content, metrics: metrics) { body }
      }.last ?? nil
    }
  }
}
