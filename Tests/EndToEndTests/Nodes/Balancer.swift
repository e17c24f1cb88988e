import Foundation
import StandIns
import Testing

/// HAProxy with the configuration of `docs/SCALING.md`, on a port of its own.
final class Balancer: Sendable {
  static let haproxy = "/usr/sbin/haproxy"
  let endpoint: URL
  let port: Int
  private let child: Child
  private let scratch: Scratch

  init(for nodes: [RunningServer]) async throws {
    scratch = try Scratch()
    port = try freePort()
    endpoint = try #require(URL(string: "http://127.0.0.1:\(port)"))
    child = try Self.start(scratch, port, nodes)
    try await eventually("the balancer reaches a node: \(child.errors)") {
      guard let socket = connectedSocket(port: port) else { return false }
      close(socket)
      return try get("/readyz").status == 200
    }
  }

  /// The answer to a request without a password.
  func get(_ target: String) throws -> RawConnection.Answer {
    try RawConnection(port: port).exchange("GET \(target) HTTP/1.1\r\n")
  }

  func stop() async {
    child.send(SIGKILL)
    _ = await child.exitCode()
  }

  private static func start(
    _ scratch: Scratch, _ port: Int, _ nodes: [RunningServer]
  ) throws -> Child {
    let text = try configuration(for: nodes)
      .replacing(/bind :443 .*/, with: "bind 127.0.0.1:\(port)")
      .replacing("push.example", with: "127.0.0.1")
    let file = try scratch.drop(Array(text.utf8), as: "haproxy.cfg")
    return try Child(haproxy, ["-db", "-f", file.path])
  }

  /// The configuration with the addresses of these nodes.
  private static func configuration(for nodes: [RunningServer]) throws -> String {
    let guide = String(decoding: try Package.bytes("docs/SCALING.md"), as: UTF8.self)
    let start = try #require(guide.firstRange(of: "```haproxy\n")).upperBound
    let end = try #require(guide[start...].firstRange(of: "```")).lowerBound
    return nodes.enumerated().reduce(String(guide[start..<end])) { text, node in
      text.replacing("10.0.0.\(node.offset + 1):8080", with: "127.0.0.1:\(node.element.port)")
    }
  }
}
