import Dispatch
import FoundationEssentials
import Glibc
import Testing
import Primitives
import Synchronization
import Waiting

@testable import HTTP

/// A server that runs for one test and whose responder is a closure.
struct TestServer {
  let server: Server
  let folder: String
  /// What its deadlines go by, unless it is the machine's clock.
  private let clock: ManualClock?
  var port: Int { server.port }

  struct ClosureResponder: Responder {
    let closure: @Sendable (Request) -> ResponsePlan
    func plan(for request: Request) -> ResponsePlan { closure(request) }
  }

  /// Starts a server, runs the test, and stops the server.
  static func with<R>(
    _ answer: @escaping @Sendable (Request) -> ResponsePlan,
    limits: ServerConfiguration.Limits = .init(), threads: Int = 2, tls: TLSIdentity? = nil,
    clock: ManualClock? = nil, allowedOrigins: Set<String> = [],
    test: (TestServer) async throws -> R
  ) async throws -> R {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/http-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    signal(SIGPIPE, SIG_IGN)  // as the program does: sendfile(2) raises it when a client has gone
    var configuration = ServerConfiguration(threads: threads, tls: tls, limits: limits)
    configuration.allowedOrigins = allowedOrigins
    if let clock {
      let start = clock.now - .seconds(1)
      configuration.time = { Int((clock.now - start) / .nanoseconds(1)) }
    }
    let server = try Server(
      configuration, responder: ClosureResponder(closure: answer), log: .silent)
    do {
      let result = try await test(TestServer(server: server, folder: folder, clock: clock))
      await server.stop(grace: .zero)
      return result
    } catch {
      await server.stop(grace: .zero)
      throw error
    }
  }

  /// Lets time pass on the manual clock, and waits until all threads have checked their deadlines.
  func pass(_ duration: Duration) async {
    clock?.advance(by: duration)
    // They are checked at the end of a turn.
    for _ in 0..<2 {
      let group = DispatchGroup()
      server.turn(group)
      await withCheckedContinuation { turned in
        group.notify(queue: .global()) { turned.resume() }
      }
    }
  }

  /// Lets time pass until a client has received its last answer.
  func timesOut(_ client: RawClient) async throws {
    try await eventually("it is answered") {
      await pass(.milliseconds(100))
      return client.isHungUp
    }
  }

  /// Starts a server with one thread that responds with a file that has these bytes.
  static func with(_ bytes: [UInt8], test: (TestServer) async throws -> Void) async throws {
    let file = Mutex<Content?>(nil)
    try await with(
      { _ in .immediate(file.withLock { $0 }.map { .content($0) } ?? .empty(404)) }, threads: 1
    ) { served in
      let content = try content(bytes, in: served.folder)
      file.withLock { $0 = content }
      try await test(served)
    }
  }

  /// Runs a test with an empty folder.
  static func inFolder(_ test: (String) throws -> Void) throws {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/http-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try test(folder)
  }

  /// Writes a file and describes it as a content.
  static func content(_ bytes: [UInt8], in folder: String, name: String = "file") throws -> Content
  {
    let path = "\(folder)/\(name)"
    try Data(bytes).write(to: URL(filePath: path))
    return Content(
      path: path, size: bytes.count, mediaType: "image/png", etag: "abc",
      lastModified: Date(timeIntervalSince1970: 784_111_777), fileName: "beach \u{e9}.png")
  }

  /// Returns when every connection is closed; records an issue if that takes longer than 30 s.
  func connectionsClosed() async throws {
    try await eventually("all connections are closed") { server.openConnections == 0 }
  }

  /// So many bytes, in which a part that is lost or moved shows; made quickly in a debug build.
  static func longPattern(_ size: Int) -> [UInt8] {
    var bytes: [UInt8] = []
    // 1000 bytes and a number: no two pieces are equal.
    while bytes.count < size {
      bytes += pattern
      withUnsafeBytes(of: bytes.count) { bytes += $0 }
    }
    return Array(bytes.prefix(size))
  }

  static let pattern: [UInt8] = (0..<1000).map { UInt8(truncatingIfNeeded: $0 * 7) }
}
