import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import StandIns
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What devices report of notifications, and with what they may.
@Suite(.timeLimit(.minutes(2))) struct InteractionRoutesTests {
  private static let path = "/api/notifications/0/interactions"
  private static let action = #"{"event":"action","action":"yes"}"#

  private static func event(_ name: String) -> String { #"{"event":"\#(name)"}"# }

  private static func reply(_ text: String = "hi", key: String = "k") -> String {
    #"{"event":"reply","action":"answer","text":"\#(text)","key":"\#(key)"}"#
  }

  private func report(
    _ body: String, _ server: TestServer, _ path: String = path, as user: String? = nil,
    token: String? = nil
  ) async throws -> Int {
    try await server.execute("POST", path, as: user, token: token, body: body).status
  }

  private func recorded(_ server: TestServer) async throws -> [[String: Any]] {
    try await server.execute("GET", Self.path, as: "publisher").objects("interactions")
  }

  @Test func `the end of a link reports what was seen, and can neither act nor reply`() async throws
  {
    try await TestServer.test { server in
      let push = try await server.pushQuestion()
      for event in ["displayed", "opened", "dismissed"] {
        for _ in 0..<2 {
          #expect(try await report(Self.event(event), server, Self.path + push.link) == 200)
        }
      }
      for body in [Self.action, Self.reply()] {
        #expect(try await report(body, server, Self.path + push.link) == 403)
        // As a bearer token it is nothing.
        let token = String(push.link.dropFirst("?to=".count))
        #expect(try await report(body, server, token: token) == 401)
      }
      #expect(try await recorded(server).isEmpty)
      try await eventually("the receipt names the device") {
        let answer = try await server.execute(
          "GET", "/api/notifications/0/receipts", as: "publisher")
        let devices = answer.objects("receipts").first?["devices"] as? [[String: Any]]
        let device = devices?.first
        return device?["registration"] as? String == push.device
          && device?["displayed"] is String && device?["state"] as? String == "opened"
      }
      let job = push.link.split(separator: ".")[0]
      let wrong = ["?to=", "?to=x", "\(job).", "\(job).x", push.link + "0", "?to=99.\(push.token)"]
      for link in wrong {
        #expect(try await report(Self.event("opened"), server, Self.path + link) == 401, "\(link)")
      }
      // It counts only for its notification, and beside no other credentials.
      _ = try await server.pushQuestion()
      let other = "/api/notifications/1/interactions"
      #expect(try await report(Self.event("opened"), server, other + push.link) == 401)
      #expect(
        try await report(Self.event("opened"), server, Self.path + push.link, as: "device") == 400)
    }
  }

  @Test func `the secret of a push acts and replies, for its notification and its device alone`()
    async throws
  {
    try await TestServer.test { server in
      let push = try await server.pushQuestion()
      #expect(try await report(Self.action, server, token: push.secret) == 201)
      #expect(try await report(Self.reply(), server, token: push.secret) == 201)
      #expect(try await report(Self.reply(), server, token: push.secret) == 200)
      #expect(try await report(Self.event("opened"), server, token: push.secret) == 200)
      let found = try await recorded(server)
      #expect(found.map { $0["device"] as? String } == [push.device, push.device])
      #expect(found.map { $0["text"] as? String } == [nil, "hi"])
      _ = try await server.pushQuestion()
      let other = "/api/notifications/1/interactions"
      #expect(try await report(Self.action, server, other, token: push.secret) == 401)
      let parts = push.secret.split(separator: ".")
      for forged in [
        "\(parts[0]).\(parts[1]).", "\(parts[0]).9.\(parts[2])", "9.\(parts[1]).\(parts[2])",
        "x.y.z", push.secret + "A",
      ] {
        #expect(try await report(Self.action, server, token: forged) == 401, "\(forged)")
      }
      // Other routes do not know it.
      #expect(
        try await server.execute("GET", "/api/notifications/0", token: push.secret).status == 401)
      _ = try await server.execute("DELETE", "/api/register/\(push.device)", as: "device")
      #expect(try await report(Self.reply(key: "l"), server, token: push.secret) == 401)
    }
  }

  @Test func `a device's token may do all, a password and a session what a link may`() async throws
  {
    try await TestServer.test { server in
      let push = try await server.pushQuestion()
      let token = DeviceToken()
      let id = try await server.id(of: "device")
      _ = try await server.store.accounts.addToken(token.hash, to: push.device, user: id)
      for event in ["displayed", "opened", "dismissed"] {
        #expect(try await report(Self.event(event), server, as: "device") == 200)
        #expect(try await report(Self.event(event), server, token: token.text) == 200)
      }
      for body in [Self.action, Self.reply()] {
        #expect(try await report(body, server, as: "device") == 403)
        #expect(try await report(body, server, token: token.text) == 201)
        #expect(try await report(body, server, token: token.text) == 200)
      }
      #expect(try await report(Self.reply(key: "other"), server, token: token.text) == 201)
      #expect(try await report(Self.reply("different"), server, token: token.text) == 409)
      #expect(try await recorded(server).count == 3)
      // Who is no recipient learns of nothing, not even of the buttons.
      for body in [Self.event("opened"), Self.action, #"{"event":"action","action":"no"}"#] {
        #expect(try await report(body, server, as: "admin") == (body.contains("ac") ? 403 : 404))
      }
    }
  }

  @Test(arguments: [
    (#"{}"#, 400, "event"), (#"{"event":"delivered"}"#, 400, "event"), ("[]", 400, ""),
    (#"{"event":"opened","more":1}"#, 400, "more"), (#"{"event":"opened","key":"k"}"#, 422, "key"),
    (#"{"event":"action"}"#, 400, "action"), (#"{"event":"action","action":"?"}"#, 422, "action"),
    (#"{"event":"action","action":"answer"}"#, 422, "action"),
    (#"{"event":"reply","action":"yes","text":"t","key":"k"}"#, 422, "action"),
    (#"{"event":"reply","action":"answer","text":"","key":"k"}"#, 422, "text"),
    (#"{"event":"reply","action":"answer","text":"a\u0000","key":"k"}"#, 422, "text"),
    (#"{"event":"reply","action":"answer","text":"t"}"#, 400, "key"),
    (#"{"event":"reply","action":"answer","text":"t","key":"a b"}"#, 422, "key"),
    (
      #"{"event":"reply","action":"answer","text":"\#(String(repeating: "é", count: 513))","key":"k"}"#,
      413, "text"
    ),
  ])
  func `what is wrong is named`(body: String, status: Int, member: String) async throws {
    try await TestServer.test { server in
      let push = try await server.pushQuestion()
      let answer = try await server.execute("POST", Self.path, token: push.secret, body: body)
      #expect(answer.status == status, "\(answer.text)")
      let wanted = member.isEmpty ? [] : ["#/\(member)"]
      #expect(answer.errors.map(\.pointer) == wanted, "\(answer.text)")
      #expect(try await recorded(server).isEmpty)
      let longest = String(repeating: "é", count: 512)
      #expect(try await report(Self.reply(longest), server, token: push.secret) == 201)
    }
  }

  @Test func `a withdrawn notification takes nothing, one that was replaced does`() async throws {
    try await TestServer.test { server in
      let push = try await server.pushQuestion(replaces: "q")
      _ = try await server.pushQuestion(replaces: "q")
      #expect(try await report(Self.reply(), server, token: push.secret) == 201)
      #expect(
        try await server.execute("DELETE", "/api/notifications/0", as: "publisher").status == 204)
      #expect(try await report(Self.reply(key: "l"), server, token: push.secret) == 404)
      #expect(try await report(Self.event("opened"), server, Self.path + push.link) == 404)
      // What was written before is still there.
      let details = try await server.execute(
        "GET", "/api/notifications/0/details", as: "publisher")
      #expect(details.objects("interactions").map { $0["text"] as? String } == ["hi"])
    }
  }

  @Test func `answers reach the publisher's stream, and nobody else's`() async throws {
    try await TestServer.test { server in
      try await server.addUser("other", .publisher)
      let push = try await server.pushQuestion()
      let path = "/api/events/stream"
      let stream = try #require(try await server.execute("GET", path, as: "publisher").stream)
      let others = try #require(try await server.execute("GET", path, as: "other").stream)
      _ = try await (stream.next(), others.next())
      for key in ["a", "a", "b"] {
        _ = try await report(Self.reply(key, key: key), server, token: push.secret)
      }
      for text in ["a", "b"] {
        let event = try #require(try await stream.nextEvent())
        #expect(event.name == "interaction")
        #expect(
          event.data.contains(
            #""user":"device","device":"\#(push.device)","event":"reply","action":"answer","text":"\#(text)""#
          ), "\(event.data)")
      }
      let counts = try await server.execute("GET", "/api/notifications/0/details", as: "publisher")
      #expect((counts.json["counts"] as? [String: Any])?["replies"] as? Int == 2)
      #expect(try await server.execute("GET", Self.path, as: "other").status == 404)
      #expect(try await server.execute("GET", Self.path, as: "device").status == 404)
      others.close()
    }
  }

  @Test func `the pages of answers follow each other`() async throws {
    try await TestServer.test { server in
      let push = try await server.pushQuestion()
      for key in ["a", "b", "c"] {
        _ = try await report(Self.reply(key, key: key), server, token: push.secret)
      }
      var (texts, after) = ([String?](), 0)
      while true {
        let page = try await server.execute(
          "GET", Self.path + "?limit=2&after=\(after)", as: "publisher")
        texts += page.objects("interactions").map { $0["text"] as? String }
        guard let next = page.json["next"] as? Int else { break }
        after = next
      }
      #expect(texts == ["a", "b", "c"])
    }
  }

  @Test func `the log has no end of a link`() throws {
    let request = try Request(
      "POST", Self.path + "?to=12.00000000-0000-4000-8000-000000000007", fields: Fields(),
      peer: "127.0.0.1", isSecure: false, isPeerForwarded: false, body: .none)
    #expect(request.loggedTarget == Self.path + "?to=-")
  }
}

/// A push with two buttons, of which one asks for a text, to a device of the user `device`.
struct PushedQuestion {
  let device: String
  let token: String
  /// The end of its link.
  let link: String
  let secret: String
}

extension TestServer {
  /// Creates a notification of the publisher's, and its push.
  func pushQuestion(replaces: String? = nil) async throws -> PushedQuestion {
    let user = try await id(of: "device")
    _ = try await store.accounts.putRegistration(
      "phone", user: user, platform: "fcm", handle: "handle")
    var new = NotificationInsert(message: "Coming?", richType: "", payload: "")
    new.members =
      #"{"actions":[{"id":"yes","label":"Yes"},{"id":"answer","label":"Reply","input":"Text"}]}"#
    (new.sender, new.recipients) = (try await id(of: "publisher"), [user])
    (new.form, new.replaces) = ("alert", replaces)
    new.pushes = [PushInsert(lane: "fcm", target: .devices(["phone"]), kind: "alert")]
    let id = try await store.notifications.create(new).notification.id
    let job = try #require(try await store.outbox.deliveries(of: id).first).job
    let token = try #require(try await store.outbox.addressee(of: job)).token
    return PushedQuestion(
      device: "phone", token: token, link: "?to=\(job).\(token)",
      secret: origin.routes.table.signed.links.secret(of: job, token: token))
  }
}
