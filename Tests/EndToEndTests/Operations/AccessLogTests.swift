import Foundation
import RichPushClient
import Testing
import Waiting

/// A line of JSON for every answer.
@Suite(.timeLimit(.minutes(5))) struct AccessLogTests {
  @Test func `tells who asked for what, by the request's name, and keeps signatures to itself`()
    async throws
  {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    let flags = ["--demo", "--access-log", log.path, "--trusted-proxy", "127.0.0.1"]
    try await RunningServer.lend(flags: flags) { server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      let link = try server.links(of: 0)["thumb"] ?? ""
      _ = try server.get(link, "X-Request-Id: fetch-1", "X-Forwarded-For: 203.0.113.9")
      let lost = try server.get("/nowhere?\"quoted\"".replacing("\"", with: "%22"))
      try await eventually("the answers are logged") { Self.lines(of: log).count >= 4 }
      let fetch = try #require(Self.lines(of: log).first { $0.id.text == "fetch-1" })
      #expect(fetch.client.text == "203.0.113.9" && fetch.status.integer == 200)
      #expect(fetch.route.text == "/media/{}/{}" && fetch.method.text == "GET")
      #expect(fetch.target.text?.hasSuffix("&signature=-") == true)
      #expect((fetch.bytes.integer ?? 0) > 0 && (fetch.seconds.double ?? -1) > 0)
      let missing = try #require(
        Self.lines(of: log).first { $0.id.text == lost.fields["x-request-id"] })
      #expect(missing.status.integer == 404 && missing.route.text == "unknown")

      let rotated = log.path + ".1"
      defer { try? FileManager.default.removeItem(atPath: rotated) }
      try FileManager.default.moveItem(atPath: log.path, toPath: rotated)
      server.send(SIGHUP)
      try await eventually("a new file is begun") {
        _ = try server.get("/healthz")
        return !Self.lines(of: log).isEmpty
      }
    }
  }

  @Test func `tells the number of the user, and the device that asked, but no name`() async throws {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    try await RunningServer.lend(flags: ["--demo", "--access-log", log.path]) { server in
      var client = server.client("alice")
      let device = try await client.register(handle: "AB12")
      client.device = device
      _ = try await client.inbox()
      let line = { (route: String) in Self.lines(of: log).first { $0.route.text == route } }
      // Each is logged after its answer, and so perhaps after the next request.
      try await eventually("both requests are logged") {
        line("/api/register") != nil && line("/api/notifications") != nil
      }
      let (inbox, registration) = (line("/api/notifications"), line("/api/register"))
      #expect(inbox?.user.integer != nil && inbox?.device.text == device)
      #expect(registration?.user == inbox?.user && registration?.device == .null)
      let token = try await client.deviceToken()
      _ = try await server.client("admin").devices(of: "alice")
      _ = try await server.client("admin").users(after: "alice")
      _ = try server.get("/api/audience?to=username:alice", RunningServer.credentials("shop"))
      try await eventually("all are logged") { line("/api/audience") != nil }
      #expect(line("/api/users/{}/devices")?.target.text == "/api/users/-/devices")
      #expect(line("/api/users")?.target.text == "/api/users?after=-")
      let text = try String(contentsOf: log, encoding: .utf8)
      #expect(!text.contains(token) && !text.contains("alice"))
    }
  }

  @Test func `tells the user of a session, on pages of the server alone`() async throws {
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    try await RunningServer.lend(flags: ["--demo", "--access-log", log.path]) { server in
      let cookie = try server.signIn("shop", "shop")
      for (number, site) in ["same-origin", "none"].enumerated() {
        _ = try server.get(
          "/api/assets", "Cookie: \(cookie)", "Sec-Fetch-Site: \(site)",
          "X-Request-Id: r-\(number)")
      }
      try await eventually("both are logged") { Self.lines(of: log).count >= 3 }
      let lines = Dictionary(grouping: Self.lines(of: log)) { $0.id.text ?? "" }
      #expect(lines["r-0"]?.first?.user.integer != nil)
      #expect(lines["r-0"]?.first?.status.integer == 200)
      #expect(lines["r-1"]?.first?.user == .null && lines["r-1"]?.first?.status.integer == 401)
      let text = try String(contentsOf: log, encoding: .utf8)
      #expect(!text.contains(cookie.dropFirst("richpush=".utf8.count)))
    }
  }

  @Test func `a file that cannot be written is said at the start`() async throws {
    let result = try await Child.run(
      "richpush", ["serve", "--demo", "--listen", "127.0.0.1:0", "--access-log", "/nowhere/log"])
    #expect(result.exitCode == 1)
    #expect(result.errors.contains("--access-log: /nowhere/log: No such file or directory"))
  }

  private static func lines(of file: URL) -> [JSONValue] {
    let text = (try? String(contentsOf: file, encoding: .utf8)) ?? ""
    return text.split(separator: "\n").compactMap {
      try? JSONDecoder().decode(JSONValue.self, from: Data($0.utf8))
    }
  }
}
