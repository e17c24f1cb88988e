import Delivery
import Foundation
import HTTP
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// Webhooks: what publishers manage, and what programs post.
@Suite(.timeLimit(.minutes(2))) struct WebhookRoutesTests {
  private static let template =
    #"{"rules":[{"when":{"end":true},"withdraw":"{{id}}"},{"when":{"id":null},"notification":{"title":"{{title}}","to":["{{to}}"]}},{"notification":{"title":"{{title}}","replaces":"{{id}}","idempotencyKey":"{{key}}"}}]}"#

  private static func withServer(
    clock: any SteadyClock = ContinuousClock(), served: Bool = true,
    _ test: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      clock: clock,
      prepare: { configuration, _ in
        if served {
          configuration.compatibility = try CompatibilitySettings(["webhooks"], ntfy: nil)
        }
      }, test)
  }

  /// Makes a webhook of the publisher's for the user `device`, and returns its path.
  private func webhook(
    _ server: TestServer, _ members: String = "", template: String = template,
    to: String = #"["username:device"]"#
  ) async throws -> String {
    let answer = try await server.execute(
      "POST", "/api/webhooks", as: "publisher",
      body: #"{"name":"alerts","template":\#(template),"to":\#(to)\#(members)}"#)
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
    #expect(answer.fields["Cache-Control"] == "no-store")
    return try #require(answer.json["path"] as? String)
  }

  private func post(
    _ server: TestServer, _ path: String, _ body: String, _ fields: Fields = Fields()
  ) async throws -> TestResponse {
    try await server.execute("POST", path, fields: fields, body: body)
  }

  private func failed(_ server: TestServer) async throws -> [[String: Any]] {
    let list = try await server.execute("GET", "/api/webhooks", as: "publisher")
    let id = try #require(list.objects("webhooks").first?["id"] as? Int)
    let answer = try await server.execute(
      "GET", "/api/webhooks/\(id)/deliveries", as: "publisher")
    return answer.objects("deliveries")
  }

  @Test func `an event is sent once, changed and withdrawn`() async throws {
    try await Self.withServer { server in
      let path = try await webhook(server)
      #expect(path.hasPrefix("/api/in/rpt_") && path.utf8.count == 8 + 47)
      for (body, status, done, id) in [
        (#"{"title":"One","id":"a","key":"1"}"#, 200, "sent", 0),
        (#"{"title":"One, counted","id":"a","key":"1"}"#, 200, "repeated", 0),
        (#"{"title":"Two","id":"a","key":"2"}"#, 200, "sent", 1),
        (#"{"title":"One again","id":"a","key":"1"}"#, 200, "sent", 2),
        (#"{"title":"One again, counted","id":"a","key":"1"}"#, 200, "repeated", 2),
        (#"{"id":"a","end":true}"#, 200, "withdrawn", 2),
        (#"{"id":"a","end":true}"#, 202, "ignored", nil),
        (#"{"title":"One more","id":"a","key":"1"}"#, 200, "sent", 3),
        (#"{"title":"One more, counted","id":"a","key":"1"}"#, 200, "repeated", 3),
      ] as [(String, Int, String, Int?)] {
        let answer = try await post(server, path, body)
        #expect(answer.status == status, "\(body) \(answer.text)")
        #expect(answer.json["done"] as? String == done)
        #expect(answer.json["notification"] as? Int == id)
      }
      #expect(try await server.store.notifications.notification(0)?.replacedBy == 1)
      #expect(try await server.store.notifications.notification(2) == nil)
      #expect(try await failed(server).isEmpty)
    }
  }

  @Test func `what is wrong gets a status and a sentence, and no event is lost`() async throws {
    try await Self.withServer { server in
      let path = try await webhook(server)
      for (target, body, status, words) in [
        ("/api/in/x", "{}", 404, "no webhook"),
        ("/api/in/rpt_\(DeviceToken().text)", "{}", 404, "no webhook"),
        (path, "{", 400, "not JSON"), (path, "", 400, "not JSON"),
        (path, #"{"to":"username:device"}"#, 422, "says nothing"),
        (path, #"{"title":"T","to":"username:admin"}"#, 403, "“username:admin”"),
        (path, #"{"title":"T","to":"username:device || username:admin"}"#, 403, "may not send"),
      ] {
        let answer = try await post(server, target, body)
        #expect(answer.status == status, "\(body.prefix(80)) \(answer.text)")
        #expect(answer.fields["WWW-Authenticate"] == nil)
        if !words.isEmpty { #expect(answer.detail?.contains(words) == true, "\(answer.text)") }
      }
      // The last first.
      let reasons = try await failed(server).compactMap { $0["reason"] as? String }
      #expect(reasons.count == 5, "\(reasons)")
      #expect(reasons.last == "The body is not JSON in UTF-8.")
    }
  }

  @Test func `a failed delivery is replayed when its reason is gone`() async throws {
    let clock = ManualClock()
    try await Self.withServer(clock: clock) { server in
      let path = try await webhook(server, #","rate":1"#)
      #expect(try await post(server, path, #"{"title":"One","id":"a","key":"1"}"#).status == 200)
      for _ in 0..<2 {
        let refused = try await post(server, path, #"{"title":"Two","id":"a","key":"2"}"#)
        #expect(refused.status == 429 && refused.fields["Retry-After"] == "60")
      }
      let large = #"{"title":"\#(String(repeating: "a", count: 70_000))","id":"a"}"#
      #expect(try await post(server, path, large).status == 429)
      #expect(try await post(server, path, "{").status == 400)
      let kept = try await failed(server).compactMap { $0["id"] as? Int }
      try #require(kept.count == 3)
      func replay(_ id: Int, as user: String = "publisher") async throws -> TestResponse {
        try await server.execute("POST", "/api/webhooks/1/deliveries/\(id)/replay", as: user)
      }
      #expect(try await replay(kept[2]).status == 429)
      clock.advance(by: .seconds(60))
      #expect(try await replay(kept[2], as: "device").status == 403)
      #expect(try await replay(999).status == 404)
      for lost in kept[..<2] { #expect(try await replay(lost).status == 409) }
      let replayed = try await replay(kept[2], as: "admin")
      #expect(replayed.json["done"] as? String == "sent", "\(replayed.text)")
      let sent = try #require(try await server.store.notifications.notification(1))
      #expect(sent.said.title == "Two" && sent.to == ["username:device"])
      let sender = try await server.store.accounts.user(named: "publisher")
      #expect(sent.sender == sender?.id, "not the admin")
      // It is removed by a later commit.
      try await eventually("the replayed one is gone") { try await failed(server).count == 2 }
      clock.advance(by: .seconds(60))
      let again = try await post(server, path, #"{"title":"Two","id":"a","key":"2"}"#)
      #expect(again.json["done"] as? String == "repeated", "its sender has tried again, too")
    }
  }

  @Test func `a sender that has to sign is refused without the right signature`() async throws {
    try await Self.withServer { server in
      // The example of GitHub's documentation.
      #expect(
        WebhookSignature.text(
          of: Array("Hello, World!".utf8), secret: "It's a Secret to Everybody")
          == "sha256=757107ea0eb2509fc211221cce984b8a37570b6d7586c22c46f4379c8b043e17")
      let path = try await webhook(
        server, #","signingSecret":"quiet please""#, template: #""github""#)
      let body =
        #"{"action":"published","release":{"name":"1.0","tag_name":"v1"},"repository":{"full_name":"o/r"}}"#
      let right = WebhookSignature.text(of: Array(body.utf8), secret: "quiet please")
      for (signature, status) in [
        (nil, 403), ("sha256=00", 403), (right.replacing("sha256", with: "sha1"), 403),
        (WebhookSignature.text(of: Array(body.utf8), secret: "other"), 403), (right, 200),
      ] as [(String?, Int)] {
        var fields: Fields = ["X-GitHub-Event": "release", "X-GitHub-Delivery": "d"]
        fields["X-Hub-Signature-256"] = signature
        let answer = try await post(server, path, body, fields)
        #expect(answer.status == status, "\(answer.text)")
      }
      #expect(try await failed(server).isEmpty)
      try await server.store.probe()
      let list = try await server.execute("GET", "/api/webhooks", as: "publisher")
      let found = try #require(list.objects("webhooks").first)
      #expect(found["isSigned"] as? Bool == true && found["template"] as? String == "github")
      #expect(found["address"] as? String == "127.0.0.1" && found["used"] is String)
      #expect(!list.text.contains("quiet please") && !list.text.contains("rpt_"))
    }
  }

  @Test func `its address counts nowhere else, and no access token counts there`() async throws {
    try await Self.withServer { server in
      let path = try await webhook(server)
      let token = String(path.dropFirst(8))
      for route in server.origin.routes.table.routes
      where route.access != .anybody && route.pattern != "/api/in/{}" {
        let target = route.pattern.replacing("{}", with: "1")
        let answer = try await server.execute(route.method, target, token: token)
        #expect(answer.status == 403, "\(route.method) \(route.pattern) \(answer.text)")
      }
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci"}"#)
      let other = try #require(made.json["token"] as? String)
      #expect(try await post(server, "/api/in/" + other, "{}").status == 403)
      let tokens = try await server.execute("GET", "/api/tokens", as: "publisher")
      #expect(tokens.objects("tokens").map { $0["name"] as? String } == ["ci"])
    }
  }

  @Test func `it is managed by its publisher and by admins, and ends at once`() async throws {
    try await Self.withServer { server in
      let path = try await webhook(server)
      let event = #"{"title":"T","id":"a","key":"k"}"#
      #expect(try await post(server, path, event).status == 200)
      let of = try await server.execute("GET", "/api/webhooks?user=publisher", as: "admin")
      #expect(of.objects("webhooks").count == 1 && of.json["isServed"] as? Bool == true)
      for (method, target, user, status) in [
        ("GET", "/api/webhooks?user=admin", "publisher", 403),
        ("GET", "/api/webhooks", "device", 403),
        ("DELETE", "/api/tokens/1", "publisher", 404),
        ("DELETE", "/api/webhooks/2", "publisher", 404),
        ("DELETE", "/api/webhooks/1", "admin", 204),
        ("DELETE", "/api/webhooks/1", "publisher", 404),
      ] {
        #expect(
          try await server.status(method, target, as: user) == status, "\(method) \(target) \(user)"
        )
      }
      #expect(try await post(server, path, event).status == 404)
      let own = try await server.execute(
        "POST", "/api/webhooks", as: "admin",
        body: #"{"name":"a","template":"github","to":"news && !muted","user":"publisher"}"#)
      #expect(own.status == 201 && own.json["user"] as? String == "publisher")
      #expect(own.json["to"] as? [String] == ["news && !muted"])
    }
  }

  @Test(arguments: [
    (#"{"template":"github","to":["a"]}"#, 400, "name"),
    (#"{"name":"a","to":["a"]}"#, 400, "template"),
    (#"{"name":"a","template":"github"}"#, 400, "to"),
    (#"{"name":"a","template":"github","to":[]}"#, 400, "to"),
    (#"{"name":"7","template":"github","to":["a"]}"#, 422, "name"),
    (#"{"name":"a","template":"github","to":["a"],"signingSecret":""}"#, 422, "signingSecret"),
    (#"{"name":"a","template":"github","to":["a"],"rate":0}"#, 422, "rate"),
    (#"{"name":"a","template":"github","to":["a"],"secret":"a"}"#, 400, "secret"),
    (#"{"name":"a","template":"github","to":["a"],"user":"device"}"#, 403, ""),
  ])
  func `a webhook that cannot be is refused`(body: String, status: Int, member: String) async throws
  {
    try await Self.withServer { server in
      let answer = try await server.execute("POST", "/api/webhooks", as: "publisher", body: body)
      #expect(answer.status == status, "\(answer.text)")
      if !member.isEmpty {
        #expect(answer.errors.first?.pointer == "#/\(member)", "\(answer.text)")
      }
    }
  }

  @Test func `a server that receives nothing makes none`() async throws {
    try await Self.withServer(served: false) { server in
      let answer = try await server.execute(
        "POST", "/api/webhooks", as: "publisher",
        body: #"{"name":"a","template":"github","to":["a"]}"#)
      #expect(answer.status == 409 && answer.detail?.contains("--compat webhooks") == true)
      #expect(try await post(server, "/api/in/a", "{}").status == 404)
      let list = try await server.execute("GET", "/api/webhooks", as: "publisher")
      #expect(list.json["isServed"] as? Bool == false)
    }
  }
}
