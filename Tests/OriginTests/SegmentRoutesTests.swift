import Foundation
import HTTP
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// `/api/segments`, and notifications to segments.
@Suite(.timeLimit(.minutes(2))) struct SegmentRoutesTests {
  private static func send(
    _ server: TestServer, _ method: String, _ path: String = "", as user: String = "publisher",
    match: String? = nil, _ body: String = ""
  ) async throws -> TestResponse {
    var fields = Fields()
    fields["If-Match"] = match
    return try await server.execute(
      method, "/api/segments" + path, as: user, fields: fields, body: body)
  }

  private static func notify(
    _ server: TestServer, to: String, _ members: String = "", as user: String = "publisher"
  ) async throws -> TestResponse {
    try await server.execute(
      "POST", "/api/notifications", as: user, body: #"{"message":"m","to":\#(to)\#(members)}"#)
  }

  @Test func `a segment is saved, counted and changed by publishers`() async throws {
    try await TestServer.test { server in
      _ = try await server.register("aa01", as: "device")
      let counted = try await Self.send(server, "PUT", "/new?dry-run", #"{"platform":"apns"}"#)
      #expect(counted.status == 200 && counted.json["users"] as? Int == 1)
      #expect((counted.json["devices"] as? [String: Int]) == ["apns": 1])
      #expect(try await Self.send(server, "GET").objects("segments").isEmpty)
      let added = try await Self.send(server, "PUT", "/phones", #"{"platform":"apns"}"#)
      try #require(added.status == 201, "\(added.detail ?? added.text)")
      #expect(added.fields["ETag"] == "\"1\"" && added.fields["Location"] == "/api/segments/phones")
      let changed = try await Self.send(
        server, "PUT", "/phones", as: "admin", match: "\"1\"",
        #"{"platform":"fcm","to":["username:device"]}"#)
      #expect(changed.status == 200 && changed.fields["ETag"] == "\"2\"")
      let late = try await Self.send(
        server, "PUT", "/phones", match: "\"1\"", #"{"platform":"apns"}"#)
      #expect(late.status == 412 && late.detail?.contains("admin has changed") == true)
      #expect(
        try await Self.send(server, "PUT", "/none", match: "*", #"{"platform":"apns"}"#).status
          == 412)
      let read = try await Self.send(server, "GET", "/phones")
      let segment = read.json["segment"] as? [String: Any]
      #expect(segment?["platform"] as? String == "fcm")
      #expect(segment?["to"] as? [String] == ["username:device"])
      #expect(
        read.json["author"] as? String == "publisher" && read.json["editor"] as? String == "admin")
      for name in ["b", "a"] {
        #expect(try await Self.send(server, "PUT", "/\(name)", #"{"language":"de"}"#).status == 201)
      }
      let first = try await Self.send(server, "GET", "?limit=2")
      #expect(first.objects("segments").map { $0["name"] as? String } == ["a", "b"])
      #expect(first.json["next"] as? String == "b")
      let second = try await Self.send(server, "GET", "?after=b")
      #expect(second.objects("segments").count == 1 && second.json["next"] is NSNull)
      #expect(try await Self.send(server, "DELETE", "/phones", match: "\"1\"").status == 412)
      #expect(try await Self.send(server, "DELETE", "/phones", match: "\"2\"").status == 204)
      #expect(try await Self.send(server, "GET", "/phones").status == 404)
    }
  }

  @Test func `what is no segment gets a sentence`() async throws {
    try await TestServer.test { server in
      for (body, status, words) in [
        ("", 400, "JSON"), ("{}", 400, "needs a condition"), (#"{"to":null}"#, 400, "condition"),
        (#"{"name":"a"}"#, 400, "name"), (#"{"to":5}"#, 400, "to"),
        (#"{"to":"segment:b"}"#, 422, "no segment"), (#"{"to":"a &&"}"#, 422, "not valid"),
        (#"{"language":"x"}"#, 422, "BCP 47"), (#"{"platform":"ios"}"#, 422, "one of apns"),
        (#"{"lastContact":0}"#, 422, "days"), (#"{"lastContact":"x"}"#, 400, "lastContact"),
        (#"{"attributes":{}}"#, 400, "names none"), (#"{"attributes":{"A":"b"}}"#, 422, "A"),
        (#"{"opened":99}"#, 422, "does not see"),
        (#"{"opened":\#(Int.max)}"#, 422, "does not see"), (#"{"notOpened":-1}"#, 422, "ID"),
      ] {
        let answer = try await Self.send(server, "PUT", "/a", body)
        #expect(answer.status == status, "\(body): \(answer.status) \(answer.detail ?? "")")
        #expect(
          (answer.detail ?? "").contains(words)
            || answer.errors.contains { $0.detail.contains(words) },
          "\(body): \(answer.detail ?? answer.text)")
      }
      for name in ["-a", "a%20b", "%C3%A9", String(repeating: "a", count: 51)] {
        let answer = try await Self.send(server, "PUT", "/\(name)", #"{"language":"de"}"#)
        #expect(answer.status == 422, "\(name)")
        #expect(try await Self.send(server, "GET", "/\(name)").status == 404, "\(name)")
      }
      #expect(try await Self.send(server, "GET", as: "device").status == 403)
    }
  }

  @Test func `a segment that a scheduled notification names stays until that is withdrawn`()
    async throws
  {
    try await TestServer.test { server in
      _ = try await server.register("aa01", as: "device")
      _ = try await Self.send(server, "PUT", "/phones", #"{"platform":"apns"}"#)
      let time = (Date() + 3600).formatted(.iso8601)
      let scheduled = try await Self.notify(
        server, to: #"["segment:phones"]"#, #","notBefore":"\#(time)""#, as: "admin")
      try #require(scheduled.status == 201, "\(scheduled.detail ?? scheduled.text)")
      let id = try #require(scheduled.json["id"] as? Int)
      let refused = try await Self.send(server, "DELETE", "/phones")
      #expect(refused.status == 409 && refused.detail?.contains("Notification \(id)") == true)
      #expect(
        try await server.status("DELETE", "/api/notifications/\(id)", as: "admin") == 204)
      #expect(try await Self.send(server, "DELETE", "/phones").status == 204)
      let gone = try await Self.notify(server, to: #"["segment:phones"]"#)
      #expect(gone.status == 422)
      #expect(
        gone.errors.contains { $0.detail.contains("no segment") }
          || gone.detail?.contains("no segment") == true)
    }
  }

  @Test func `a scheduled notification is sent when it is due`() async throws {
    try await TestServer.test { server in
      _ = try await server.register("aa01", as: "device")
      _ = try await Self.send(server, "PUT", "/phones", #"{"platform":"apns"}"#)
      let soon = try await server.execute(
        "POST", "/api/notifications?delay=1", as: "publisher",
        body: #"{"message":"m","to":["segment:phones"]}"#)
      try #require(soon.status == 201, "\(soon.detail ?? soon.text)")
      let id = try #require(soon.json["id"] as? Int)
      try await eventually("its recipients are found") {
        try await server.store.notifications.receipts(of: id).count == 1
      }
      let inbox = try await server.execute("GET", "/api/notifications", as: "device")
      #expect(inbox.objects("notifications").first?["id"] as? Int == id)
    }
  }

  @Test func `who has opened a notification is only for its sender`() async throws {
    try await TestServer.test { server in
      _ = try await server.register("aa01", as: "device")
      try await server.addUser("other", .publisher)
      let sent = try await Self.notify(server, to: #"["username:device"]"#)
      let id = try #require(sent.json["id"] as? Int)
      for kind in ["opened", "notOpened"] {
        let to = "[\"\(kind):\(id)\"]"
        #expect(
          try await Self.notify(server, to: to, as: "other").status == 422, "\(kind)")
        #expect(
          try await server.status("GET", "/api/audience?to=\(kind):\(id)", as: "other") == 422)
        #expect(
          try await Self.send(server, "PUT", "/x", as: "other", "{\"\(kind)\":\(id)}").status
            == 422)
        #expect(
          try await server.execute(
            "POST", "/api/notifications?dry-run", as: "other", body: #"{"message":"m","to":\#(to)}"#
          ).status == 422)
      }
      let counted = try await server.execute(
        "GET", "/api/audience?to=notOpened:\(id)", as: "publisher")
      #expect(counted.json["users"] as? Int == 1)
      #expect(try await Self.notify(server, to: "[\"notOpened:\(id)\"]").status == 201)
      #expect(
        try await server.status("GET", "/api/audience?to=notOpened:\(id)", as: "admin") == 200)
    }
  }

  @Test func `a device cannot take a tag that stands for an audience`() async throws {
    try await TestServer.test { server in
      let answer = try await server.execute("POST", "/api/register?handle=aa01", as: "device")
      let id = answer.text.trimmingCharacters(in: ["\""])
      let put = try await server.execute(
        "PUT", "/api/register/" + id, as: "device",
        body: #"{"Platform":"apns","Handle":"aa01","Tags":["segment:gold"]}"#)
      #expect(put.status == 400 && put.detail?.contains("reserved") == true)
    }
  }
}
