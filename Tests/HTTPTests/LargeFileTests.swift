import Testing
import Waiting

@testable import HTTP

/// Files that are sent by sendfile(2).
@Suite(.timeLimit(.minutes(1))) struct LargeFileTests {
  @Test func `a large file is sent unchanged to many clients at once by sendfile`() async throws {
    let bytes = TestServer.longPattern(4 << 20)
    try await TestServer.with(bytes) { served in
      let clients = (0..<8).map { _ in RawClient(served.port) }
      // Nobody reads yet, so that all are under way when the last one asks.
      for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
      try await eventually("the file is open") { served.server.cacheMetrics.descriptors > 0 }
      for client in clients { #expect(client.reply().body == bytes) }
      for client in clients.prefix(1) {
        #expect(client.ask("GET", "/", "Range: bytes=5-9").body == Array(bytes[5...9]))
        #expect(client.ask("GET", "/").body == bytes)
      }
      #expect(served.server.cacheMetrics.descriptors == 1)
    }
  }

  @Test func `a client that reads slowly gets all of many responses`() async throws {
    let bytes = TestServer.longPattern(20_000)
    try await TestServer.with(bytes) { served in
      let client = RawClient(served.port, keeping: 4096)
      let count = 500
      client.send(String(repeating: "GET / HTTP/1.1\r\nHost: x\r\n\r\n", count: count))
      for _ in 0..<count { #expect(client.reply().body == bytes) }
    }
  }
}
