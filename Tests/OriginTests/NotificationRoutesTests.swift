import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct NotificationRoutesTests {
  private static let post = "/api/notifications"

  @Test func `a plain alert reaches the user in to_tag, with the sender's name`() async throws {
    try await TestServer.test { server in
      let target = Self.post + "?pns=apns&to_tag=device"
      for (sender, status) in [("publisher", 200), ("device", 200)] {
        #expect(try await server.status("POST", target, as: sender, body: #""Hi""#) == status)
      }
      let events = try await server.store.events.pushEvents(
        for: server.id(of: "device"), after: 0, limit: 9)
      #expect(
        events.map(\.data) == [
          #"{"aps":{"alert":"From publisher: Hi"}}"#, #"{"aps":{"alert":"From device: Hi"}}"#,
        ])
      #expect(
        try await server.store.notifications.inbox(
          of: server.id(of: "device"), unreadOnly: false, limit: 9, before: nil
        ).isEmpty)
    }
  }

  @Test(
    arguments: [
      ("?pns=apns&to_tag=admin", #""Hi""#, "device", 403),
      ("?pns=APNS&to_tag=device", #""Hi""#, "publisher", 200),
      ("?pns=FcmV1&to_tag=device", #""Hi""#, "publisher", 200),
      ("?pns=browser&to_tag=device", #""Hi""#, "publisher", 200),
      ("?pns=sms&to_tag=device", #""Hi""#, "publisher", 400),
      ("?to_tag=device", #""Hi""#, "publisher", 422),
      ("?pns=apns&to_tag=a%20b", #""Hi""#, "publisher", 400),
      ("?pns=apns&to_tag=device", "{}", "publisher", 422),
      ("?pns=apns&to_tag=device", "Hi", "publisher", 400),
      ("?pns=apns", #""Hi""#, "publisher", 422), ("", #""Hi""#, "publisher", 422),
      ("?to=device", "", "publisher", 400), ("?pns=apns&pns=gcm", "", "publisher", 400),
    ] as [(String, String, String, Int)])
  func `rejects an invalid alert`(
    query: String, body: String, user: String, status: Int
  ) async throws {
    try await TestServer.test { server in
      let found = try await server.status("POST", Self.post + query, as: user, body: body)
      #expect(found == status)
    }
  }

  @Test func `text alone is a notification, which is fetched as text`() async throws {
    try await TestServer.test { server in
      let created = try await server.execute(
        "POST", Self.post, as: "publisher",
        body: #"{"title":"Parcel","message":"At the door. 🦊","to":"username:device"}"#)
      try #require(created.status == 201, "\(created.detail ?? created.text)")
      let answer = try #require(JSONValue(created.text.utf8))
      #expect(answer.title.text == "Parcel" && answer.richType == .null)
      let text = try await server.execute("GET", Self.post + "/0", as: "device")
      #expect(text.status == 200 && text.text == "At the door. 🦊")
      #expect(text.fields["Content-Type"] == "text/plain; charset=utf-8")
      let details = try #require(
        JSONValue(
          try await server.execute("GET", Self.post + "/0/details", as: "publisher").text.utf8))
      #expect(details.form.text == "alert")
      try await eventually("the fetch is recorded") {
        try await server.store.sent.counts(of: 0)?.fetched == 1
      }
      #expect(details.links == .object([:]) && details.renditions == .object([:]))
      #expect(try await server.status("GET", Self.post + "/0?wdth=9", as: "device") == 400)
    }
  }

  @Test(
    arguments: [
      (#"{"to":"username:device"}"#, 422, ["message"]),
      (#"{"message":" ","to":"username:device"}"#, 422, ["message"]),
      (#"{"message":"m","form":"legacy","to":"username:device"}"#, 422, ["form"]),
      (#"{"message":"m","payload":"p","to":"username:device"}"#, 422, ["richType"]),
      (#"{"message":"m","richType":"note","to":"username:device"}"#, 422, ["payload"]),
      (
        #"{"title":5,"actions":[{"id":"a"},7],"link":true,"to":"username:device"}"#, 400,
        ["title", "link", "actions/0/label", "actions/1"]
      ),
      (
        #"{"message":"m","actions":[{"id":"a","label":"A","url":"x"}],"to":"username:device"}"#,
        400,
        ["actions/0/url"]
      ),
      (
        #"{"title":"a\nb","link":"javascript:x","actions":[{"id":"a","label":"A"},{"id":"A","label":""}],"#
          + #""to":"username:device"}"#, 422,
        ["title", "link", "actions/1/id", "actions/1/label"]
      ),
      (
        #"{"message":" ","apns":{"aps":{"content-available":1,"alert":{"loc-args":[1]}}},"#
          + #""fcm":{"data":{"google.x":"1"},"android":{"ttl":"1s"}},"#
          + #""webpush":{"headers":{"Topic":"t"}},"to":"username:device"}"#, 422,
        [
          "apns/aps/alert/loc-args/0", "apns/aps/content-available", "fcm/android/ttl", "fcm/data",
          "webpush/headers/Topic", "message",
        ]
      ),
      (#"{"message":"m","fcm":[],"webpush":7,"to":"username:device"}"#, 422, ["fcm", "webpush"]),
      (
        #"{"message":"m","apns":{"own":"\#(String(repeating: "x", count: 2048))"},"to":"username:device"}"#,
        422, ["apns"]
      ),
      (
        #"{"message":"m","apns":{"a":1},"richType":"note","payload":"x","form":"legacy","to":"username:device"}"#,
        422, ["form"]
      ),
    ] as [(String, Int, [String])])
  func `names every member that is wrong`(
    body: String, status: Int, members: [String]
  ) async throws {
    try await TestServer.test { server in
      let answer = try await server.execute("POST", Self.post, as: "publisher", body: body)
      #expect(answer.status == status, "\(answer.detail ?? answer.text)")
      #expect(
        answer.errors.map(\.pointer) == members.map { "#/" + $0 }, "\(answer.detail ?? "")")
    }
  }

  @Test func `only an admin may sound on a device that is muted`() async throws {
    try await TestServer.test { server in
      let body = #"{"message":"m","sound":{"critical":1},"to":"username:device"}"#
      for (user, status) in [("publisher", 403), ("admin", 201)] {
        let found = try await server.status("POST", Self.post, as: user, body: body)
        #expect(found == status)
      }
      let change = #"{"sound":{"critical":0.5}}"#
      let changed = try await server.status(
        "PATCH", Self.post + "/0", as: "admin", body: change)
      #expect(changed == 200)
    }
  }

  @Test func `an empty request creates the configured notification for the caller`() async throws {
    try await TestServer.test(prepare: {
      try $1.installNote()
      ($0.standard.message, $0.standard.richType, $0.standard.payload) = ("s", "note", "x")
    }) { server in
      #expect(try await server.status("POST", Self.post, as: "device") == 200)
      #expect(
        try await server.store.notifications.inbox(
          of: server.id(of: "device"), unreadOnly: false, limit: 9, before: nil
        ).count == 1
      )
      let media = try await server.execute("GET", "/api/notifications/0", as: "device")
      #expect(media.text == "x|")
    }
  }

  @Test func `a publisher gets the reach of a notification, and a device may notify only itself`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      _ = try await server.register("AABB", as: "device")
      _ = try await server.register("CCDD", as: "device", platform: "gcm")
      let answer = try await server.publish(to: ["device", "nobody"])
      #expect(answer.fields["Location"] == "/api/notifications/0")
      let reach = try #require(answer.json["reach"] as? [String: Any])
      #expect(reach["users"] as? Int == 1 && reach["devices"] as? Int == 2)
      #expect(reach["unknown"] as? [String] == ["nobody"])
      #expect(reach["devicesWithoutLane"] as? Int == 1)

      for (to, status) in [(["device"], 201), (["admin"], 403), (["device", "admin"], 403)] {
        let body = TestServer.notification(to: to)
        #expect(try await server.status("POST", Self.post, as: "device", body: body) == status)
      }
    }
  }

  @Test func `a repeated request with its key creates nothing, and another is a conflict`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      func post(_ members: String) async throws -> TestResponse {
        try await server.execute(
          "POST", Self.post, as: "publisher", fields: ["Idempotency-Key": "k"],
          body: TestServer.notification(members))
      }
      #expect(try await post("").status == 201)
      let again = try await post("")
      #expect(again.status == 200 && again.json["id"] as? Int == 0)
      let other = try await post(#","form":"alert""#)
      #expect(other.status == 409 && other.code == "conflict")
      // The key is the sender's own.
      let admin = try await server.execute(
        "POST", Self.post, as: "admin", fields: ["Idempotency-Key": "k"],
        body: TestServer.notification())
      #expect(admin.status == 201)
      // Its answer does not depend on what has become of its recipients.
      _ = try await server.store.accounts.removeUser("device")
      let late = try await post("")
      #expect(late.status == 200 && late.json["id"] as? Int == 0)
    }
  }

  @Test func `with a delay it goes later, and can be undone until then`() async throws {
    try await TestServer.test { server in
      let body = #"{"message":"m","to":["username:device"],"idempotencyKey":"k"}"#
      let path = Self.post + "?delay=10"
      let created = try await server.execute("POST", path, as: "publisher", body: body)
      try #require(created.status == 201, "\(created.detail ?? created.text)")
      let date = ISO8601DateFormatter()
      let times = ["created", "notBefore"].map { created.json[$0] as? String ?? "" }
      let (start, end) = (
        try #require(date.date(from: times[0])), try #require(date.date(from: times[1]))
      )
      #expect((9...11).contains(end.timeIntervalSince(start)), "\(times)")
      #expect(try await server.status("GET", Self.post + "/0", as: "device") == 404)
      // A repeated request later is the same one.
      #expect(try await server.status("POST", path, as: "publisher", body: body) == 200)
      #expect(try await server.status("DELETE", Self.post + "/0", as: "publisher") == 204)
      let timed = #"{"message":"m","to":["username:device"],"notBefore":"2099-01-01T00:00:00Z"}"#
      let subject = #"{"message":"m","to":["username:device"],"replaces":"s"}"#
      for (query, body, status) in [
        ("?delay=10", timed, 422), ("?delay=10", subject, 422), ("?delay=10", "", 400),
        ("?delay=0", body, 400), ("?delay=3601", body, 400), ("?delay=x", body, 400),
        ("?delay=10&dry-run", body, 200), ("?delay=0&dry-run", body, 400),
        ("?delay=10&dry-run", timed, 422),
        ("?delay=10&pns=apns&to_tag=device", #""text""#, 400),
      ] {
        let found = try await server.status("POST", Self.post + query, as: "publisher", body: body)
        #expect(found == status, "\(query) \(body)")
      }
    }
  }

  @Test func `the inbox has pages, the newest first, and the unread count`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      for _ in 0..<5 { try await server.publish() }
      try await server.publish(to: ["admin"])
      #expect(try await server.status("PUT", "/api/notifications/1/read", as: "device") == 204)
      #expect(try await server.status("PUT", "/api/notifications/5/read", as: "device") == 404)
      func page(_ target: String) async throws -> (ids: [Int?], unread: Int?, next: String?) {
        let answer = try await server.execute("GET", target, as: "device")
        return (
          answer.objects("notifications").map { $0["id"] as? Int }, answer.json["unread"] as? Int,
          answer.json["next"] as? String
        )
      }
      let first = try await page(Self.post + "?limit=3&unread=true")
      #expect(first.ids == [4, 3, 2] && first.unread == 4)
      #expect(first.next == "/api/notifications?before=2&limit=3&unread=true")
      let second = try await page(try #require(first.next))
      #expect(second.ids == [0] && second.next == nil)
      let all = try await page(Self.post + "?limit=5")
      #expect(all.ids.count == 5 && all.next == nil, "a full page can be the last")
      #expect(try await page(Self.post + "?unread=false").ids == [4, 3, 2, 1, 0])
      for query in ["limit=0", "limit=501", "limit=x", "before=-1", "unread=maybe", "page=2"] {
        #expect(try await server.status("GET", Self.post + "?" + query, as: "device") == 400)
      }
    }
  }

  @Test func `only the sender and an admin can change a notification`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("other", .publisher)
      try await server.publish(#","notBefore":"2100-01-01T00:00:00Z""#)
      let (target, body) = ("/api/notifications/0", #"{"message":"n"}"#)
      for user in ["device", "other"] {
        #expect(try await server.status("PATCH", target, as: user, body: body) == 404)
        #expect(try await server.status("DELETE", target, as: user) == 404)
      }
      for user in ["publisher", "admin"] {
        let answer = try await server.execute("PATCH", target, as: user, body: body)
        #expect(answer.status == 200 && answer.json["message"] as? String == "n")
      }
      #expect(try await server.status("PATCH", target, as: "admin", body: "[]") == 400)
      #expect(try await server.status("DELETE", target, as: "publisher") == 204)
      #expect(try await server.status("DELETE", target, as: "publisher") == 404)
    }
  }

  @Test func `who has changed a notification, and what it was before, can be read`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("other", .publisher)
      try await server.publish(#","title":"t","notBefore":"2100-01-01T00:00:00Z""#)
      let target = "/api/notifications/0"
      for (user, change) in [
        ("publisher", #"{"message":"n","title":null}"#), ("publisher", #"{"message":"n"}"#),
        ("admin", #"{"title":"u","notBefore":"2100-01-02T00:00:00Z"}"#),
      ] {
        #expect(try await server.status("PATCH", target, as: user, body: change) == 200)
      }
      #expect(try await server.status("PATCH", target, as: "publisher", body: #"{"to":1}"#) == 400)
      let list = try await server.execute("GET", target + "/amendments", as: "publisher")
      let found = list.objects("amendments")
      // What changes nothing, or is refused, is no change.
      #expect(found.map { $0["editor"] as? String } == ["admin", "publisher"])
      let earlier = found.map { $0["earlier"] as? [String: Any] ?? [:] }
      #expect(earlier.map { $0.keys.sorted() } == [["notBefore", "title"], ["message", "title"]])
      #expect(earlier[0]["title"] is NSNull)
      #expect(earlier[0]["notBefore"] as? String == "2100-01-01T00:00:00Z")
      #expect(earlier[1]["title"] as? String == "t")
      for user in ["device", "other"] {
        #expect(try await server.status("GET", target + "/amendments", as: user) == 404)
      }
      #expect(try await server.status("GET", target + "/amendments?limit=1", as: "admin") == 400)
    }
  }

  @Test func `what was fetched cannot be changed any more`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 200)
      try await eventually("the fetch is recorded") {
        try await server.store.notifications.receipts(of: 0).first?.fetched != nil
      }
      let answer = try await server.execute(
        "PATCH", "/api/notifications/0", as: "publisher", body: #"{"message":"n"}"#)
      #expect(answer.status == 409 && answer.code == "already-fetched")
    }
  }
}
