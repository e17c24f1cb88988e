import Foundation
import StandIns
import Testing
import Waiting

/// HAProxy with the configuration of `packaging/cluster`, or nginx with that of `docs/SCALING.md`, on a port of its own.
final class Balancer: Sendable {
  enum Program { case haproxy, nginx }

  static let haproxy = "/usr/sbin/haproxy"
  let endpoint: URL
  var port: Int { reservedPort.number }
  private let reservedPort: ReservedPort
  private let child: Child
  private let scratch: Scratch

  init(_ program: Program, for nodes: [RunningServer]) async throws {
    scratch = try Scratch()
    reservedPort = try ReservedPort()
    let port = reservedPort.number
    endpoint = try #require(URL(string: "http://127.0.0.1:\(port)"))
    switch program {
    case .haproxy: child = try Self.startHAProxy(scratch, port, nodes)
    case .nginx: child = try Self.nginx(scratch, port, nodes)
    }
    try await eventually("the balancer reaches a node: \(child.errors)") {
      guard let socket = try? LoopbackSocket.connected(to: port) else { return false }
      close(socket)
      return try get("/readyz").status == 200
    }
  }

  /// The answer to a request on a connection of its own, with these fields.
  func get(_ target: String, _ fields: String...) throws -> RawConnection.Answer {
    let lines = fields.map { $0 + "\r\n" }.joined()
    return try RawConnection(port: port).exchange("GET \(target) HTTP/1.1\r\n\(lines)")
  }

  func stop() async {
    child.send(SIGTERM)
    _ = await child.exitCode()
  }

  private static func startHAProxy(
    _ scratch: Scratch, _ port: Int, _ nodes: [RunningServer]
  ) throws -> Child {
    let file = String(decoding: try Package.bytes("packaging/cluster/haproxy.cfg"), as: UTF8.self)
    let text = nodes.enumerated().reduce(file) { text, node in
      text.replacing("10.213.81.\(node.offset + 11):8080", with: "127.0.0.1:\(node.element.port)")
    }.replacing("bind :8080", with: "bind 127.0.0.1:\(port)")
    let path = try scratch.drop(Array(text.utf8), as: "haproxy.cfg").path
    return try Child(haproxy, ["-db", "-f", path])
  }

  /// The server of `docs/OPERATIONS.md` with the other upstream servers, without TLS.
  private static func nginx(
    _ scratch: Scratch, _ port: Int, _ nodes: [RunningServer]
  ) throws -> Child {
    let folder = scratch.folder.path
    let server = try configuration("docs/OPERATIONS.md", "nginx", for: [])
      .replacing(/(?s)upstream richpush \{.*?\n\}\n/, with: "")
      .replacing("listen 443 ssl http2", with: "listen 127.0.0.1:\(port)")
      .replacing(/ssl_.*/, with: "")
      .replacing("/var/cache/nginx/richpush", with: folder + "/cache")
    let upstream = try configuration("docs/SCALING.md", "nginx", for: nodes)
    return try startNginx(upstream + "\n" + server, in: scratch)
  }

  /// The first configuration of a program in a document, with the addresses of these nodes.
  private static func configuration(
    _ document: String, _ program: String, for nodes: [RunningServer]
  ) throws -> String {
    let guide = String(decoding: try Package.bytes(document), as: UTF8.self)
    let start = try #require(guide.firstRange(of: "```\(program)\n")).upperBound
    let end = try #require(guide[start...].firstRange(of: "```")).lowerBound
    return nodes.enumerated().reduce(String(guide[start..<end])) { text, node in
      text.replacing("10.0.0.\(node.offset + 1):8080", with: "127.0.0.1:\(node.element.port)")
    }
  }
}
