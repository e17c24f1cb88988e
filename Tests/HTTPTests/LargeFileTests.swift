import Synchronization
import Testing

@testable import HTTP

/// Files that are too large to be copied.
@Suite(.timeLimit(.minutes(2))) struct LargeFileTests {
  @Test func `a large file is sent by the kernel to many at once, and is the same`() async throws {
    let bytes = (0..<(8 << 20)).map { UInt8(truncatingIfNeeded: $0 * 7 + $0 >> 11) }
    let file = Mutex<Content?>(nil)
    try await Served.with(
      { _ in .now(file.withLock { $0 }.map { .content($0) } ?? .empty(404)) }, threads: 1
    ) { served in
      let content = try Served.content(bytes, in: served.folder)
      file.withLock { $0 = content }
      let clients = (0..<8).map { _ in RawClient(served.port) }
      // Nobody reads yet, so that all are under way when the last one asks.
      for client in clients { client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n") }
      while served.server.prepared.descriptors == 0 { await Task.yield() }
      for client in clients { #expect(client.reply().body == bytes) }
      for client in clients.prefix(1) {
        #expect(client.ask("GET", "/", "Range: bytes=5-9").body == Array(bytes[5...9]))
        #expect(client.ask("GET", "/").body == bytes)
      }
      #expect(served.server.prepared.descriptors == 1)
    }
  }
}
