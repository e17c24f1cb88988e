import Foundation
import HTTP
import Primitives
import Push
import Store
import Media
import TestSupport
import Testing
import Waiting

@testable import Origin

/// People who add themselves.
@Suite(.timeLimit(.minutes(2))) struct SignUpRoutesTests {
  private func test(
    _ mode: OriginConfiguration.SignUp?, clock: any SteadyClock = ContinuousClock(),
    _ body: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      clock: clock,
      prepare: { configuration, scratch in
        try scratch.installNote()
        configuration.signUp = mode
        configuration.subjects = [
          .init(tag: "news", name: "News"), .init(tag: "offers", name: "Special offers"),
        ]
        try configuration.usePush(
          "webpush", environment: [:], contact: "mailto:ops@example.com")
      }, body)
  }

  private func signUp(
    _ server: TestServer, _ members: String = #""subjects":["news"]"#, peer: String = "192.0.2.1"
  ) async throws -> TestResponse {
    try await server.execute("POST", "/api/sign-up", body: "{\(members)}", peer: peer)
  }

  private func inbox(_ token: String, _ server: TestServer) async throws -> Int {
    try await server.execute("GET", "/api/notifications", token: token)
      .objects("notifications").count
  }

  private func send(_ server: TestServer, to tag: String) async throws {
    let answer = try await server.execute(
      "POST", "/api/notifications", as: "publisher",
      body: #"{"message":"m","richType":"note","payload":"p","to":["\#(tag)"]}"#)
    try #require([201, 422].contains(answer.status), "\(answer.detail ?? "")")
  }

  @Test func `one chooses subjects and gets them at once`() async throws {
    try await test(.open) { server in
      let answer = try await signUp(
        server, #""subjects":["offers","news","news"],"name":"Pixel","language":"de""#)
      #expect(answer.status == 201 && answer.fields["Cache-Control"] == "no-store")
      #expect(answer.json["waiting"] as? Bool == false)
      let user = try #require(answer.json["user"] as? String)
      #expect(user.wholeMatch(of: /guest-[a-z2-9]{10}/) != nil)
      let token = try #require(answer.json["token"] as? String)
      let id = try #require(answer.json["registration"] as? String)
      let list = try await server.execute("GET", "/api/registrations", token: token)
      let device = try #require(list.objects("devices").first)
      #expect(device["tags"] as? [String] == ["news", "offers", "username:" + user])
      #expect(device["credential"] as? String == "sign-up" && device["name"] as? String == "Pixel")
      try await send(server, to: "news")
      #expect(try await inbox(token, server) == 1)
      // It may choose again, but only what is offered.
      for (tags, status) in [(#""offers""#, 200), (#""staff""#, 403), ("", 200)] {
        let put = try await server.execute(
          "PUT", "/api/register/\(id)", token: token,
          body: #"{"Platform":"apns","Handle":"AA","Tags":[\#(tags)]}"#)
        #expect(put.status == status, "\(tags) \(put.detail ?? "")")
      }
      // No password opens it, not even its name.
      for password in [user, "", "!"] {
        let login = try await server.execute(
          "GET", "/api/notifications",
          fields: ["Authorization": TestServer.authorization(user, password: password)])
        #expect(login.status == 401)
      }
    }
  }

  @Test func `a browser that subscribes is registered completely`() async throws {
    try await test(.open) { server in
      let keys = try WebPushSubscription()
      func members(_ endpoint: String, _ p256dh: String) -> String {
        #""subjects":["news"],"webpush":{"endpoint":"\#(endpoint)","#
          + #""keys":{"p256dh":"\#(p256dh)","auth":"\#(keys.auth)"}}"#
      }
      let answer = try await signUp(server, members("https://push.example/1", keys.p256dh))
      #expect(answer.status == 201, "\(answer.detail ?? "")")
      let user = try #require(answer.json["user"] as? String)
      let audience = try await server.execute("GET", "/api/audience?to=news", as: "publisher")
      #expect(audience.json["devices"] as? [String: Int] == ["webpush": 1])
      // The same checks as of every registration; what fails leaves nothing and does not count.
      for (endpoint, key) in [
        ("https://10.0.0.1/1", keys.p256dh), ("http://push.example/1", keys.p256dh),
        ("https://push.example/2", "AAAA"),
      ] {
        let refused = try await signUp(server, members(endpoint, key))
        #expect(refused.status == 422, "\(endpoint)")
      }
      #expect(
        try await server.store.accounts.users().map(\.name).filter { $0.hasPrefix("guest-") }
          == [user])
      for _ in 0..<4 { #expect(try await signUp(server).status == 201) }
    }
  }

  @Test func `what is offered can be chosen, and nothing else`() async throws {
    try await test(.open) { server in
      for members in [#""subjects":[]"#, #""subjects":["staff"]"#, #""subjects":["username:a"]"#] {
        let answer = try await signUp(server, members)
        #expect(answer.status == 422 && answer.detail?.contains("news, offers") == true)
      }
      #expect(try await signUp(server, "").status == 400)
      #expect(try await signUp(server, #""subjects":["news"],"role":"admin""#).status == 400)
    }
    try await test(nil) { server in
      let answer = try await signUp(server)
      #expect(answer.status == 403)
    }
  }

  @Test func `without --sign-up nobody can, and it needs subjects`() async throws {
    var configuration = try OriginConfiguration()
    configuration.signUp = .open
    let error = #expect(throws: OperatorError.self) { try configuration.check() }
    #expect(error?.reason.contains("--subjects") == true)
  }

  @Test func `who waits gets nothing until an admin approves`() async throws {
    try await test(.approval) { server in
      let answer = try await signUp(server, #""subjects":["news"],"name":"Anna""#)
      #expect(answer.status == 201 && answer.json["waiting"] as? Bool == true)
      let user = try #require(answer.json["user"] as? String)
      let token = try #require(answer.json["token"] as? String)
      let id = try #require(answer.json["registration"] as? String)
      for tag in ["news", "!offers"] { try await send(server, to: tag) }
      #expect(try await inbox(token, server) == 0)
      let choice = try await server.execute(
        "PUT", "/api/register/\(id)", token: token,
        body: #"{"Platform":"apns","Handle":"AA","Tags":["news"]}"#)
      #expect(choice.status == 403 && choice.detail?.contains("approved") == true)
      #expect(try await server.status("GET", "/api/sign-ups", as: "publisher") == 403)
      let waiting = try await server.execute("GET", "/api/sign-ups", as: "admin")
      let entry = try #require(waiting.objects("signUps").first)
      #expect(entry["user"] as? String == user && entry["name"] as? String == "Anna")
      #expect(entry["subjects"] as? [String] == ["news"] && entry["created"] is String)
      #expect(try await server.status("POST", "/api/sign-ups/\(user)", as: "admin") == 204)
      #expect(try await server.status("POST", "/api/sign-ups/\(user)", as: "admin") == 404)
      try await send(server, to: "news")
      #expect(try await inbox(token, server) == 1)
    }
  }

  @Test func `who is refused is gone, with the token`() async throws {
    try await test(.approval) { server in
      let first = try await signUp(server)
      let user = try #require(first.json["user"] as? String)
      let token = try #require(first.json["token"] as? String)
      for _ in 0..<2 { _ = try await signUp(server) }
      let page = try await server.execute("GET", "/api/sign-ups?limit=2", as: "admin")
      let next = try #require(page.json["next"] as? Int)
      let rest = try await server.execute("GET", "/api/sign-ups?after=\(next)", as: "admin")
      #expect(page.objects("signUps").count == 2 && rest.objects("signUps").count == 1)
      #expect(try await server.status("DELETE", "/api/sign-ups/\(user)", as: "admin") == 204)
      #expect(try await server.status("DELETE", "/api/sign-ups/publisher", as: "admin") == 404)
      #expect(try await server.execute("GET", "/api/notifications", token: token).status == 401)
    }
  }

  @Test func `five an hour sign up from an address`() async throws {
    let clock = ManualClock()
    try await test(.open, clock: clock) { server in
      for number in 0..<5 {
        let answer = try await signUp(server, peer: "2001:db8:0:1::\(number)")
        #expect(answer.status == 201)
        clock.advance(by: .seconds(60))
      }
      let sixth = try await signUp(server, peer: "2001:db8:0:1::99")
      #expect(sixth.status == 429 && sixth.fields["Retry-After"] == "3300")
      #expect(try await signUp(server, peer: "2001:db8:0:2::1").status == 201)
      clock.advance(by: .seconds(3300))
      #expect(try await signUp(server, peer: "2001:db8:0:1::99").status == 201)
      #expect(try await signUp(server, peer: "2001:db8:0:1::99").status == 429)
    }
  }
}
