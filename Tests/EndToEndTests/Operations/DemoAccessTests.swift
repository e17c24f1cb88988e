import Foundation
import RichPushClient
import Testing

/// What pages in a browser on the same machine can do to `serve --demo`.
@Suite(.timeLimit(.minutes(5))) struct DemoAccessTests {
  private static let guest = RunningServer.credentials("alice")

  /// A request of each kind, with the status that a program on this machine gets.
  private static func requests(_ server: RunningServer) throws -> [(line: String, status: Int)] {
    let link = try #require(try server.links(of: 0)["thumb"]).replacing(
      /^https?:.*(?=\/media)/, with: "")
    return [
      ("GET /api/notifications/0?width=128", 200), ("GET \(link)", 200), ("GET /healthz", 200),
      ("GET /readyz", 200), ("GET /metrics", 200), ("GET /api/notifications", 200),
      ("GET /api/openapi.json", 200), ("POST /api/notifications", 200),
      ("POST /api/register?handle=0A1B2C3D", 200), ("HEAD /api/notifications/0", 200),
      ("GET /nowhere", 404), ("PUT /healthz", 405), ("DELETE /api/assets/img/none.png", 404),
    ]
  }

  /// The status of the answer, on a connection of its own.
  private static func status(
    _ line: String, host: String, _ fields: String = "", of server: RunningServer
  ) throws -> Int {
    let connection = try RawConnection(port: server.port)
    connection.send(
      Array(
        "\(line) HTTP/1.1\r\nHost: \(host)\r\n\(guest)\r\n\(fields)Connection: close\r\n\r\n".utf8))
    let text = String(decoding: connection.rest(), as: UTF8.self)
    return try #require(text.split(separator: " ").dropFirst().first.flatMap { Int($0) }, "\(text)")
  }

  @Test func `a host name that a stranger points at this machine gets 421 on every route`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--public-url", "https://push.example:8443/a"]) {
      server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      for (line, expected) in try Self.requests(server) {
        // The first fills the cache; from then on the answer may leave without a look at the rest.
        for host in [
          "127.0.0.1:\(server.port)", "localhost", "[::1]:1", "127.3.2.1", "Push.Example",
        ] {
          #expect(try Self.status(line, host: host, of: server) == expected, "\(line) \(host)")
        }
        for host in ["evil.example", "evil.example:\(server.port)", "localhost.evil.example", ""] {
          #expect(try Self.status(line, host: host, of: server) == 421, "\(line) \(host)")
        }
        let (method, target) = (line.prefix { $0 != " " }, line.drop { $0 != " " }.dropFirst())
        let absolute = "\(method) http://evil.example\(target)"
        #expect(try Self.status(absolute, host: "localhost", of: server) == 421, "\(absolute)")
      }
      let answer = try RawConnection(port: server.port)
      answer.send(Array("GET /healthz HTTP/1.1\r\nHost: evil.example\r\n\r\n".utf8))
      let text = try answer.answer().text
      #expect(text.contains("127.0.0.1") && text.contains("--public-url"), "\(text)")
    }
  }

  @Test func `a page of another origin gets 403 on every route, and changes nothing`() async throws
  {
    try await RunningServer.lend { server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      let host = "127.0.0.1:\(server.port)"
      let attacks = [
        "Sec-Fetch-Site: cross-site\r\n", "Origin: https://evil.example\r\n", "Origin: null\r\n",
        "Sec-Fetch-Site: cross-site\r\nOrigin: https://evil.example\r\n",
        "Origin: http://localhost:\(server.port)\r\n", "Origin: http://127.0.0.1:1\r\n",
        "Sec-Fetch-Mode: no-cors\r\nSec-Fetch-Dest: image\r\nSec-Fetch-Site: cross-site\r\n",
      ]
      for (line, expected) in try Self.requests(server) {
        #expect(try Self.status(line, host: host, of: server) == expected, "\(line)")
        for attack in attacks {
          #expect(try Self.status(line, host: host, attack, of: server) == 403, "\(line) \(attack)")
        }
      }
      let preflight =
        "Origin: https://evil.example\r\nAccess-Control-Request-Method: POST\r\n"
      #expect(
        try Self.status("OPTIONS /api/notifications", host: host, preflight, of: server) == 403)
      #expect(try await server.client("alice").inbox().notifications.count == 2)

      let own = "Origin: http://\(host)\r\nSec-Fetch-Site: same-origin\r\n"
      for (line, expected) in try Self.requests(server) {
        for fields in [own, "Sec-Fetch-Site: none\r\n"] {
          #expect(try Self.status(line, host: host, fields, of: server) == expected, "\(line)")
        }
      }
    }
  }

  @Test func `a page whose origin is named may ask, and no other`() async throws {
    let flags = ["--demo", "--cors-origin", "https://app.example"]
    try await RunningServer.lend(flags: flags) { server async throws in
      let (post, site) = ("POST /api/notifications", "Sec-Fetch-Site: cross-site\r\n")
      let named = site + "Origin: https://app.example\r\n"
      #expect(try Self.status(post, host: "localhost", named, of: server) == 200)
      let preflight = named + "Access-Control-Request-Method: PUT\r\n"
      #expect(try Self.status("OPTIONS /healthz", host: "localhost", preflight, of: server) == 204)
      for fields in [site, site + "Origin: https://evil.example\r\n"] {
        #expect(try Self.status(post, host: "localhost", fields, of: server) == 403)
      }
      #expect(try Self.status(post, host: "evil.example", named, of: server) == 421)
    }
  }

  @Test func `a server with passwords answers to any host, and is asked by any page`() async throws
  {
    try await RunningServer.lend(flags: []) { server async throws in
      let page = "Sec-Fetch-Site: cross-site\r\nOrigin: https://app.example\r\n"
      #expect(try Self.status("GET /healthz", host: "push.example", page, of: server) == 200)
    }
  }
}
