import Foundation
import RichPushClient
import StandIns
import Synchronization
import Testing
import Waiting

/// The nginx of `docs/OPERATIONS.md`, as it stands there.
@Suite(.timeLimit(.minutes(5))) struct ProxySystemTests {
  @Test func `the documented nginx serves HTTP/2, caches signed media, and tells who asks`()
    async throws
  {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    let flags = ["--demo", "--trusted-proxy", "127.0.0.1", "--access-log", log.path]
    try await RunningServer.lend(flags: flags) { server in
      let proxy = try await Proxy(for: server)
      _ = try await server.client("alice").create(.logo(to: "alice"))

      let media = try await proxy.curl(
        "/api/notifications/0?width=128", "-u", "alice:alice", "-H", "X-Forwarded-For: 6.6.6.6")
      #expect(media.hasPrefix("HTTP/2 200 "))
      #expect(media.contains("\ncache-control: private, max-age=31536000, immutable\n"))
      #expect(try await proxy.curl("/metrics").hasPrefix("HTTP/2 403 "))
      #expect(try await proxy.curl("/api/notifications").contains("requestId"))

      let link = try server.links(of: 0)["thumb"] ?? ""
      #expect(try await proxy.curl(link).contains("\nx-cache-status: MISS\n"))
      #expect(try await proxy.curl(link).contains("\nx-cache-status: HIT\n"))
      let forged = try await proxy.curl(link.replacing("/thumb?", with: "/ios?"))
      #expect(forged.hasPrefix("HTTP/2 403 "))

      let stream = try Child(
        "/usr/bin/curl", proxy.arguments("/api/push/stream", "-N") + ["-u", "alice:alice"])
      var lines = stream.lines.makeAsyncIterator()
      while let line = await lines.next(), !line.hasPrefix("id:") {}
      _ = try await server.client("bob").create(.logo(to: "alice"))
      while let line = await lines.next() { if line.hasPrefix("data:") { break } }
      stream.send(SIGTERM)

      try await eventually("the log names the client behind the proxy, not what it claims") {
        let text = (try? String(contentsOf: log, encoding: .utf8)) ?? ""
        return text.contains(#""client":"127.0.0.2","method":"GET","target":"/media/0/thumb"#)
          && !text.contains(#""client":"6.6.6.6""#)
      }
      await proxy.stop()
    }
  }
}

extension ProxySystemTests {
  @Test func `no log of the documented nginx has a code that pairs a phone, not even an error's`()
    async throws
  {
    var running: Proxy?
    try await RunningServer.lend { server in
      let proxy = try await Proxy(for: server)
      _ = try await proxy.curl("/app/?pair=SECRET-1")
      _ = try await proxy.curl("/app/manifest.webmanifest?pair=SECRET-2")
      running = proxy
    }
    // The server has ended.
    let proxy = try #require(running)
    #expect(try await proxy.curl("/app/?pair=SECRET-3").hasPrefix("HTTP/2 502 "))
    #expect(try await proxy.curl("/healthz").hasPrefix("HTTP/2 502 "))
    await proxy.stop()
    let logged = proxy.logged()
    #expect(logged.contains("/healthz") && !logged.contains("SECRET"), "\(logged)")
  }

  @Test func `a restart behind nginx loses no request if systemd keeps the socket`() async throws {
    let supervisor = ServiceNotificationTests.supervisor(sockets: 1)
    try await RunningServer.lend(through: supervisor) { server in
      let proxy = try await Proxy(for: server)
      let restarts = Restarts()
      try await withThrowingTaskGroup { group in
        for _ in 0..<4 {
          group.addTask {
            while !restarts.areOver {
              let answer = try await proxy.curl("/healthz")
              #expect(answer.hasPrefix("HTTP/2 200 "), "\(answer)")
              restarts.countRequest()
            }
          }
        }
        for number in 1...3 {
          server.send(SIGUSR1)
          try await eventually("it was started again") {
            ServiceNotificationTests.count("READY=1", in: server.log) == number + 1
          }
          let before = restarts.requests
          try await eventually("requests are answered") { restarts.requests > before + 8 }
        }
        restarts.end()
        try await group.waitForAll()
      }
      await proxy.stop()
    }
  }
}

/// Tells the clients of a server that is started again when that is over.
private final class Restarts: Sendable {
  private let state = Mutex((areOver: false, requests: 0))

  var areOver: Bool { state.withLock { $0.areOver } }
  var requests: Int { state.withLock { $0.requests } }

  func end() { state.withLock { $0.areOver = true } }

  func countRequest() { state.withLock { $0.requests += 1 } }
}

/// Debian's nginx with the documentation's configuration, on a port and with a certificate of its own.
private final class Proxy: Sendable {
  private let child: Child
  private let scratch: Scratch
  private let reservedPort: ReservedPort
  private var port: Int { reservedPort.number }

  init(for server: RunningServer) async throws {
    (scratch, reservedPort) = (try Scratch(), try ReservedPort())
    let authority = try StandIn("hub")
    let folder = scratch.folder.path
    let port = reservedPort.number
    let guide = String(decoding: try Package.bytes("docs/OPERATIONS.md"), as: UTF8.self)
    let block = try #require(guide.firstMatch(of: /(?s)```nginx\n(.*?)```/)?.1)
    let site = String(block)
      .replacing("127.0.0.1:8080", with: "127.0.0.1:\(server.port)")
      .replacing("listen 443", with: "listen 127.0.0.1:\(port)")
      .replacing("/etc/ssl/push.example.pem", with: authority.folder + "/leaf.pem")
      .replacing("/etc/ssl/push.example.key", with: authority.folder + "/leaf.key")
      .replacing("/var/cache/nginx/richpush", with: folder + "/cache")
      .replacing("/var/log/nginx/error.log", with: folder + "/errors")
    child = try startNginx(site, in: scratch)
    try await eventually("nginx listens: \(child.errors)") {
      try await curl("/healthz").hasPrefix("HTTP/2 200 ")
    }
  }

  /// What curl shows of an answer: its head, and the body where it is text.
  func curl(_ target: String, _ more: String...) async throws -> String {
    try await Child.run("/usr/bin/curl", arguments(target) + more).output
      .map { $0.trimmingCharacters(in: ["\r"]) }.joined(separator: "\n")
  }

  func arguments(_ target: String, _ more: String...) -> [String] {
    // From another address than the proxy's, which the server trusts.
    ["-s", "-k", "-i", "--http2", "--interface", "127.0.0.2", "https://127.0.0.1:\(port)\(target)"]
      + more
  }

  /// What nginx has logged: requests and errors.
  func logged() -> String {
    ["access", "errors"].map { name in
      (try? String(contentsOf: scratch.folder.appending(path: name), encoding: .utf8)) ?? ""
    }.joined()
  }

  func stop() async {
    child.send(SIGTERM)
    _ = await child.exitCode()
  }
}
