import Foundation
import Testing
import Waiting

@testable import RichPushClient

/// What a download that fails leaves on the disk of a phone: nothing.
@Suite(.timeLimit(.minutes(1))) struct FailedDownloadTests {
  /// How a server fails.
  enum Failure: CaseIterable {
    case cutShort, noResponse, refused, unavailable, wrongPassword, rejectedToken
  }

  private static func answer(
    _ failure: Failure, _ request: StandIn.Request, _ connection: StandIn.Connection
  ) {
    if request.method == "POST" { return connection.answer(201, [], #"{"token":"t"}"#) }
    switch failure {
    case .cutShort:
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + Self.part)
    case .noResponse: break
    case .refused: connection.answer(404, [], #"{"detail":"There is no such notification."}"#)
    case .unavailable: connection.answer(503, ["Retry-After: 3"], Self.part)
    case .wrongPassword, .rejectedToken: connection.answer(401, [], Self.part)
    }
  }

  private static let part = String(repeating: "x", count: 20_000)

  /// A client whose files are in a folder of its own.
  private static func client(
    of server: StandIn, _ folder: URL, _ device: String? = nil
  ) -> RichPushClient {
    var client = RichPushClient(endpoint: server.endpoint, user: "alice", password: "word")
    client.device = device
    client.transport = HTTPTransport(folder: folder)
    return client
  }

  private static func withFolder(_ test: (URL) async throws -> Void) async throws {
    let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(at: folder) }
    try await test(folder)
  }

  private static func files(in folder: URL) throws -> [String] {
    try FileManager.default.contentsOfDirectory(atPath: folder.path)
  }

  private static func expectNoFile(in folder: URL) throws {
    let files = try files(in: folder)
    #expect(files == [])
  }

  @Test(arguments: Failure.allCases)
  func `leaves no file`(_ failure: Failure) async throws {
    let server = try StandIn { Self.answer(failure, $0, $1) }
    try await Self.withFolder { folder in
      let client = Self.client(of: server, folder, failure == .rejectedToken ? "r-1" : nil)
      await #expect(throws: RichPushError.self) { _ = try await client.download(7) }
      try Self.expectNoFile(in: folder)
      await #expect(throws: RichPushError.self) { _ = try await client.media(7) }
      try Self.expectNoFile(in: folder)
    }
  }

  @Test func `leaves a file that is whole, and none once it is in memory`() async throws {
    let server = try StandIn { _, connection in connection.answer(200, [], Self.part) }
    try await Self.withFolder { folder in
      let client = Self.client(of: server, folder)
      let media = try await client.media(7)
      #expect(media.bytes == Data(Self.part.utf8))
      try Self.expectNoFile(in: folder)
      let file = try await client.download(7)
      let files = try Self.files(in: folder)
      #expect(files == [file.url.lastPathComponent])
    }
  }

  @Test func `a cancelled download is no shorter file, but an error, and leaves none`() async throws
  {
    let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
    let server = try StandIn { _, connection in
      connection.send("HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n" + Self.part)
      beginning.yield()
      connection.waitUntilClosed()
    }
    try await Self.withFolder { folder in
      let client = Self.client(of: server, folder)
      let download = Task { try await client.download(7) }
      for await _ in begun { break }
      try await eventually("a part of the content is there") {
        try Self.files(in: folder).contains { try Self.size(of: $0, in: folder) != 0 }
      }
      download.cancel()
      await #expect(throws: RichPushError.self) { try await download.value }
      try Self.expectNoFile(in: folder)
    }
  }

  private static func size(of name: String, in folder: URL) throws -> Int? {
    try folder.appending(path: name).resourceValues(forKeys: [.fileSizeKey]).fileSize
  }
}
