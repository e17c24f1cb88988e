import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What a program can do with a publisher's access token.
@Suite(.timeLimit(.minutes(2))) struct AccessTokenTests {
  /// Runs a test with a server and the plugin `note`.
  private static func withServer(
    clock: any SteadyClock = ContinuousClock(), _ test: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(clock: clock, prepare: { try $1.installNote() }, test)
  }

  /// Makes a token of the publisher's, with more members.
  private func token(_ server: TestServer, _ members: String = "") async throws -> String {
    let answer = try await server.execute(
      "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci"\#(members)}"#)
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
    #expect(answer.fields["Cache-Control"] == "no-store")
    return try #require(answer.json["token"] as? String)
  }

  private func post(
    _ server: TestServer, _ token: String, _ body: String, _ query: String = ""
  ) async throws -> TestResponse {
    try await server.execute("POST", "/api/notifications" + query, token: token, body: body)
  }

  // MARK: - Credentials

  @Test func `counts as bearer token and as password, with its user's name or none`() async throws {
    try await Self.withServer { server in
      let token = try await token(server)
      #expect(token.hasPrefix("rpt_") && token.utf8.count == 47)
      for (field, status) in [
        ("Bearer \(token)", 200), ("bearer  \(token)", 200),
        (TestServer.authorization("publisher", password: token), 200),
        (TestServer.authorization("", password: token), 200),
        (TestServer.authorization("admin", password: token), 401),
        (TestServer.authorization("nobody", password: token), 401),
        ("Bearer \(token.dropLast())", 401), ("Bearer \(token)A", 401),
        ("Bearer rpt_\(DeviceToken().text)", 401),
        (TestServer.authorization("", password: TestServer.password), 401),
      ] {
        for _ in 0..<2 {
          let answer = try await server.execute(
            "GET", "/api/notifications?sent", fields: ["Authorization": field])
          #expect(answer.status == status, "\(field)")
          #expect((answer.fields["WWW-Authenticate"] != nil) == (status == 401))
        }
      }
      let wrong = try await server.execute(
        "GET", "/api/notifications?sent", token: "rpt_" + DeviceToken().text)
      #expect(wrong.detail?.hasPrefix("The access token is wrong") == true)
    }
  }

  @Test func `a thousand wrong ones are refused at once, and keep nobody out`() async throws {
    try await Self.withServer { server in
      let token = try await token(server)
      let start = ContinuousClock.now
      for number in 0..<1000 {
        let wrong = "rpt_" + DeviceToken().text
        let fields: Fields = [
          "Authorization": number % 2 == 0
            ? "Bearer " + wrong : TestServer.authorization("publisher", password: wrong)
        ]
        let answer = try await server.execute("GET", "/api/notifications?sent", fields: fields)
        #expect(answer.status == 401)
      }
      // A password's hash alone takes tens of milliseconds.
      #expect(ContinuousClock.now - start < .seconds(15))
      #expect(server.origin.routes.authenticator.failures.wrong == 0)
      #expect(try await post(server, token, TestServer.notification()).status == 201)
      #expect(try await server.status("GET", "/api/assets", as: "publisher") == 200)
    }
  }

  @Test func `an admin's token is a publisher's, and a former publisher's counts no more`()
    async throws
  {
    try await Self.withServer { server in
      let made = try await server.execute(
        "POST", "/api/tokens", as: "admin", body: #"{"name":"a","receipts":true,"assets":true}"#)
      let admin = try #require(made.json["token"] as? String)
      for (path, status) in [
        ("/api/notifications?sent", 200), ("/api/notifications?sent&sender=*", 403),
        ("/api/users", 403), ("/api/assets", 200), ("/api/notifications", 403),
        ("/api/tokens", 403), ("/api/events/stream", 403), ("/api/audience/names", 403),
      ] {
        #expect(try await server.execute("GET", path, token: admin).status == status, "\(path)")
      }
      let loud = TestServer.notification(#","sound":{"critical":1}"#)
      #expect(try await post(server, admin, loud).status == 403)

      let token = try await token(server)
      for (role, status) in [("device", 401), ("publisher", 200)] {
        #expect(
          try await server.status(
            "PUT", "/api/users/publisher", as: "admin", body: #"{"role":"\#(role)"}"#) == 204)
        let answer = try await server.execute("GET", "/api/notifications?sent", token: token)
        #expect(answer.status == status, "\(role)")
      }
    }
  }

  @Test func `an admin's token that was made for it reads status and audit log, and no more`()
    async throws
  {
    try await Self.withServer { server in
      func make(_ members: String, as user: String = "admin") async throws -> TestResponse {
        try await server.execute(
          "POST", "/api/tokens", as: user, body: #"{"name":"r\#(UUID().uuidString)",\#(members)}"#)
      }
      func status(_ path: String, _ token: String) async throws -> Int {
        try await server.execute("GET", path, token: token).status
      }
      let plain = #""receipts":true,"assets":true"#
      for (members, statusCode, auditCode) in [
        (#""status":true"#, 200, 403), (#""audit":true"#, 403, 200),
        (#""status":true,"audit":true"#, 200, 200), (plain, 403, 403),
        (#""status":false,"audit":null"#, 403, 403),
      ] {
        let made = try await make(members)
        let token = try #require(made.json["token"] as? String, "\(made.detail ?? "")")
        #expect(made.json["status"] as? Bool == members.contains(#""status":true"#))
        #expect(made.json["audit"] as? Bool == members.contains(#""audit":true"#))
        #expect(try await status("/api/status", token) == statusCode, "\(members)")
        #expect(try await status("/api/audit", token) == auditCode, "\(members)")
        for path in ["/api/users", "/api/outbox", "/api/storage", "/api/tokens", "/api/session"] {
          #expect(try await status(path, token) == 403, "\(path)")
        }
        guard members.contains("true"), members != plain else { continue }
        for path in ["/api/notifications?sent", "/api/assets", "/api/openapi.json", "/api/types"] {
          #expect(try await status(path, token) == 403, "\(path)")
        }
        #expect(try await post(server, token, TestServer.notification()).status == 403)
      }
      let entries = try await server.store.audit.auditEntries(
        AuditFilter(), before: nil, limit: 5)
      #expect(
        entries.map(\.event.detail) == [nil, nil, "status, audit", "audit", "status"])

      // Only an admin has one, and it has nothing that sends.
      for (members, user) in [
        (#""status":true"#, "publisher"), (#""audit":true,"user":"publisher""#, "admin"),
        (#""status":true,"to":["news"]"#, "admin"), (#""audit":true,"receipts":true"#, "admin"),
        (#""status":true,"assets":true"#, "admin"), (#""status":true,"rate":5"#, "admin"),
      ] {
        #expect(try await make(members, as: user).status == 422, "\(members) of \(user)")
      }
      // Who is an admin no longer does not read.
      try await server.store.accounts.addUser("boss", hash: "h", role: .admin)
      let made = try await make(#""status":true,"user":"boss""#)
      let token = try #require(made.json["token"] as? String)
      for (role, expected) in [("admin", 200), ("publisher", 403), ("device", 401)] {
        let body = #"{"role":"\#(role)"}"#
        #expect(try await server.status("PUT", "/api/users/boss", as: "admin", body: body) == 204)
        #expect(try await status("/api/status", token) == expected, "\(role)")
      }
    }
  }

  // MARK: - To whom

  @Test func `sends only to those that it names, who are also the default`() async throws {
    try await Self.withServer { server in
      let token = try await token(server, #","to":["username:device","username:admin"]"#)
      let to = { (users: [String]) in TestServer.notification(to: users) }
      let bare = #" {"message":"m","richType":"note","payload":{"a":1.50}}"#
      for (body, status, words) in [
        (to(["device"]), 201, ""), (to(["admin", "device"]), 201, ""), (bare, 201, ""),
        (to(["device", "publisher"]), 403, "“username:publisher”"),
        (#"{"message":"m","to":"username:device || username:publisher"}"#, 403, "may not send"),
        (#"{"message":"m","to":[]}"#, 400, "to is empty"),
        (#"{"message":"m","to":null}"#, 400, "to"),
      ] {
        for query in ["?dry-run", ""] {
          let answer = try await post(server, token, body, query)
          #expect(answer.status == (status == 201 && query != "" ? 200 : status), "\(body)")
          #expect(words.isEmpty || answer.detail?.contains(words) == true, "\(answer.detail ?? "")")
        }
      }
      let last = try #require(try await server.store.notifications.notification(2))
      #expect(last.to == ["username:device", "username:admin"])
      #expect(last.payload == #"{"a":1.5}"#)
      for (to, status) in [("device", 200), ("publisher", 403)] {
        let path = "/api/notifications?pns=apns&to_tag=\(to)"
        let answer = try await server.execute("POST", path, token: token, body: "\"Hi\"")
        #expect(answer.status == status)
        let count = try await server.execute(
          "GET", "/api/audience?to=username:\(to)", token: token)
        #expect(count.status == status)
      }
      let all = try await server.execute("GET", "/api/audience", token: token)
      #expect(all.json["users"] as? Int == 2)
      #expect(try await post(server, token, "").status == 403, "the tutorial's is for the caller")
    }
  }

  @Test func `without a limit a missing recipient is what it always was`() async throws {
    try await Self.withServer { server in
      let token = try await token(server)
      let answer = try await post(server, token, #"{"message":"m"}"#)
      #expect(answer.status == 400 && answer.errors.map(\.pointer) == ["#/to"])
      #expect(try await post(server, token, TestServer.notification(to: ["admin"])).status == 201)
    }
  }

  @Test func `tells and changes only what was sent to those`() async throws {
    try await Self.withServer { server in
      let token = try await token(server, #","to":["username:device"],"receipts":true"#)
      let (own, others) = (["device"], ["device", "admin"])
      for to in [own, others] { try await server.publish(to: to) }
      let list = try await server.execute("GET", "/api/notifications?sent", token: token)
      #expect(list.objects("notifications").map { $0["id"] as? Int } == [0])
      for (id, isOwn) in [(0, true), (1, false)] {
        let path = "/api/notifications/\(id)"
        for part in ["/details", "/receipts", "/deliveries", "/interactions", "/statistics"] {
          let answer = try await server.execute("GET", path + part, token: token)
          #expect(answer.status == (isOwn ? 200 : 404), "\(path + part)")
        }
        let patch = try await server.execute(
          "PATCH", path, token: token, body: #"{"message":"n"}"#)
        #expect(patch.status == (isOwn ? 200 : 404))
        let withdrawn = try await server.execute("DELETE", path, token: token)
        #expect(withdrawn.status == (isOwn ? 204 : 404))
      }
    }
  }

  @Test func `reads nothing that its user was sent`() async throws {
    try await Self.withServer { server in
      let token = try await token(server, #","receipts":true"#)
      let sent = try await server.execute(
        "POST", "/api/notifications", as: "admin",
        body: TestServer.notification(to: ["publisher"]))
      #expect(sent.status == 201)
      #expect(
        try await server.status("GET", "/api/notifications/0/details", as: "publisher") == 200)
      for (path, status) in [("", 403), ("/0", 403), ("/0/details", 404), ("/0/receipts", 404)] {
        let answer = try await server.execute("GET", "/api/notifications\(path)", token: token)
        #expect(answer.status == status, "\(path)")
      }
    }
  }

  @Test func `a key is another's if another token's recipients are the default`() async throws {
    try await Self.withServer { server in
      var answers: [TestResponse] = []
      for (index, user) in ["device", "device", "admin"].enumerated() {
        let made = try await server.execute(
          "POST", "/api/tokens", as: "publisher",
          body: #"{"name":"t\#(index)","to":"username:\#(user)"}"#)
        let token = try #require(made.json["token"] as? String)
        let body = #"{"message":"m","idempotencyKey":"k"}"#
        answers.append(try await post(server, token, body))
      }
      #expect(answers.map(\.status) == [201, 200, 409])
    }
  }

  @Test func `uploads only with that right, and nothing that the server would publish then`()
    async throws
  {
    try await TestServer.test(prepare: { configuration, scratch in
      try scratch.installNote()
      configuration.publishAs = "publisher"
    }) { server in
      let plain = try await token(server)
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"up","assets":true}"#)
      let rich = try #require(made.json["token"] as? String)
      let put = { (token: String, path: String) in
        try await server.execute("PUT", "/api/assets" + path, token: token, body: "{}").status
      }
      #expect(try await put(plain, "/note/a.txt") == 403)
      #expect(try await put(rich, "/note/a.txt") == 201)
      #expect(try await put(rich, "/note/a.txt.notify.json") == 403)
      #expect(try await put(rich, "/outbox/a.txt") == 403)
      let list = try await server.execute("GET", "/api/assets/note", token: rich)
      #expect(list.objects("assets").map { $0["name"] as? String } == ["a.txt"])
      // What is there is anybody's to send.
      #expect(try await post(server, plain, TestServer.notification()).status == 201)
    }
  }

  // MARK: - Rate, time and removal

  @Test func `sends as many a minute as it may`() async throws {
    let clock = ManualClock()
    try await Self.withServer(clock: clock) { server in
      let token = try await token(server, #","rate":3"#)
      let body = TestServer.notification()
      for _ in 0..<3 { #expect(try await post(server, token, body).status == 201) }
      let refused = try await post(server, token, body)
      #expect(refused.status == 429 && refused.fields["Retry-After"] == "20")
      #expect(refused.detail?.contains("3 notifications a minute") == true)
      let patch = try await server.execute(
        "PATCH", "/api/notifications/0", token: token, body: #"{"message":"n"}"#)
      #expect(patch.status == 429, "it is pushed, too")
      #expect(try await post(server, token, body, "?dry-run").status == 200)
      #expect(
        try await server.execute("DELETE", "/api/notifications/0", token: token).status == 204)
      clock.advance(by: .seconds(20))
      #expect(try await post(server, token, body).status == 201)
      #expect(try await post(server, token, body).status == 429)
      clock.advance(by: .seconds(60))
      for _ in 0..<3 { #expect(try await post(server, token, body).status == 201) }
      try await server.publish()  // with the password
    }
  }

  @Test func `ends at its time, also if it was remembered`() async throws {
    let (scratch, clock) = (try Scratch(), ManualClock())
    let store = try scratch.store(now: { clock.date })
    try await store.accounts.addUser("shop", hash: "h", role: .publisher)
    let shop = try #require(try await store.accounts.user(named: "shop")).id
    let token = AccessToken()
    var scope = AccessTokenScope()
    scope.expires = clock.date + 60
    _ = try await store.accessTokens.addAccessToken(token.hash, "ci", scope, of: shop)
    let authenticator = Authenticator(store: store, isDemo: false, clock: clock)
    let field = "Bearer " + token.text
    let caller = try #require(await authenticator.verify(field, from: "::1").caller)
    let login = Login(
      user: shop, moment: authenticator.changes.moment, changes: authenticator.changes)
    func isRemembered() -> Bool {
      if case .caller = authenticator.find(field, from: "::1") { true } else { false }
    }
    clock.advance(by: .seconds(59))
    #expect(isRemembered())
    try await store.requireCurrent(caller, login)
    clock.advance(by: .seconds(1))
    #expect(!isRemembered())
    #expect(await authenticator.verify(field, from: "::1").caller == nil)
    await #expect(throws: ServiceError.self, "a body that began before") {
      try await store.requireCurrent(caller, login)
    }
  }

  @Test func `the last use is stored at most once a minute, with its address`() async throws {
    let clock = ManualClock()
    try await Self.withServer(clock: clock) { server in
      let token = try await token(server)
      func use(from address: String) async throws -> String? {
        let answer = try await server.execute(
          "GET", "/api/notifications?sent", token: token, peer: address)
        #expect(answer.status == 200)
        try await server.origin.housekeeping.store.probe()
        let list = try await server.execute("GET", "/api/tokens", as: "publisher")
        let found = try #require(list.objects("tokens").first)
        #expect(found["used"] is String && found["token"] == nil)
        return found["address"] as? String
      }
      #expect(try await use(from: "192.0.2.1") == "192.0.2.1")
      clock.advance(by: .seconds(59))
      #expect(try await use(from: "192.0.2.2") == "192.0.2.1")
      clock.advance(by: .seconds(1))
      #expect(try await use(from: "192.0.2.3") == "192.0.2.3")
    }
  }

  /// What ends a token.
  enum End: CaseIterable { case byOwner, byAdmin, signOut, user }

  @Test(arguments: End.allCases)
  func `one that ends while a body is sent has no effect`(_ end: End) async throws {
    try await Self.withServer { server in
      let token = try await token(server)
      let body = TestServer.notification()
      let connection = server.connect()
      connection.send(
        "POST /api/notifications HTTP/1.1\r\nHost: x\r\nContent-Length: \(body.utf8.count)\r\n"
          + "Expect: 100-continue\r\nAuthorization: Bearer \(token)\r\n\r\n")
      #expect(await connection.answer().status == 100)
      let id = try #require(
        try await server.execute("GET", "/api/tokens", as: "publisher").objects("tokens").first?[
          "id"])
      switch end {
      case .byOwner, .byAdmin:
        #expect(try await server.status("DELETE", "/api/tokens/\(id)", as: "device") == 403)
        let user = end == .byOwner ? "publisher" : "admin"
        #expect(try await server.status("DELETE", "/api/tokens/\(id)", as: user) == 204)
        #expect(try await server.status("DELETE", "/api/tokens/\(id)", as: user) == 404)
      case .signOut:
        #expect(
          try await server.status("DELETE", "/api/users/publisher/tokens", as: "admin") == 204)
      case .user:
        #expect(try await server.status("DELETE", "/api/users/publisher", as: "admin") == 204)
      }
      connection.send(body)
      #expect(await connection.answer().status == 401)
      #expect(try await server.store.notifications.notification(0) == nil)
      let after = try await server.execute("GET", "/api/notifications?sent", token: token)
      #expect(after.status == 401)
    }
  }

  @Test func `no log has one`() async throws {
    try await TestServer.test(prepare: { configuration, scratch in
      configuration.accessLog = scratch.path + "/access.log"
      try scratch.installPlugin("note", "echo $RICH_PAYLOAD >&2; exit 3")
    }) { server in
      let token = try await token(server)
      #expect(try await post(server, token, TestServer.notification()).status == 502)
      for target in [
        "/api/notifications?auth=\(token)", "/\(token)/title", "/api/x?a=%2572pt_\(token)",
      ] {
        let connection = server.connect()
        connection.send(
          "GET \(target) HTTP/1.1\r\nHost: x\r\nAuthorization: Bearer \(token)\r\n\r\n")
        #expect(await connection.answer().status >= 400)
      }
      let secret = String(token.dropFirst(4))
      #expect(server.log.contain("502") && !server.log.contain(secret))
      var log = ""
      try await eventually("all requests are logged") {
        log = server.scratch.read("access.log") ?? ""
        return log.count { $0 == "\n" } == 3
      }
      #expect(log.contains(#""user":"#) && !log.contains("publisher") && !log.contains(secret))
    }
  }

  // MARK: - Making them

  @Test func `says everything that is wrong with a new one`() async throws {
    try await Self.withServer { server in
      let body = #"{"name":"7","to":["a b"],"rate":0,"expires":"2001-01-01T00:00:00Z"}"#
      let answer = try await server.execute("POST", "/api/tokens", as: "publisher", body: body)
      #expect(answer.status == 422)
      #expect(answer.errors.map(\.pointer) == ["#/name", "#/rate", "#/expires", "#/to"])
      for (body, status) in [
        ("{}", 400), (#"{"name":"a","scope":1}"#, 400), (#"{"name":"a b"}"#, 422),
        (#"{"name":"a","to":[]}"#, 400), (#"{"name":"a","user":"admin"}"#, 403),
      ] {
        #expect(
          try await server.status("POST", "/api/tokens", as: "publisher", body: body) == status,
          "\(body)")
      }
      for (user, status) in [("device", 422), ("nobody", 404), ("publisher", 201)] {
        let body = #"{"name":"a","user":"\#(user)"}"#
        #expect(try await server.status("POST", "/api/tokens", as: "admin", body: body) == status)
      }
      #expect(
        try await server.status("POST", "/api/tokens", as: "publisher", body: #"{"name":"a"}"#)
          == 409)
    }
  }

  @Test func `a publisher sees its own, and an admin those of any user`() async throws {
    try await Self.withServer { server in
      _ = try await token(server, #","to":"news && !muted","rate":5"#)
      let own = try await server.execute("GET", "/api/tokens", as: "publisher")
      let found = try #require(own.objects("tokens").first)
      #expect(found["name"] as? String == "ci" && found["user"] as? String == "publisher")
      #expect(found["to"] as? [String] == ["news && !muted"] && found["rate"] as? Int == 5)
      #expect(found["expires"] is NSNull && found["used"] is NSNull)
      let none = try await server.execute("GET", "/api/tokens", as: "admin")
      #expect(none.status == 200 && none.objects("tokens").isEmpty)
      let others = try await server.execute("GET", "/api/tokens?user=publisher", as: "admin")
      #expect(others.objects("tokens").count == 1)
      #expect(try await server.status("GET", "/api/tokens?user=admin", as: "publisher") == 403)
      #expect(try await server.status("GET", "/api/tokens", as: "device") == 403)
    }
  }
}
