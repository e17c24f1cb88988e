import Delivery
import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import HTTP
@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct OperationsTests {
  @Test(
    arguments: [
      (.invalidRequest, 400), (.unknownField, 400), (.unauthorized, 401), (.forbidden, 403),
      (.notFound, 404), (.conflict, 409), (.alreadyFetched, 409), (.gone, 410), (.tooLarge, 413),
      (.unsupportedType, 415), (.rejected, 422), (.unknownRichType, 422), (.assetNotReady, 422),
      (.noRecipients, 422), (.tooManyRequests, 429), (.legallyUnavailable, 451),
      (.internalError, 500),
      (.pluginFailed, 502), (.incomplete, 503), (.busy, 503), (.unavailable, 503),
      (.pluginTimedOut, 504), (.diskFull, 507), (.preconditionFailed, 412),
    ] as [(ServiceError.Code, Int)])
  func `an error has one status, its code and the time to wait`(
    code: ServiceError.Code, status: Int
  ) {
    let response = ServiceError(code, "Why.", retryAfter: 7).response
    #expect(response.status == status && response.fields["Retry-After"] == "7")
    guard case .problem(let name, let detail, _) = response.body else {
      Issue.record("it is no problem")
      return
    }
    #expect(name == code.rawValue && detail == "Why.")
    #expect(ServiceError(code, "").response.fields["Retry-After"] == nil)
  }

  @Test func `every code of an error is listed above`() {
    #expect(ServiceError.Code.allCases.count == 24)
  }

  @Test func `requests without valid credentials get 401, and guesses have to wait`()
    async throws
  {
    try await TestServer.test { server in
      let none = try await server.execute("GET", "/api/notifications")
      #expect(none.status == 401 && none.fields["WWW-Authenticate"]?.hasPrefix("Basic ") == true)
      func guess(_ number: Int) async throws -> TestResponse {
        let field = TestServer.authorization("device", password: "guess\(number)")
        return try await server.execute(
          "GET", "/api/notifications", fields: ["Authorization": field], peer: "10.0.0.9")
      }
      for number in 0..<10 { #expect(try await guess(number).status == 401) }
      let limited = try await guess(10)
      #expect(limited.status == 429 && Int(limited.fields["Retry-After"] ?? "") != nil)
      #expect(try await server.status("GET", "/healthz") == 200)
    }
  }

  @Test func `health, readiness and metrics need no password`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      #expect(try await server.execute("GET", "/healthz").text == "ok\n")
      #expect(try await server.status("GET", "/readyz") == 200)
      try await server.publish()
      _ = try await server.execute("GET", "/api/notifications/0", as: "device")
      let metrics = try await server.execute("GET", "/metrics").text
      for line in [
        #"richpush_renditions_total{outcome="made"} 6"#,
        #"richpush_renditions_total{outcome="hit"} 1"#,
        #"richpush_assets{state="ready"} 0"#, #"richpush_streams{stream="push"} 0"#,
        #"richpush_plugin_seconds_count{type="note",verb="render"} 6"#,
        #"richpush_devices_without_lane{platform="gcm"} 0"#,
      ] { #expect(metrics.contains(line + "\n"), "\(line) in \(metrics)") }
      let far = try await server.execute("GET", "/metrics", peer: "10.0.0.9")
      #expect(far.status == 403)
    }
  }

  @Test func `an admin sees the state of each plugin`() async throws {
    try await TestServer.test(prepare: {
      try $1.installNote()
      try $1.write("{", to: "plugins/broken/plugin.json")
    }) { server in
      try await server.publish()
      let plugins = try await server.execute("GET", "/api/plugins", as: "admin").objects("plugins")
      try #require(plugins.count == 2)
      #expect(plugins[0]["state"] as? String == "broken" && plugins[0]["problem"] is String)
      #expect(plugins[1]["state"] as? String == "ready" && plugins[1]["calls"] as? Int == 6)
    }
  }

  @Test func `an admin sees when a plugin failed last, and what it wrote, as it wrote it`()
    async throws
  {
    let script = #"""
      [ "$RICH_PAYLOAD" = good ] && { printf 'Content-Type: text/plain\n\nfine'; exit 0; }
      echo '<img src=x onerror=alert(1)>' >&2; printf 'at line 7 \033[31m\377\n' >&2; exit 3
      """#
    try await TestServer.test(prepare: { try $1.installPlugin("note", script) }) { server in
      func plugin() async throws -> [String: Any] {
        let found = try await server.execute("GET", "/api/plugins", as: "admin")
        return try #require(found.objects("plugins").first)
      }
      let before = try await plugin()
      for member in ["lastFailure", "lastFailureTime", "lastFailureOutput", "medianSeconds"] {
        #expect(before[member] is NSNull, "\(member)")
      }
      let body = TestServer.notification()
      #expect(
        try await server.status("POST", "/api/notifications", as: "publisher", body: body) == 502)
      let good = body.replacing(#""payload":"p""#, with: #""payload":"good""#)
      #expect(
        try await server.status("POST", "/api/notifications", as: "publisher", body: good) == 201)
      let after = try await plugin()
      #expect(after["lastFailure"] as? String == "it exited with status 3")
      #expect(after["lastFailureTime"] is String)
      let output = try #require(after["lastFailureOutput"] as? String)
      #expect(output == "<img src=x onerror=alert(1)>\nat line 7 \u{1B}[31m\u{FFFD}\n")
      #expect(after["calls"] as? Int ?? 0 > 1 && after["medianSeconds"] as? Double ?? 0 > 0)
    }
  }

  @Test
  func `a server error is logged with the request's ID, and without a link's signature`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installPlugin("note", "exit 3") }) { server in
      let answer = try await server.execute(
        "POST", "/api/notifications", as: "publisher", fields: ["X-Request-Id": "r-7"],
        body: TestServer.notification())
      #expect(answer.status == 502 && answer.code == "plugin-failed")
      #expect(server.log.contain("r-7: POST /api/notifications: 502"))
    }
  }

  @Test func `what a client can try again is not logged`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      try server.scratch.remove("plugins/note")
      try await eventually("the plugin is gone") {
        let answer = try await server.execute(
          "GET", "/api/notifications/0?width=64", as: "device")
        return answer.status == 503 && answer.fields["Retry-After"] == "60"
      }
      #expect(!server.log.contain("503"))
    }
  }

  @Test(arguments: [
    ("/media/7/ios?expires=1&key=1&signature=abc", "/media/7/ios?expires=1&key=1&signature=-"),
    ("/media/7/ios?signature=abc", "/media/-"), ("//media/7", "/media/-"),
    ("/api/notifications?unread=1", "/api/notifications?unread=1"),
    ("/api/assets/img/a%20b.png", "/api/assets/img/a%20b.png"),
    ("/api/x?a=%73ignature=b", "/media/-"), ("/api/x?a=%2573ignature%253Db", "/media/-"),
    ("/app/?pair=gT5xPZ0aJ_-XcQe1vB9kLw", "/app/?pair=-"),
    ("/app/manifest.webmanifest?pair=gT5xPZ0aJ_-XcQe1vB9kLw", "/app/manifest.webmanifest?pair=-"),
    ("/app/?utm=1&pair=gT5xPZ0aJ", "/-"), ("/app/?PAIR=gT5xPZ0aJ", "/-"),
    ("/app/?p%61ir=gT5xPZ0aJ", "/-"), ("/app/%3Fp%2561ir%253DgT5xPZ0aJ", "/-"),
    ("/app/?pair=a%26b", "/-"), ("/elsewhere/?pair=gT5xPZ0aJ", "/-"),
    ("http://host/app/?pair=gT5xPZ0aJ", "/-"), ("/app/?pair%3DgT5xPZ0aJ", "/-"),
    ("/rpt_gT5xPZ0aJ/title/body", "/-"), ("/api/notifications?auth=rpt%5FgT5xPZ0aJ", "/-"),
    ("/ops/publish?message=Positive&priority=4", "/ops/publish?message=-&priority=4"),
    ("/app/", "/app/"), ("/api/pairings?user=alice", "/api/pairings?user=-"),
  ])
  func `no log has a link's signature, a code to pair a device, or an access token`(
    target: String, logged: String
  )
    throws
  {
    #expect(try Request("GET", target).loggedTarget == logged)
  }

  @Test func `the access log has a line of JSON for each answer, also after its file was renamed`()
    throws
  {
    let scratch = try Scratch()
    let log = try AccessLog(path: scratch.path + "/access.log") { _ in nil }
    func note(_ target: String) throws {
      log.add(
        AccessRecord(
          request: try Request("GET", target, fields: ["User-Agent": "a \"b\""], peer: "10.0.0.9"),
          method: "GET", serial: 7, route: "/r", peer: "127.0.0.1", status: 404, bytes: 5,
          nanoseconds: 1_500_000_000, isComplete: true, isCached: false))
      log.flush()
    }
    try note("/a")
    try FileManager.default.moveItem(
      atPath: scratch.path + "/access.log", toPath: scratch.path + "/old.log")
    try log.reopen()
    try note("/b")
    let line = try #require(scratch.read("old.log"))
    let json = try #require(
      try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any])
    #expect(json["status"] as? Int == 404 && json["target"] as? String == "/a")
    #expect(json["client"] as? String == "10.0.0.9" && json["userAgent"] as? String == "a \"b\"")
    #expect(json["seconds"] as? Double == 1.5 && json["bytes"] as? Int == 5)
    #expect(scratch.read("access.log")?.contains(#""target":"/b""#) == true)
  }

  @Test func `responses are counted by route, method and status, with their durations`() {
    let metrics = RequestMetrics()
    for (status, nanoseconds) in [(200, 500_000), (200, 20_000_000), (404, 20_000_000_000)] {
      metrics.count(
        AccessRecord(
          request: nil, method: "GET", serial: 1, route: "/r", peer: "", status: status, bytes: 10,
          nanoseconds: nanoseconds, isComplete: true, isCached: false))
    }
    let route = metrics.routes.first { $0.name == "/r" }?.counts
    #expect(route?.buckets == [1, 0, 1, 0, 0, 0, 0, 1] && route?.bytes == 30)
    #expect(route?.responses.map(\.count) == [2, 1])
  }

  // MARK: - The start and what is done now and then

  @Test func `dropped files are sent by a publisher only`() async throws {
    for (sender, isAllowed) in [("device", false), ("nobody", false), ("publisher", true)] {
      do {
        try await TestServer.test(prepare: { configuration, _ in configuration.publishAs = sender })
        {
          server in
          #expect(isAllowed && server.scratch.names(in: "assets") == ["outbox"])
        }
      } catch let error as OperatorError {
        #expect(!isAllowed && error.reason.contains("--publish-as \(sender)"))
      }
    }
  }

  @Test func `a dropped file with a sidecar is sent`() async throws {
    try await TestServer.test(prepare: {
      try $1.installNote()
      $0.publishAs = "publisher"
    }) { server in
      try server.scratch.write("text", to: "assets/note/a.txt")
      try server.scratch.write(
        #"{"to":["username:device"]}"#, to: "assets/note/a.txt.notify.json")
      try await eventually("it is sent") {
        server.scratch.read("assets/note/a.txt.notify.sent.json") != nil
      }
      let inbox = try await server.execute("GET", "/api/notifications", as: "device")
      #expect(inbox.objects("notifications").map { $0["message"] as? String } == ["a"])
    }
  }

  @Test func `renditions beyond the limit are removed, and a removed user is a stranger`()
    async throws
  {
    try await TestServer.test(prepare: {
      try $1.installNote()
      $0.renditionBytes = 0
    }) { server in
      try await server.addUser("alice", .device)
      #expect(try await server.status("GET", "/api/notifications", as: "alice") == 200)
      _ = try await server.store.accounts.removeUser("alice")
      #expect(await ControlSocket.reload(in: server.configuration.data) == .applied)
      #expect(try await server.status("GET", "/api/notifications", as: "alice") == 401)
      let housekeeping = server.origin.housekeeping
      #expect(housekeeping.retention.renditionBytes == 0)
    }
  }

  @Test
  func `keys that another process created sign links, and keys that it removed do not verify them`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      func link() async throws -> String {
        let details = try await server.execute(
          "GET", "/api/notifications/0/details", as: "device")
        return try #require((details.json["links"] as? [String: String])?["ios"])
      }
      let old = try await link()
      #expect(try await server.status("GET", old) == 200)
      let keys = try DataFolderAdmin(data: server.configuration.data)
      #expect(try await keys.rotateLinkKey() == 2)
      try await server.origin.reload()
      #expect(try await link().contains("key=2"))
      try await keys.removeLinkKey(1)
      try await server.origin.reload()
      let other = old.replacing("/ios?", with: "/web?")
      #expect(try await server.status("GET", other) == 403)
      // Also where it was answered from memory.
      #expect(try await server.status("GET", old) == 403)
    }
  }

  /// Otherwise somebody who mistypes a name would believe that this person is erased.
  @Test func `nobody is erased for another whose erasure has begun`() async throws {
    let scratch = try Scratch()
    let users = try DataFolderAdmin(data: scratch.path + "/data", creates: true)
    try await users.addUser("alice", password: "a-good-secret", role: "device")
    let number = try #require(try await users.number(of: "alice"))
    try await users.beginErasure(of: number)
    #expect(try await users.number(of: "alice") == number)
    await #expect(throws: OperatorError.self) { try await users.number(of: "alcie") }
    _ = try await users.finishErasures { _ in }
    await #expect(throws: OperatorError.self) { try await users.number(of: "alice") }
  }

  @Test func `invalid names, passwords and roles of users are rejected`() async throws {
    let scratch = try Scratch()
    let users = try DataFolderAdmin(data: scratch.path + "/data", creates: true)
    for (name, password, role) in [
      ("a b", "a-good-secret", "device"), ("alice", "short", "device"),
      ("alice", "a-good-secret", "king"), ("long-alice", "LONG-ALICE", "device"),
      ("alice", "with\nnewline", "device"), ("alice", String(repeating: "x", count: 512), "device"),
    ] {
      await #expect(throws: OperatorError.self) {
        try await users.addUser(name, password: password, role: role)
      }
    }
    try await users.addUser("alice", password: "a-good-secret", role: "admin")
    await #expect(throws: OperatorError.self) {
      try await users.addUser("alice", password: "a-good-secret", role: "device")
    }
    #expect(try await users.users().map { "\($0.name) \($0.role)" } == ["alice admin"])
    await #expect(throws: OperatorError.self) {
      try await users.setPassword(of: "bob", to: "another-secret")
    }
    try await users.setPassword(of: "alice", to: "another-secret")
    try await users.removeUser("alice")
    await #expect(throws: OperatorError.self) { try await users.removeUser("alice") }
  }
}
