import Foundation
import Glibc
import RichPushClient
import StandIns
import Testing
import Waiting

/// Web Push services and name servers that never answer, all of one user, while others get their pushes.
@Suite(.timeLimit(.minutes(5))) struct SilentServicesTests {
  @Test func `one user's silent services take no lane and no transfer from others`() async throws {
    let listeners = try (0..<20).map { _ in try LoopbackSocket.listening(backlog: 128) }
    defer { for listener in listeners { close(listener.descriptor) } }
    let service = try StandIn("webpush")
    try await SilentServices.attack(
      endpoints: listeners.map { "https://127.0.0.1:\($0.port)" }, besides: service
    ) { server in
      let metrics = try RawConnection(port: server.port).exchange("GET /metrics HTTP/1.1\r\n").text
      #expect(metrics.contains("richpush_webpush_services{state=\"refused\"} 0\n"))
      // Their transfers end with them.
      for listener in listeners { shutdown(listener.descriptor, Int32(SHUT_RDWR)) }
    }
  }
}

/// With a name server in a mount namespace of the server's own, which needs root.
@Suite(.timeLimit(.minutes(5)), .enabled(if: getuid() == 0, "needs root"))
struct SilentNameServerSystemTests {
  @Test func `a silent name server takes few threads, and no push from others`() async throws {
    let (address, socket) = try silentNameServer()
    defer { close(socket) }
    let service = try StandIn("webpush")
    let scratch = try Scratch()
    let file = try scratch.drop(
      Array("nameserver \(address)\noptions timeout:30 attempts:2\n".utf8), as: "resolv.conf")
    try await SilentServices.attack(
      endpoints: (0..<20).map { "https://h\($0).evil.example" }, besides: service,
      through: [
        "/usr/bin/unshare", "--mount", "--propagation", "private", "/bin/sh", "-c",
        "mount --bind '\(file.path)' /etc/resolv.conf && exec \"$0\" \"$@\"",
      ]
    ) { _ in
      var byte: UInt8 = 0
      #expect(recv(socket, &byte, 1, Int32(MSG_DONTWAIT)) == 1, "it was asked")
    }
  }

  /// A name server on this machine that reads no question.
  private func silentNameServer() throws -> (address: String, socket: Int32) {
    let descriptor = socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_CLOEXEC.rawValue), 0)
    for _ in 0..<20 {
      let number = UInt32(0x7F00_0000) | UInt32.random(in: 0x1_0000...0xFF_FFFE)
      var address = sockaddr_in()
      address.sin_family = sa_family_t(AF_INET)
      address.sin_port = UInt16(53).bigEndian
      address.sin_addr.s_addr = number.bigEndian
      let isBound = withUnsafePointer(to: &address) { pointer in
        pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
          bind(descriptor, $0, socklen_t(MemoryLayout<sockaddr_in>.size)) == 0
        }
      }
      let text = [24, 16, 8, 0].map { String(number >> $0 & 0xFF) }.joined(separator: ".")
      if isBound { return (text, descriptor) }
    }
    close(descriptor)
    throw POSIXError(.EADDRNOTAVAIL)
  }
}

/// What both have in common.
private enum SilentServices {
  /// Runs a server on which `evil` registers as many devices as it can with these origins and notifies itself;
  /// expects that another user's pushes arrive all the same.
  static func attack(
    endpoints: [String], besides service: StandIn, through wrapper: [String] = [],
    _ body: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.lend(
      flags: [
        "--demo", "--push", "embedded,webpush", "--push-allow", "localhost:\(service.port)",
      ], environment: ["RICHPUSH_PUSH_CA": service.certificates], through: wrapper
    ) { server in
      let threads = try #require(ProcessFacts(server.processIdentifier)).threads
      var answers: [Int] = []
      for number in 0..<80 {
        let keys = try service.tell(["do": "subscribe", "name": "evil"])
        let url = endpoints[number % endpoints.count] + "/\(number)"
        answers.append(try register("evil-\(number)", url, keys, as: "evil", on: server))
      }
      #expect(answers.count { $0 == 200 } == 64 && answers.count { $0 == 409 } == 16)
      for _ in 0..<5 { _ = try await server.client("evil").create(.logo(to: "evil")) }
      let good = try service.tell(["do": "subscribe", "name": "good"])
      let endpoint = try #require(good["endpoint"] as? String)
      #expect(try register("good", endpoint, good, as: "alice", on: server) == 200)
      for number in 0..<3 {
        let id = try await server.client("shop").create(.logo(to: "alice", "\(number)")).id
        try await eventually("it is sent") {
          try server.deliveries(of: id) == ["webpush:\(service.url) sent"]
        }
      }
      try await server.expectHealthy()
      let facts = try #require(ProcessFacts(server.processIdentifier))
      #expect(facts.threads < threads + 60)
      try await body(server)
    }
  }

  private static func register(
    _ id: String, _ endpoint: String, _ keys: [String: Any], as user: String,
    on server: RunningServer
  ) throws -> Int {
    let registration: [String: Any] = [
      "platform": "webpush", "handle": endpoint,
      "keys": ["p256dh": keys["p256dh"] ?? "", "auth": keys["auth"] ?? ""],
    ]
    let body = Array(try JSONSerialization.data(withJSONObject: registration))
    return try RawConnection(port: server.port).exchange(
      "PUT /api/register/\(id) HTTP/1.1\r\nContent-Length: \(body.count)\r\n"
        + RunningServer.credentials(user) + "\r\n", body: body
    ).status
  }
}
