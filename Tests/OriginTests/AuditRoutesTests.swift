import Foundation
import HTTP
import PageParts
import Push
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Each route that changes something, called once: what the audit log has of it.
@Suite(.timeLimit(.minutes(3))) struct AuditRoutesTests {
  /// A request, made when all that it needs is there.
  private struct Step {
    var target: String
    var user: String?
    var fields: Fields = Fields()
    var body = ""

    init(_ target: String, as user: String? = nil, _ body: String = "") {
      (self.target, self.user, self.body) = (target, user, body)
    }
  }

  /// A route, and the action that it adds; nil if it adds none.
  private struct Expectation {
    let action: String?
    let step: @Sendable (TestServer) async throws -> Step

    init(_ action: String?, _ step: @escaping @Sendable (TestServer) async throws -> Step) {
      (self.action, self.step) = (action, step)
    }

    init(_ action: String?, _ target: String, as user: String, _ body: String = "") {
      self.init(action) { _ in Step(target, as: user, body) }
    }
  }

  private static let own: Fields = ["Sec-Fetch-Site": "same-origin"]
  private static let signIn =
    #"{"username":"publisher","password":"\#(TestServer.password)"}"#
  private static let note = #"{"message":"m","richType":"note","payload":"p","to":"#

  /// The routes, in an order in which each finds what it needs.
  private static let expectations: KeyValuePairs<String, Expectation> = [
    // Notifications.
    "POST /api/notifications": Expectation(
      "notification.sent", "/api/notifications", as: "publisher", note + #"["username:device"]}"#),
    "PATCH /api/notifications/{}": Expectation(
      "notification.amended", "/api/notifications/0", as: "publisher", #"{"message":"other"}"#),
    "PUT /api/notifications/{}/read": Expectation(nil, "/api/notifications/0/read", as: "device"),
    "POST /api/notifications/read": Expectation(
      nil, "/api/notifications/read", as: "device", #"{"upTo":0}"#),
    "PUT /api/notifications/{}/hidden": Expectation(
      nil, "/api/notifications/0/hidden", as: "device"),
    "DELETE /api/notifications/{}/hidden": Expectation(
      nil, "/api/notifications/0/hidden", as: "device"),
    "POST /api/notifications/{}/interactions": Expectation(
      nil, "/api/notifications/0/interactions", as: "device", #"{"event":"opened"}"#),
    "DELETE /api/notifications/{}": Expectation(
      "notification.withdrawn", "/api/notifications/0", as: "publisher"),
    "POST /api/notifications/{}/approval": Expectation("notification.approved") { server in
      try await server.publish(to: ["device", "publisher", "admin"])
      let details = try await server.execute("GET", "/api/notifications/1/details", as: "admin")
      let approval = details.json["approval"] as? [String: Any]
      let version = try #require(approval?["version"] as? String)
      return Step(
        "/api/notifications/1/approval", as: "admin",
        #"{"approved":true,"version":"\#(version)"}"#)
    },
    // Devices.
    "POST /api/register": Expectation("device.added", "/api/register?handle=AA", as: "device"),
    "PUT /api/register/{}": Expectation(
      "device.added", "/api/register/phone", as: "device",
      #"{"Platform":"apns","Handle":"BB","Tags":[]}"#),
    "PATCH /api/register/{}": Expectation(
      nil, "/api/register/phone", as: "device", #"{"name":"Mine"}"#),
    "POST /api/register/{}/token": Expectation(
      "device.token-added", "/api/register/phone/token", as: "device"),
    "DELETE /api/register/{}/token": Expectation(
      "device.tokens-removed", "/api/register/phone/token", as: "device"),
    "DELETE /api/register/{}": Expectation(
      "device.removed", "/api/register/phone", as: "device"),
    "POST /api/pairings": Expectation("pairing.added", "/api/pairings", as: "device"),
    "DELETE /api/pairings/{}": Expectation("pairing.removed", "/api/pairings/1", as: "device"),
    "POST /api/pair": Expectation("device.added") { server in
      Step("/api/pair", #"{"code":"\#(try await code(server))"}"#)
    },
    "POST /api/pair/forward": Expectation(nil) { server in
      Step("/api/pair/forward", #"{"code":"\#(try await code(server))"}"#)
    },
    // Tokens and webhooks.
    "POST /api/tokens": Expectation(
      "token.added", "/api/tokens", as: "publisher", #"{"name":"ci"}"#),
    "DELETE /api/tokens/{}": Expectation("token.removed", "/api/tokens/1", as: "publisher"),
    "POST /api/webhooks": Expectation(
      "webhook.added", "/api/webhooks", as: "publisher",
      #"{"name":"hook","template":{"notification":{"title":"m"}},"to":["username:device"]}"#),
    "POST /api/webhooks/{}/deliveries/{}/replay": Expectation(nil) { server in
      let hook = try await server.execute("GET", "/api/webhooks", as: "publisher")
      let id = try #require(hook.objects("webhooks").first?["id"] as? Int)
      // There is none: what one sends is a notification like any other.
      return Step("/api/webhooks/\(id)/deliveries/7/replay", as: "publisher")
    },
    "DELETE /api/webhooks/{}": Expectation("webhook.removed") { server in
      let hook = try await server.execute("GET", "/api/webhooks", as: "publisher")
      let id = try #require(hook.objects("webhooks").first?["id"] as? Int)
      return Step("/api/webhooks/\(id)", as: "publisher")
    },
    // What is prepared.
    "POST /api/drafts": Expectation(
      nil, "/api/drafts", as: "publisher", #"{"name":"d","content":{}}"#),
    "PUT /api/drafts/{}": Expectation(
      nil, "/api/drafts/1", as: "publisher", #"{"name":"e","content":{}}"#),
    "DELETE /api/drafts/{}": Expectation(nil, "/api/drafts/1", as: "publisher"),
    "PUT /api/segments/{}": Expectation(
      "segment.added", "/api/segments/phones", as: "publisher", #"{"platform":"apns"}"#),
    "DELETE /api/segments/{}": Expectation(
      "segment.removed", "/api/segments/phones", as: "publisher"),
    // Sessions.
    "POST /api/session": Expectation("session.started") { _ in
      var step = Step("/api/session", signIn)
      step.fields = own
      return step
    },
    "DELETE /api/session": Expectation("session.ended") { server in
      var step = Step("/api/session")
      step.fields = try await cookie(server)
      return step
    },
    "DELETE /api/session/{}": Expectation("session.ended") { server in
      var step = Step("")
      step.fields = try await cookie(server)
      let found = try await server.execute(
        "GET", "/api/session", fields: step.fields, isSecure: true)
      step.target = "/api/session/\(try #require(found.json["current"] as? Int))"
      return step
    },
    // Push services.
    "POST /api/outbox/{}/replay": Expectation("push.replayed") { server in
      Step("/api/outbox/\(try await server.push(.rejected(reason: "no")))/replay", as: "admin")
    },
    "POST /api/outbox/replay": Expectation("push.replayed") { server in
      _ = try await server.push(.rejected(reason: "no"))
      return Step("/api/outbox/replay", as: "admin")
    },
    "DELETE /api/outbox/{}": Expectation("push.cancelled") { server in
      Step("/api/outbox/\(try await server.push(nil))", as: "admin")
    },
    "POST /api/lanes/resume": Expectation("service.resumed") { server in
      _ = try await server.push(.stopped(reason: "no"))
      return Step("/api/lanes/resume?lane=other", as: "admin")
    },
    "POST /api/lanes/restore": Expectation("service.devices-restored") { server in
      _ = try await server.store.administration.endSilentRegistrations(since: .distantFuture)
      return Step("/api/lanes/restore?lane=silence&since=2000-01-01T00:00:00Z", as: "admin")
    },
    // Users.
    "PUT /api/users/{}": Expectation(
      "user.added", "/api/users/dora", as: "admin",
      #"{"role":"publisher","password":"correct horse"}"#),
    "PUT /api/users/{}/attributes": Expectation(
      "user.attributes-changed", "/api/users/dora/attributes", as: "publisher",
      #"{"city":"Bern"}"#),
    "POST /api/attributes": Expectation(
      "user.attributes-changed", "/api/attributes", as: "publisher",
      #"{"dora":{"city":"Rom"},"device":{"city":"Bern"}}"#),
    "POST /api/attributes/import": Expectation(
      "user.attributes-changed", "/api/attributes/import", as: "publisher",
      "username,city\ndora,Paris\n"),
    "DELETE /api/users/{}/tokens": Expectation(
      "user.credentials-ended", "/api/users/dora/tokens", as: "admin"),
    "DELETE /api/users/{}": Expectation("user.removed", "/api/users/dora", as: "admin"),
    "POST /api/sign-up": Expectation("user.signed-up") { _ in
      Step("/api/sign-up", #"{"subjects":["news"]}"#)
    },
    "POST /api/sign-ups/{}": Expectation("user.approved") { server in
      Step("/api/sign-ups/\(try await waiting(server))", as: "admin")
    },
    "DELETE /api/sign-ups/{}": Expectation("user.removed") { server in
      let answer = try await server.execute(
        "POST", "/api/sign-up", body: #"{"subjects":["news"]}"#, isSecure: true)
      try #require(answer.status == 201, "\(answer.detail ?? "")")
      return Step("/api/sign-ups/\(try await waiting(server))", as: "admin")
    },
    // Assets.
    "PUT /api/assets/{}/{}": Expectation(
      "asset.added", "/api/assets/note/a.txt", as: "publisher", "one"),
    "POST /api/assets": Expectation(
      "asset.added", "/api/assets?name=b.pdf", as: "publisher", "%PDF-1.7\n"),
    "PATCH /api/assets/{}/{}": Expectation(
      "asset.described", "/api/assets/note/a.txt", as: "publisher", #"{"alt":"A"}"#),
    "POST /api/assets/{}/{}/restore": Expectation("asset.restored") { server in
      let versions = ["two", "three"]
      var digests: [String] = []
      for body in versions {
        let put = try await server.execute(
          "PUT", "/api/assets/note/a.txt", as: "publisher", body: body)
        digests.append(try #require(put.json["sha256"] as? String))
      }
      return Step(
        "/api/assets/note/a.txt/restore", as: "publisher", #"{"sha256":"\#(digests[0])"}"#)
    },
    "POST /api/assets/{}/{}/rename": Expectation(
      "asset.renamed", "/api/assets/note/a.txt/rename", as: "publisher", #"{"name":"c.txt"}"#),
    "DELETE /api/assets/{}/{}": Expectation(
      "asset.removed", "/api/assets/note/c.txt", as: "publisher"),
    // The last one: nobody has the old password any more.
    "PUT /api/password": Expectation(
      "user.password-changed", "/api/password", as: "publisher",
      #"{"old":"\#(TestServer.password)","new":"battery staple"}"#),
  ]

  private static func code(_ server: TestServer) async throws -> String {
    let made = try await server.execute("POST", "/api/pairings", as: "device")
    return try #require(made.json["code"] as? String)
  }

  private static func cookie(_ server: TestServer) async throws -> Fields {
    let answer = try await server.execute(
      "POST", "/api/session", fields: own, body: signIn, isSecure: true)
    var fields = own
    fields["Cookie"] = String(try #require(answer.fields["Set-Cookie"]).prefix { $0 != ";" })
    return fields
  }

  private static func waiting(_ server: TestServer) async throws -> String {
    let list = try await server.execute("GET", "/api/sign-ups", as: "admin")
    return try #require(list.objects("signUps").last?["user"] as? String)
  }

  private static func withServer(_ body: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: { configuration, scratch in
        try scratch.installNote()
        try scratch.installPlugin(
          "paper", manifest: #"{"accepts":["application/pdf"]}"#,
          #"printf 'Content-Type: text/plain\n\nx'"#)
        configuration.approveAbove = 2
        configuration.signUp = .approval
        configuration.subjects = [.init(tag: "news", name: "News")]
        configuration.compatibility = try CompatibilitySettings(["webhooks", "bark"], ntfy: nil)
      }, body)
  }

  @Test func `each route that changes something adds one entry, or is listed as one without`()
    async throws
  {
    try await Self.withServer { server in
      let changing = server.origin.routes.table.routes
        .filter { !$0.isSafe && $0.dialect == nil }
        .map { "\($0.method) \($0.pattern)" }
      #expect(
        changing.sorted() == Self.expectations.map(\.key).sorted(),
        "call a new route here, with what it adds to the audit log")
      for (name, expected) in Self.expectations {
        let step = try await expected.step(server)
        let last = try await server.entries().last?.number ?? 0
        let answer = try await server.execute(
          String(name.prefix { $0 != " " }), step.target, as: step.user, fields: step.fields,
          body: step.body, peer: "192.0.2.9", isSecure: true)
        let added = try await server.entries().filter { $0.number > last }.map(\.event)
        #expect(added.map(\.action) == [expected.action].compactMap(\.self), "\(name)")
        guard let event = added.first else { continue }
        #expect((200..<300).contains(answer.status), "\(name): \(answer.detail ?? answer.text)")
        #expect(event.actor.address == "192.0.2.9" && event.actor.request != nil, "\(name)")
        let user =
          switch name {
          case "POST /api/sign-up": String?.none
          case "POST /api/pair": "device"
          case _ where name.contains("/api/session"): "publisher"
          default: step.user
          }
        let id = if let user { try await server.id(of: user) } else { UserID?.none }
        #expect(event.actor.number == id?.rawValue, "\(name)")
        let shown: AuditActor.Credential? =
          switch name {
          case "POST /api/sign-up": nil
          case "POST /api/pair": .code
          case _ where step.fields["Cookie"] != nil: .session
          default: .password
          }
        #expect(event.actor.credential == shown, "\(name)")
      }
    }
  }

  @Test func `an access token and a device are named, and a webhook sends as what it is`()
    async throws
  {
    try await Self.withServer { server in
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci"}"#)
      let token = try #require(made.json["token"] as? String)
      let body = TestServer.notification()
      #expect(
        try await server.execute("POST", "/api/notifications", token: token, body: body).status
          == 201)
      let sent = try #require(try await server.entries().last?.event)
      #expect(sent.action == "notification.sent" && sent.actor.credential == .token)
      #expect(sent.actor.credentialID == "1" && sent.object?.kind == "notification")

      // Bark's clients may have the token in the body.
      let bounded = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"bark","to":["username:device"]}"#)
      let key = try #require(bounded.json["token"] as? String)
      let pushed = try await server.execute(
        "POST", "/push", fields: ["Content-Type": "application/json"],
        body: #"{"device_key":"\#(key)","body":"B"}"#)
      #expect(pushed.status == 200, "\(pushed.text)")
      let bark = try #require(try await server.entries().last?.event)
      #expect(bark.action == "notification.sent" && bark.actor.credential == .token)
      #expect(bark.actor.credentialID == "2" && bark.actor.number == sent.actor.number)

      let phone = try await server.register("AABB", as: "device")
      let given = try await server.execute("POST", "/api/register/\(phone)/token", as: "device")
      let secret = try #require(given.json["token"] as? String)
      #expect(
        try await server.execute("DELETE", "/api/register/\(phone)", token: secret).status == 200)
      let removed = try #require(try await server.entries().last?.event)
      #expect(removed.action == "device.removed" && removed.actor.credential == .device)
      #expect(removed.actor.credentialID == phone && removed.object?.id == phone)
    }
  }

  @Test func `what an admin does to a person's token is listed with what concerns the person`()
    async throws
  {
    try await TestServer.test(prepare: { configuration, _ in configuration.logsAudit = true }) {
      server in
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci"}"#)
      let token = try #require(made.json["id"] as? Int)
      #expect(
        try await server.execute("DELETE", "/api/tokens/\(token)", as: "admin", peer: "192.0.2.9")
          .status == 204)
      let id = try await server.id(of: "publisher").rawValue
      let query = "/api/audit?user=publisher&action=token.removed"
      let removed = try #require(
        try await server.execute("GET", query, as: "admin").objects("entries").first)
      #expect((removed["actor"] as? [String: Any])?["name"] as? String == "admin")
      let object = try #require(removed["object"] as? [String: Any])
      #expect(object["owner"] as? Int == id && object["ownerName"] as? String == "publisher")
      let admin = try await server.id(of: "admin").rawValue
      let line =
        "token.removed token \(token) of user \(id) by user \(admin) with password from 192.0.2.9"
      try await eventually("it is logged") { server.log.all.contains { $0.contains(line) } }
      #expect(try await server.status("DELETE", "/api/users/publisher", as: "admin") == 204)
      let later = try await server.execute(
        "GET", "/api/audit?user=\(id)&action=token.removed", as: "admin")
      let left = later.objects("entries").first?["object"] as? [String: Any]
      #expect(left?["owner"] as? Int == id && left?["ownerName"] is NSNull)
    }
  }

  @Test(arguments: ["en", "de"])
  func `the console has words for all that an entry can have`(_ language: String) throws {
    let bytes = try #require(PagePartFiles.all.first { $0.key == "\(language).js" }).value
    let text = String(decoding: bytes, as: UTF8.self)
    let table = text[try #require(text.firstRange(of: "\n  audit: {")).upperBound...]
    func words(_ group: String) throws -> [String: String] {
      let start = try #require(table.firstRange(of: " \(group): {")).upperBound
      let pairs = table[start...].prefix { $0 != "}" }.matches(of: /"?([\w.-]+)"?: "([^"]*)"/)
      return Dictionary(uniqueKeysWithValues: pairs.map { (String($0.1), String($0.2)) })
    }
    let (actions, kinds) = (try words("actions"), try words("kinds"))
    for action in AuditAction.allCases.map(\.rawValue) {
      #expect(actions[action]?.isEmpty == false, "\(action)")
      #expect(kinds[String(action.prefix { $0 != "." })]?.isEmpty == false, "\(action)")
    }
    let credentials = try words("credentials")
    for credential in AuditActor.Credential.allCases.map(\.rawValue) + ["command"] {
      #expect(credentials[credential]?.isEmpty == false, "\(credential)")
    }
    let actors = try words("actors")
    for kind in AuditActor.Kind.allCases where kind != .user && kind != .command {
      #expect(actors[kind.rawValue]?.isEmpty == false, "\(kind)")
    }
  }

  @Test func `the documentation names each action`() throws {
    let file = URL(filePath: #filePath).appending(path: "../../../docs/OPERATIONS.md").standardized
    let text = try String(contentsOf: file, encoding: .utf8)
    for action in AuditAction.allCases.map(\.rawValue) {
      let parts = action.split(separator: ".")
      let start = try #require(text.firstRange(of: "`\(parts[0]).`"), "\(action)").upperBound
      let named = text[start...].prefix { $0 != ";" }.matches(of: /[a-z-]+/).map(\.output)
      #expect(named.contains(parts[1]), "\(action)")
    }
  }

  @Test func `wrong passwords are counted, however they are sent, and push out nothing`()
    async throws
  {
    try await Self.withServer { server in
      let last = try await server.entries().last?.number ?? 0
      for _ in 0..<3 {
        let fields: Fields = [
          "Authorization": TestServer.authorization("admin", password: "wrong")
        ]
        #expect(
          try await server.execute("GET", "/api/users", fields: fields, peer: "192.0.2.1").status
            == 401)
      }
      _ = try await server.execute(
        "POST", "/api/session", fields: Self.own,
        body: #"{"username":"stranger","password":"wrong"}"#, peer: "192.0.2.2", isSecure: true)
      let events = try await server.entries().filter { $0.number > last }.map(\.event)
      #expect(Set(events.map(\.action)) == ["sign-in.failed"])
      let admin = try await server.id(of: "admin")
      let known = events.filter { $0.actor.address == "192.0.2.1" }
      // A minute may begin in between.
      #expect(known.map(\.count).reduce(0, +) == 3 && known.allSatisfy { $0.object?.user == admin })
      let unknown = events.filter { $0.actor.address == "192.0.2.2" }
      #expect(unknown.map(\.count) == [1] && unknown[0].object == nil)
      #expect(!"\(events)".contains("stranger"), "it may be a password")
    }
  }

  @Test func `admins read it by page and as lines, with the names there are`() async throws {
    try await Self.withServer { server in
      func read(_ query: String = "", as user: String = "admin") async throws -> TestResponse {
        try await server.execute("GET", "/api/audit" + query, as: user)
      }
      let new = #"{"role":"publisher","password":"correct horse"}"#
      #expect(
        try await server.execute("PUT", "/api/users/dora", as: "admin", body: new).status == 201)
      let id = try await server.id(of: "dora").rawValue
      let added = try #require(try await read("?limit=1").objects("entries").first)
      let actor = try #require(added["actor"] as? [String: Any])
      let object = try #require(added["object"] as? [String: Any])
      #expect(
        added["action"] as? String == "user.added" && added["detail"] as? String == "publisher")
      #expect(actor["name"] as? String == "admin" && actor["kind"] as? String == "user")
      #expect(object["name"] as? String == "dora" && object["id"] as? String == "\(id)")
      #expect(object["owner"] as? Int == id && object["ownerName"] as? String == "dora")

      #expect(try await server.status("DELETE", "/api/users/dora", as: "admin") == 204)
      #expect(try await read("?user=dora").status == 404, "only the number is left")
      let page = try await read("?user=\(id)&action=user.&limit=1")
      let removed = try #require(page.objects("entries").first)
      #expect(removed["action"] as? String == "user.removed")
      #expect((removed["object"] as? [String: Any])?["name"] is NSNull)
      let next = try #require(page.json["next"] as? Int)
      let rest = try await read("?user=\(id)&action=user.&before=\(next)")
      #expect(rest.objects("entries").map { $0["action"] as? String } == ["user.added"])
      #expect(rest.json["next"] is NSNull)
      #expect(try await read("?since=2100-01-01T00:00:00Z").objects("entries").isEmpty)
      #expect(try await read("?until=2000-01-01T00:00:00Z").objects("entries").isEmpty)
      for query in ["?since=yesterday", "?limit=0", "?before=-1", "?colour=red"] {
        #expect(try await read(query).status == 400, "\(query)")
      }
      #expect(try await read(as: "publisher").status == 403)

      let lines = try await server.execute(
        "GET", "/api/audit?action=user.", as: "admin", fields: ["Accept": "application/x-ndjson"])
      #expect(lines.fields["Content-Disposition"]?.contains("audit.jsonl") == true)
      #expect(lines.stream != nil)
    }
  }

  @Test func `with --audit-log each entry is a line of the log`() async throws {
    try await TestServer.test(prepare: { configuration, _ in configuration.logsAudit = true }) {
      server in
      let id = try await server.id(of: "device").rawValue
      _ = try await server.execute(
        "PUT", "/api/users/device", as: "admin", body: #"{"role":"publisher"}"#, peer: "192.0.2.9")
      let admin = try await server.id(of: "admin").rawValue
      let line =
        "user.role-changed user \(id) publisher by user \(admin) with password from 192.0.2.9"
      try await eventually("it is logged") { server.log.all.contains { $0.contains(line) } }
    }
  }

  @Test func `a start records which settings are others, by their names alone`() async throws {
    let scratch = try Scratch()
    func start(_ settings: [String: String]) async throws -> [String] {
      let store = try Store(folder: scratch.path + "/data")
      let last = try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 1).first
      try await store.recordStart(of: "1.0", settings: settings)
      return try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 100)
        .filter { $0.number > last?.number ?? 0 }.reversed()
        .map { [$0.event.action, $0.event.object?.id ?? ""].joined(separator: " ") }
    }
    #expect(try await start(["--push": "apns", "--demo": ""]) == ["server.started "])
    #expect(try await start(["--push": "apns", "--demo": ""]) == ["server.started "])
    #expect(
      try await start(["--push": "fcm", "KEY": "secret"]) == [
        "setting.changed --demo", "setting.changed --push", "setting.changed KEY",
        "server.started ",
      ])
    let file = try String(contentsOfFile: scratch.path + "/data/settings", encoding: .utf8)
    #expect(file.contains("--push ") && !file.contains("fcm") && !file.contains("secret"))
  }
}

extension TestServer {
  /// The entries of the audit log, the oldest first.
  fileprivate func entries() async throws -> [AuditEntry] {
    try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 1000).reversed()
  }

  /// Queues a push of a service that this server does not use, and gives it an outcome; returns its number.
  fileprivate func push(_ outcome: JobOutcome?) async throws -> Int {
    let push = PushInsert(lane: "other", target: .audience("a"), kind: "alert")
    try await store.events.push("{}", to: [], pushes: [push])
    guard let outcome else {
      return try #require(try await store.outbox.jobs(in: nil, limit: 1).first).job
    }
    let lane = SendingLane("other")
    let jobs = try await store.outbox.settleAndLease(
      [], lane: lane, limit: 9, until: store.now() + 60
    ).jobs
    _ = try await store.outbox.settleAndLease(
      jobs.map { ($0.id, outcome) }, lane: lane, limit: 0, until: store.now())
    return try #require(jobs.first).id
  }
}
