import Delivery
import Foundation
import HTTP
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// `serve --approve-above`: what is for many people waits until another publisher approves it.
@Suite(.timeLimit(.minutes(2))) struct ApprovalRoutesTests {
  private static let many = ["device", "publisher"]

  /// A server on which a notification for more than one person needs approval, and the publisher `second`.
  private static func test(
    prepare: (inout OriginConfiguration, Scratch) throws -> Void = { _, _ in },
    _ body: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      prepare: { configuration, scratch in
        configuration.approveAbove = 1
        try scratch.installNote()
        try prepare(&configuration, scratch)
      },
      { server in
        try await server.addUser("second", .publisher)
        try await body(server)
      })
  }

  private static func decide(
    _ server: TestServer, as user: String? = "second", token: String? = nil, id: Int = 0,
    _ body: String
  ) async throws -> TestResponse {
    try await server.execute(
      "POST", "/api/notifications/\(id)/approval", as: user, token: token, body: body)
  }

  /// The version that awaits approval.
  private static func version(_ server: TestServer, id: Int = 0) async throws -> String {
    let details = try await server.execute(
      "GET", "/api/notifications/\(id)/details", as: "second")
    let approval = details.json["approval"] as? [String: Any]
    return try #require(approval?["version"] as? String, "\(details.text)")
  }

  private static func approval(of version: String) -> String {
    #"{"approved":true,"version":"\#(version)"}"#
  }

  @Test func `it waits until another publisher has seen and approved it`() async throws {
    try await Self.test { server in
      let sent = try await server.publish(to: Self.many)
      #expect(sent.json["held"] as? Bool == true && sent.json["notBefore"] is NSNull)
      let approval = try #require(sent.json["approval"] as? [String: Any])
      #expect(approval["state"] as? String == "awaiting" && approval["people"] as? Int == 2)
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 404)
      #expect(try await server.status("GET", "/api/notifications/0/details", as: "device") == 404)

      let list = try await server.execute("GET", "/api/approvals", as: "second")
      let one = try #require(list.objects("notifications").first)
      #expect(one["sender"] as? String == "publisher" && one["state"] as? String == "held")
      #expect((one["approval"] as? [String: Any])?["version"] != nil)
      for path in ["/details", "/media", "/receipts", "/deliveries", "/amendments"] {
        #expect(
          try await server.status("GET", "/api/notifications/0" + path, as: "second") == 200,
          "\(path)")
      }
      // Reading is all.
      #expect(
        try await server.status(
          "PATCH", "/api/notifications/0", as: "second", body: #"{"message":"x"}"#) == 404)
      #expect(try await server.status("DELETE", "/api/notifications/0", as: "second") == 404)

      let version = try await Self.version(server)
      let own = try await Self.decide(server, as: "publisher", Self.approval(of: version))
      #expect(own.status == 403 && own.detail?.contains("Another publisher") == true)
      let approved = try await Self.decide(server, Self.approval(of: version))
      #expect(approved.status == 200 && approved.json["state"] as? String == "approved")
      #expect(approved.json["user"] as? String == "second" && approved.json["time"] != nil)
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 200)
      #expect(try await Self.decide(server, Self.approval(of: version)).status == 409)

      let details = try await server.execute(
        "GET", "/api/notifications/0/details", as: "publisher")
      let decided = try #require(details.json["approval"] as? [String: Any])
      #expect(decided["user"] as? String == "second" && decided["state"] as? String == "approved")
      #expect(details.json["held"] == nil && details.json["state"] as? String == "sent")
      // It is the publisher's alone again, and its recipients are told nothing of it.
      #expect(try await server.status("GET", "/api/notifications/0/receipts", as: "second") == 404)
      let received = try await server.execute(
        "GET", "/api/notifications/0/details", as: "device")
      #expect(received.status == 200 && received.json["approval"] == nil)
      let rest = try await server.execute("GET", "/api/approvals", as: "second")
      #expect(rest.objects("notifications").isEmpty)
    }
  }

  @Test func `who refuses it says why, and its sender reads that`() async throws {
    try await Self.test { server in
      try await server.publish(to: Self.many)
      #expect(try await Self.decide(server, #"{"approved":false}"#).status == 400)
      #expect(try await Self.decide(server, #"{"approved":false,"reason":""}"#).status == 422)
      let long = String(repeating: "a", count: 501)
      #expect(
        try await Self.decide(server, #"{"approved":false,"reason":"\#(long)"}"#).status == 422)
      let refused = try await Self.decide(
        server, #"{"approved":false,"reason":"The price is wrong."}"#)
      #expect(refused.status == 200 && refused.json["state"] as? String == "refused")
      let details = try await server.execute(
        "GET", "/api/notifications/0/details", as: "publisher")
      let approval = try #require(details.json["approval"] as? [String: Any])
      #expect(approval["reason"] as? String == "The price is wrong.")
      #expect(details.json["state"] as? String == "withdrawn")
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 404)
      #expect(try await server.status("GET", "/api/notifications/0/details", as: "second") == 404)
    }
  }

  @Test func `only a publisher who is there decides, on what was seen`() async throws {
    try await Self.test { server in
      try await server.publish(to: Self.many)
      let version = try await Self.version(server)
      let body = Self.approval(of: version)
      let made = try await server.execute(
        "POST", "/api/tokens", as: "second", body: #"{"name":"ci","receipts":true}"#)
      let token = try #require(made.json["token"] as? String, "\(made.text)")
      #expect(try await Self.decide(server, as: nil, token: token, body).status == 403)
      for path in ["/api/approvals", "/api/notifications/0/receipts"] {
        let answer = try await server.execute("GET", path, token: token)
        #expect(answer.status == (path == "/api/approvals" ? 403 : 404))
      }
      #expect(try await Self.decide(server, as: "device", body).status == 403)
      #expect(try await Self.decide(server, as: nil, body).status == 401)
      for wrong in [
        "", "[]", "{}", #"{"approved":1,"version":"a"}"#, #"{"approved":true}"#,
        #"{"approved":true,"version":7}"#, #"{"approved":true,"version":"a","more":1}"#,
      ] { #expect(try await Self.decide(server, wrong).status == 400, "\(wrong)") }
      #expect(
        try await Self.decide(
          server, #"{"approved":true,"version":"\#(version)","reason":"fine"}"#
        ).status == 422)
      #expect(try await Self.decide(server, id: 9, body).status == 404)

      let changed = try await server.execute(
        "PATCH", "/api/notifications/0", as: "publisher",
        body: #"{"message":"Other","notBefore":null}"#)
      #expect(changed.status == 200 && changed.json["held"] as? Bool == true)
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 404)
      let late = try await Self.decide(server, body)
      #expect(late.status == 409 && late.detail?.contains("changed meanwhile") == true)
      // An admin releases nothing by a time, and does not approve what the admin has written.
      let released = try await server.execute(
        "PATCH", "/api/notifications/0", as: "admin",
        body: #"{"message":"Mine","notBefore":null}"#)
      #expect(released.json["held"] as? Bool == true)
      let mine = Self.approval(of: try await Self.version(server))
      #expect(try await Self.decide(server, as: "admin", mine).status == 403)
      #expect(try await Self.decide(server, mine).status == 200)
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 200)
      // What was not approved cannot take its place.
      let amended = try await server.execute(
        "PATCH", "/api/notifications/0", as: "publisher", body: #"{"message":"Third"}"#)
      #expect(amended.status == 409)
    }
  }

  @Test func `what a notification for so many people needs is said before`() async throws {
    try await Self.test { server in
      for (to, needs) in [(["device"], false), (Self.many, true)] {
        let query = to.map { "to=username:" + $0 }.joined(separator: "&")
        let size = try await server.execute("GET", "/api/audience?" + query, as: "publisher")
        #expect(size.json["needsApproval"] as? Bool == (needs ? true : nil))
        let dry = try await server.execute(
          "POST", "/api/notifications?dry-run", as: "publisher",
          body: TestServer.notification(to: to))
        let audience = try #require(dry.json["audience"] as? [String: Any], "\(dry.text)")
        #expect(audience["needsApproval"] as? Bool == (needs ? true : nil))
      }
      #expect(try await server.publish().json["held"] == nil)
    }
    try await TestServer.test(prepare: { _, scratch in try scratch.installNote() }) { server in
      #expect(try await server.publish(to: Self.many).json["held"] == nil)
      let list = try await server.execute("GET", "/api/approvals", as: "publisher")
      #expect(list.objects("notifications").isEmpty && list.json["next"] is NSNull)
    }
  }

  @Test func `no way of publishing goes round it`() async throws {
    try await Self.test(prepare: { configuration, _ in
      configuration.compatibility = try CompatibilitySettings(["gotify", "webhooks"], ntfy: nil)
    }) { server in
      for (user, handle) in [("device", "00FC"), ("publisher", "00FD")] {
        let id = try await server.register(handle, as: user)
        let put = try await server.execute(
          "PUT", "/api/register/" + id, as: user,
          body: #"{"Platform":"apns","Handle":"\#(handle)","Tags":["news"]}"#)
        try #require(put.status == 200)
      }
      // By an access token, repeated with its key.
      let made = try await server.execute(
        "POST", "/api/tokens", as: "publisher", body: #"{"name":"ci","to":["news"]}"#)
      let token = try #require(made.json["token"] as? String, "\(made.text)")
      let body = #"{"message":"A","idempotencyKey":"k"}"#
      for status in [201, 200] {
        let sent = try await server.execute(
          "POST", "/api/notifications", token: token, body: body)
        #expect(sent.status == status && sent.json["held"] as? Bool == true)
      }
      // A moment later, in the parts of a form, and for everybody by an expression.
      let delayed = try await server.execute(
        "POST", "/api/notifications?delay=1", as: "publisher",
        body: #"{"message":"B","to":"news"}"#)
      #expect(delayed.json["held"] as? Bool == true)
      let everybody = try await server.execute(
        "POST", "/api/notifications", as: "admin", body: #"{"message":"C","to":"!nobody"}"#)
      #expect(everybody.json["held"] as? Bool == true, "\(everybody.text)")
      let gotify = try await server.execute(
        "POST", "/message", fields: Fields([(name: "X-Gotify-Key", value: token)]),
        body: #"{"message":"D"}"#)
      #expect(gotify.status == 200, "\(gotify.text)")
      let hook = try await server.execute(
        "POST", "/api/webhooks", as: "publisher",
        body:
          #"{"name":"w","to":["news"],"template":{"rules":[{"notification":{"message":"{{m}}"}}]}}"#
      )
      let path = try #require(hook.json["path"] as? String, "\(hook.text)")
      let event = try await server.execute("POST", path, body: #"{"m":"E"}"#)
      #expect(event.status == 200, "\(event.text)")

      let list = try await server.execute("GET", "/api/approvals", as: "second")
      let found = list.objects("notifications").compactMap { $0["message"] as? String }
      #expect(found == ["E", "D", "C", "B", "A"])
      let inbox = try await server.execute("GET", "/api/notifications", as: "device")
      #expect(inbox.objects("notifications").isEmpty)
      let page = try await server.execute("GET", "/api/approvals?limit=2", as: "second")
      #expect(page.json["next"] as? Int == 3)
      let next = try await server.execute("GET", "/api/approvals?before=3", as: "second")
      #expect(next.objects("notifications").count == 3)
    }
  }
}
