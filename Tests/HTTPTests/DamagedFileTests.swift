import FoundationEssentials
import Glibc
import Testing
import Waiting

@testable import HTTP

/// Files that are truncated while they are sent: their responses fail, and nothing else does.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DamagedFileTests {
  /// In memory, sent with the head, sent by sendfile; and more than sockets buffer.
  private static let sizes = [1, 1000, 9000, 20_000, 300_000, 3 << 20]

  /// How much of a file is left.
  enum Damage: CaseIterable { case all, half, lastByte }

  @Test(arguments: [false, true], Damage.allCases)
  func `fails the responses with a truncated file, and no others`(
    isSecure: Bool, damage: Damage
  ) async throws {
    try await Self.serve(isSecure) { served, contents in
      let whole = contents.map { Self.bytes($0.size) }
      // Of each file some requests are answered, some are under way, and some have not been read.
      let clients = try contents.indices.map { index in
        let client = try Self.client(served, isSecure)
        #expect(client.ask("GET", "/\(index)").body == whole[index])
        for field in ["X: y", "Range: bytes=0-", "Range: bytes=0-0,-1", "Connection: close"] {
          client.send("GET /\(index) HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")
        }
        return client
      }
      for content in contents.dropLast() {
        #expect(truncate(content.path, damage.size(of: content.size)) == 0)
      }
      for (index, client) in clients.enumerated() {
        // By sendfile(2) a socket has the file's pages themselves: what it has not sent yet changes with them.
        let isCopied = isSecure || contents[index].size <= PreparedFile.largestInMemory
        var reply = client.reply()
        while reply.status == 200 || reply.status == 206 {
          let isRanges = reply.fields["content-type"]?.hasPrefix("multipart") == true
          // No body is one that the connection's end cut short.
          if isCopied, !isRanges, !reply.body.isEmpty {
            #expect(reply.body == whole[index], "\(index)")
          }
          reply = client.reply()
        }
        #expect([0, 503].contains(reply.status), "\(index): \(reply.status)")
        // Without that a deadline passes.
        _ = client.rest()
        #expect(reply.status == 503 || client.isClosed(), "\(index)")
      }
      try Self.expectState(served, isSecure, contents, whole)
    }
  }

  /// The last file is sent as before; the others are not, until they are whole again.
  private static func expectState(
    _ served: TestServer, _ isSecure: Bool, _ contents: [Content], _ whole: [[UInt8]]
  ) throws {
    for (index, content) in contents.enumerated() {
      let isInMemory = content.size <= PreparedFile.largestInMemory
      let reply = try client(served, isSecure).ask("GET", "/\(index)")
      if index == contents.count - 1 || isInMemory {
        #expect(reply.status == 200 && reply.body == whole[index])
        continue
      }
      #expect(reply.status == 503 && reply.fields["retry-after"] == "1", "\(index)")
      try Data(whole[index]).write(to: URL(filePath: content.path), options: .atomic)
      let repaired = try client(served, isSecure).ask("GET", "/\(index)")
      #expect(repaired.status == 200 && repaired.body == whole[index], "\(index)")
    }
  }

  @Test(arguments: [false, true])
  func `answers 503 for a file that was truncated before it was sent`(isSecure: Bool) async throws {
    try await Self.serve(isSecure) { served, contents in
      for (index, content) in contents.enumerated() {
        #expect(truncate(content.path, content.size - 1) == 0)
        let client = try Self.client(served, isSecure)
        #expect(client.ask("GET", "/\(index)").status == 503)
      }
    }
  }

  private static func bytes(_ size: Int) -> [UInt8] { TestServer.longPattern(size) }

  private static func client(_ served: TestServer, _ isSecure: Bool) throws -> RawClient {
    isSecure
      ? try #require(RawClient(served.port, tls: "NORMAL", keeping: 32_768))
      : RawClient(served.port, keeping: 32_768)
  }

  /// Serves a file of each size, and the last one once more.
  private static func serve(
    _ isSecure: Bool, test: (TestServer, [Content]) async throws -> Void
  ) async throws {
    let temporary = FileManager.default.temporaryDirectory.path
    let folder = temporary + "/damaged-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let contents = try (sizes + sizes.suffix(1)).enumerated().map { index, size in
      try TestServer.content(bytes(size), in: folder, name: "\(index)")
    }
    try await TestServer.with(
      { request in
        .immediate(
          request.segments.first.flatMap { Int($0) }.map { .content(contents[$0]) } ?? .empty(404))
      }, threads: 1, tls: isSecure ? try TestIdentities.one() : nil, clock: ManualClock()
    ) { served in try await test(served, contents) }
  }
}

extension DamagedFileTests.Damage {
  func size(of whole: Int) -> Int {
    switch self {
    case .all: 0
    case .half: whole / 2
    case .lastByte: whole - 1
    }
  }
}
