import FoundationEssentials
import Glibc
import StandIns
import Testing
import Waiting

@testable import HTTP

/// A folder whose disk does not answer (FUSE): only the requests that need it wait.
@Suite(.serialized, .timeLimit(.minutes(2)), .enabled(if: getuid() == 0, "mounts a file system"))
struct SlowFolderSystemTests {
  private static func serve(
    _ folder: StandIn, _ test: (TestServer, Content) async throws -> Void
  ) async throws {
    let slow = folder.folder + "/slow"
    let content = try TestServer.content(TestServer.longPattern(300_000), in: slow)
    let other = try TestServer.content(
      TestServer.longPattern(20_000), in: folder.folder, name: "other")
    try await TestServer.with(
      { request in
        switch request.segments.first {
        case "file": .immediate(.content(content))
        case "other": .immediate(.content(other))
        case "upload":
          .savingBody(limit: 1 << 30, folder: slow, deadline: .seconds(60)) { saved in
            .text(200, "\(saved.size)")
          }
        default: .immediate(.text(200, "quick"))
        }
      }, threads: 1
    ) { served in try await test(served, content) }
  }

  private static func expectQuick(_ served: TestServer) {
    for _ in 0..<50 { #expect(RawClient(served.port).ask("GET", "/").text == "quick") }
  }

  @Test func `an upload to it waits, and nobody else does`() async throws {
    let folder = try StandIn("slow_folder")
    defer { _ = try? folder.tell(["do": "release"]) }
    try await Self.serve(folder) { served, _ in
      try folder.tell(["do": "hold"])
      let client = RawClient(served.port)
      client.send("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\n")
      client.send([UInt8](repeating: 65, count: 300_000))
      Self.expectQuick(served)
      try folder.tell(["do": "release"])
      #expect(client.reply().text == "300000")
    }
  }

  @Test func `a client that leaves during an upload holds nobody up`() async throws {
    let folder = try StandIn("slow_folder")
    defer { _ = try? folder.tell(["do": "release"]) }
    try await Self.serve(folder) { served, _ in
      var client: RawClient? = RawClient(served.port)
      client?.send("PUT /upload HTTP/1.1\r\nHost: x\r\nContent-Length: 300000\r\n\r\nhalf")
      let real = folder.folder + "/real"
      func files() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: real) }
      try await eventually("the file is made") { try files().count == 2 }
      try folder.tell(["do": "hold"])
      client = nil
      Self.expectQuick(served)
      try folder.tell(["do": "release"])
      try await eventually("the file is removed") { try files().count == 1 }
    }
  }

  @Test func `many that want one file in it hold up no other file`() async throws {
    let folder = try StandIn("slow_folder")
    defer { _ = try? folder.tell(["do": "release"]) }
    try await Self.serve(folder) { served, content in
      try folder.tell(["do": "hold"])
      let clients = (0..<20).map { _ in RawClient(served.port) }
      for client in clients { client.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n") }
      await served.pass(.zero)
      #expect(RawClient(served.port).ask("GET", "/other").body == TestServer.longPattern(20_000))
      try folder.tell(["do": "release"])
      for client in clients { #expect(client.reply().body == TestServer.longPattern(content.size)) }
    }
  }

  @Test func `a file in it is sent when it can be opened, and others meanwhile`() async throws {
    let folder = try StandIn("slow_folder")
    defer { _ = try? folder.tell(["do": "release"]) }
    try await Self.serve(folder) { served, content in
      try folder.tell(["do": "hold"])
      let client = RawClient(served.port)
      client.send("GET /file HTTP/1.1\r\nHost: x\r\n\r\n")
      Self.expectQuick(served)
      try folder.tell(["do": "release"])
      #expect(client.reply().body == TestServer.longPattern(content.size))
    }
  }
}
