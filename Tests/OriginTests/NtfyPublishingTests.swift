import Delivery
import Foundation
import HTTP
import Media
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// ntfy's API for publishers, request by request.
@Suite(.timeLimit(.minutes(2))) struct NtfyPublishingTests {
  private static let host = "ntfy.example.org"

  /// A server with the API at a host name of its own, and a device of the user `device` with the tag `news`.
  private static func test(_ body: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: { configuration, _ in
        configuration.compatibility = try CompatibilitySettings(["ntfy"], ntfy: .host(host))
      },
      { server in
        let id = try await server.register("00FC", as: "device")
        let put = try await server.execute(
          "PUT", "/api/register/" + id, as: "device",
          body: #"{"Platform":"apns","Handle":"00FC","Tags":["news"]}"#)
        try #require(put.status == 200)
        try await body(server)
      })
  }

  private static func send(
    _ server: TestServer, _ method: String, _ target: String, as user: String? = "publisher",
    _ fields: [(String, String)] = [], _ body: String = ""
  ) async throws -> TestResponse {
    var all = Fields(fields.map { (name: $0.0, value: $0.1) })
    all["Host"] = host + ":443"
    return try await server.execute(method, target, as: user, fields: all, body: body)
  }

  /// What a request says, and members of the notification it becomes.
  struct Message: Sendable, CustomTestStringConvertible {
    let method: String
    let target: String
    var fields: [(String, String)] = []
    var body = ""
    let message: String
    var check: @Sendable (NotificationMessage) -> Bool = { _ in true }

    var testDescription: String { "\(method) \(target) \(fields) \(body)" }
  }

  private static let messages: [Message] = [
    Message(method: "POST", target: "/news", body: " hi\n", message: "hi"),
    Message(method: "PUT", target: "/news", body: "{{name}}", message: "{{{{name}}"),
    Message(method: "POST", target: "/news", message: "triggered"),
    Message(
      method: "POST", target: "/news",
      fields: [("X-Message", #"a\nb"#), ("X-Priority", "default")],
      message: "a\nb", check: { $0.importance == nil && $0.title == nil }),
    Message(
      method: "GET", target: "/news/publish?m=hi&t=One%20two&prio=urgent&ta=%2B1,backup",
      message: "hi", check: { $0.title == "👍 One two" && $0.importance == .urgent }),
    Message(method: "GET", target: "/news/trigger", message: "triggered"),
    Message(
      method: "POST", target: "/news?title=query&tags=a",
      fields: [("t", "=?UTF-8?B?8J+mig==?="), ("Tags", "warning,skull, backup ")], body: "hi",
      message: "hi",
      check: {
        $0.title == "⚠️ 💀 🦊"
          && $0.data
            == .object(["tags": .array(["warning", "skull", "backup"].map(JSONValue.string))])
      }),
    Message(
      method: "POST", target: "/news", fields: [("Tags", "tada")], body: "hi", message: "🎉 hi",
      check: { $0.title == nil }),
    Message(
      method: "POST", target: "/news",
      fields: [
        ("Click", "https://e.org/ä b"), ("Icon", "https://e.org/i.png"), ("p", "2"),
        ("Actions", "view, Open, https://e.org/1"), ("Markdown", "yes"), ("Cache", "no"),
        ("Firebase", "no"), ("Priority", "u=3, i"),
      ], body: "**hi**", message: "**hi**",
      check: {
        $0.link == "https://e.org/%C3%A4%20b" && $0.icon == "https://e.org/i.png"
          && $0.importance == .low && $0.actions?.first?.label == "Open"
          && $0.actions?.first?.link == "https://e.org/1"
      }),
    Message(
      method: "POST", target: "/", fields: [("X-Title", "field"), ("X-Priority", "1")],
      body:
        #"{"topic":"news","title":"T","message":"hi","tags":["backup"],"priority":5,"markdown":true}"#,
      message: "hi", check: { $0.title == "T" && $0.importance == .urgent }),
    Message(
      method: "PUT", target: "/",
      body:
        #"{"topic":"news","priority":0,"actions":[{"action":"view","label":"A","url":"https://a.org"}]}"#,
      message: "triggered", check: { $0.actions?.count == 1 && $0.importance == nil }),
    Message(
      method: "POST", target: "/news?filename=a.txt", body: "long text", message: "long text"),
    Message(
      method: "PUT", target: "/news/backup", body: "one", message: "one",
      check: { $0.replaces == "news/backup" }),
  ]

  @Test(arguments: messages)
  func `a message becomes a notification for those with the tag`(message: Message) async throws {
    try await Self.test { server in
      let answer = try await Self.send(
        server, message.method, message.target, message.fields, message.body)
      try #require(answer.status == 200, "\(answer.text)")
      #expect(answer.json["event"] as? String == "message")
      #expect(answer.json["topic"] as? String == "news")
      #expect((answer.json["reach"] as? [String: Int]) == ["users": 1, "devices": 1])
      let id = try #require((answer.json["id"] as? String).flatMap(NtfyID.number))
      let stored = try #require(try await server.store.notifications.notification(id))
      #expect(stored.said.text == message.message && stored.to == ["news"])
      #expect(message.check(stored.said), "\(stored.said)")
      #expect(stored.version.pushForm.form == .alert)
    }
  }

  @Test func `the answer repeats the message as it was sent`() async throws {
    try await Self.test { server in
      let answer = try await Self.send(
        server, "POST", "/news",
        [
          ("Title", "One"), ("Tags", "tada,b"), ("p", "4"), ("Click", "https://e.org"),
          ("Actions", "view,A,https://a.org,clear=1"), ("md", "1"), ("Sequence-ID", "s"),
        ], "{{x}}")
      let json = answer.json
      #expect(json["title"] as? String == "One" && json["message"] as? String == "{{x}}")
      #expect(json["tags"] as? [String] == ["tada", "b"] && json["priority"] as? Int == 4)
      #expect(json["click"] as? String == "https://e.org" && json["sequence_id"] as? String == "s")
      #expect(json["content_type"] as? String == "text/markdown")
      let action = try #require(answer.objects("actions").first)
      #expect(action["action"] as? String == "view" && action["clear"] as? Bool == true)
      let time = try #require(json["time"] as? Int)
      #expect(abs(Double(time) - Date().timeIntervalSince1970) < 60)
    }
  }

  @Test(
    arguments: [
      ("/news", [("Email", "a@b")], "hi", 400, 40001, "e-mail"),
      ("/news?call=yes", [], "hi", 400, 40032, "phone"),
      ("/news", [("Delay", "tomorrow 9am")], "hi", 400, 40004, "Unix time"),
      ("/news", [("Delay", "1000")], "hi", 400, 40004, "next 10 years"),
      ("/news", [("Priority", "6")], "hi", 400, 40007, "from 1 to 5"),
      ("/a.b", [], "hi", 400, 40009, "topic"), ("/docs", [], "hi", 400, 40010, "reserved"),
      ("/inbox", [], "hi", 400, 40010, "reserved"),
      ("/news", [("Attach", "ftp://e.org")], "", 400, 40013, "https:"),
      ("/news", [("Attach", "http://127.0.0.1/a")], "", 400, 40013, "public Internet"),
      ("/news", [("Attach", "https://[::1]/a")], "", 400, 40013, "public Internet"),
      ("/", [], "hi", 400, 40017, "JSON"), ("/", [], #"{"message":"hi"}"#, 400, 40009, "topic"),
      ("/", [], #"{"topic":"news","mesage":"hi"}"#, 400, 40000, "message"),
      ("/", [], #"{"topic":"news","tags":"a","priority":{}}"#, 400, 40007, "wrong type"),
      ("/", [], #"{"topic":"news","filename":"a.png"}"#, 400, 40000, "no file"),
      ("/news", [("Actions", "http, A, https://e.org")], "hi", 400, 40018, "view"),
      ("/news", [("Click", "javascript:alert(1)")], "hi", 400, 40000, "https:"),
      ("/news", [("Icon", "http://e.org/a")], "hi", 400, 40021, "https:"),
      ("/news", [("Template", "yes")], "hi", 400, 40043, "Templates"),
      ("/news?up=1", [], "hi", 400, 40000, "UnifiedPush"),
      ("/news", [("Poll-ID", "a")], "hi", 400, 40000, "forwards"),
      ("/news?titel=a", [], "hi", 400, 40000, "title"),
      ("/news", [("Content-Encoding", "aes128gcm")], "hi", 400, 40014, "Content-Encoding"),
      ("/news", [("Delay", "1h"), ("Sequence-ID", "a")], "hi", 400, 40000, "at once"),
      ("/news/a.b", [], "hi", 400, 40000, "sequence"), ("/news/a/b", [], "hi", 404, 40401, "path"),
      ("/v1/account", [], "", 404, 40401, "path"),
    ] as [(String, [(String, String)], String, Int, Int, String)])
  func `what is wrong or not supported is refused with ntfy's error`(
    target: String, fields: [(String, String)], body: String, status: Int, code: Int, reason: String
  ) async throws {
    try await Self.test { server in
      let answer = try await Self.send(server, "POST", target, fields, body)
      #expect(answer.status == status, "\(answer.text)")
      #expect(answer.json["code"] as? Int == code && answer.json["http"] as? Int == status)
      let error = answer.json["error"] as? String ?? ""
      #expect(error.contains(reason), "\(answer.text)")
      #expect(try await server.store.notifications.notification(0) == nil)
    }
  }

  @Test func `credentials come first, also in the query, and have to be a publisher's`()
    async throws
  {
    try await Self.test { server in
      let nobody = try await Self.send(server, "POST", "/news", as: nil, [], "hi")
      #expect(nobody.status == 401 && nobody.json["code"] as? Int == 40101)
      #expect(nobody.fields["WWW-Authenticate"] != nil)
      let device = try await Self.send(server, "POST", "/news", as: "device", [], "hi")
      #expect(device.status == 403 && device.json["code"] as? Int == 40301)
      let encoded = Data(TestServer.authorization("publisher").utf8).base64EncodedString()
        .replacing("=", with: "").replacing("+", with: "-").replacing("/", with: "_")
      let query = try await Self.send(server, "POST", "/news?auth=\(encoded)", as: nil, [], "hi")
      #expect(query.status == 200, "\(query.text)")
      let wrong = try await Self.send(server, "POST", "/news?auth=%2A", as: nil, [], "hi")
      #expect(wrong.status == 401)
      let cookie = SessionToken()
      _ = try await server.store.sessions.addSession(
        cookie.hash, user: server.id(of: "publisher"), userAgent: "")
      let page = try await Self.send(
        server, "POST", "/news", as: nil,
        [("Cookie", "richpush=\(cookie.text)"), ("Sec-Fetch-Site", "same-origin")], "hi")
      #expect(page.status == 401)
    }
  }

  @Test func `an access token publishes to its own topics, as often as it may`() async throws {
    try await Self.test { server in
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci","to":["news"],"rate":3}"#)
      let token = try #require(made.json["token"] as? String)
      func send(_ topic: String, _ authorization: String) async throws -> TestResponse {
        try await Self.send(
          server, "POST", topic, as: nil, [("Authorization", authorization)], "hi")
      }
      let query = Data("Bearer \(token)".utf8).base64EncodedString().replacing("=", with: "")
      for answer in [
        try await send("/news", "Bearer \(token)"),
        try await send("/news", TestServer.authorization("", password: token)),
        try await Self.send(server, "POST", "/news?auth=\(query)", as: nil, [], "hi"),
      ] { #expect(answer.status == 200, "\(answer.text)") }
      let other = try await send("/other", "Bearer \(token)")
      #expect(other.status == 403 && other.json["code"] as? Int == 40301)
      let often = try await send("/news", "Bearer \(token)")
      #expect(often.status == 429 && often.json["code"] as? Int == 42901)
      #expect(often.fields["Retry-After"] != nil)
      let id = try #require(made.json["id"] as? Int)
      #expect(try await server.status("DELETE", "/api/tokens/\(id)", as: "publisher") == 204)
      #expect(try await send("/news", "Bearer \(token)").json["code"] as? Int == 40101)
    }
  }

  @Test func `a topic that nobody has gets an answer, and a line in the log`() async throws {
    try await Self.test { server in
      let answer = try await Self.send(server, "POST", "/nobody", [], "hi")
      #expect(answer.status == 200 && answer.json["message"] as? String == "hi")
      #expect((answer.json["reach"] as? [String: Int]) == ["users": 0, "devices": 0])
      #expect(server.log.contain("reaches nobody"))
      #expect(try await server.store.notifications.notification(0) == nil)
    }
  }

  @Test func `a delay becomes the time from which a notification is visible`() async throws {
    try await Self.test { server in
      let answer = try await Self.send(server, "POST", "/news", [("In", "2h")], "hi")
      let time = Double(try #require(answer.json["time"] as? Int))
      #expect(abs(time - Date().timeIntervalSince1970 - 7200) < 60)
      let stored = try #require(try await server.store.notifications.notification(0))
      #expect(abs((stored.notBefore?.timeIntervalSince1970 ?? 0) - time) < 2)
    }
  }

  @Test func `a message of a sequence takes the place of the earlier one, and can be withdrawn`()
    async throws
  {
    try await Self.test { server in
      func inbox() async throws -> [String] {
        try await server.store.notifications.inbox(
          of: server.id(of: "device"), unreadOnly: false, limit: 9, before: nil
        ).map(\.notification.message)
      }
      for text in ["one", "two"] {
        _ = try await Self.send(server, "PUT", "/news/backup", [], text)
      }
      #expect(try await inbox() == ["two"])
      // One without a sequence is known by its ID.
      let alone = try await Self.send(server, "POST", "/news", [], "three")
      let id = try #require(alone.json["id"] as? String)
      _ = try await Self.send(server, "POST", "/news", [("X-Sequence-ID", id)], "four")
      _ = try await Self.send(server, "POST", "/news/\(id)", [], "five")
      #expect(try await inbox() == ["five", "two"])
      for (target, left) in [("/news/\(id)", ["two"]), ("/news/backup", [])] {
        // Nobody else's, and no other topic's.
        #expect(try await Self.send(server, "DELETE", target, as: "admin").status == 404)
        #expect(
          try await Self.send(server, "DELETE", target.replacing("news", with: "other")).status
            == 404)
        let deleted = try await Self.send(server, "DELETE", target)
        #expect(deleted.status == 200 && deleted.json["event"] as? String == "message_delete")
        #expect(try await inbox() == left)
        #expect(try await Self.send(server, "DELETE", target).status == 404)
      }
    }
  }

  @Test func `other requests to this server and to that host do not meet`() async throws {
    try await Self.test { server in
      let health = try await Self.send(server, "GET", "/v1/health", as: nil)
      #expect(health.status == 200 && health.json["healthy"] as? Bool == true)
      #expect(
        try await Self.send(server, "GET", "/api/notifications").json["code"] as? Int == 40501)
      #expect(try await server.status("POST", "/news", as: "publisher", body: "hi") == 404)
      #expect(try await server.status("GET", "/v1/health") == 404)
    }
  }
}
