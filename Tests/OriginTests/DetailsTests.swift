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

/// Who sees what became of a notification.
@Suite(.timeLimit(.minutes(1))) struct DetailsTests {
  private func users(_ details: TestResponse, _ member: String = "receipts") -> [String] {
    details.objects(member).compactMap { $0["user"] as? String }
  }

  @Test func `who was not sent the later notification is not told of it`() async throws {
    try await TestServer.test { server in
      try await server.addUser("bob", .publisher)
      for recipients in [["device", "bob"], ["device"]] {
        let names = recipients.map { #""username:\#($0)""# }.joined(separator: ",")
        let created = try await server.execute(
          "POST", "/api/notifications", as: "publisher",
          body: #"{"message":"Parcel","replaces":"parcel","to":[\#(names)]}"#)
        #expect(created.status == 201)
      }
      func replacedBy(_ user: String) async throws -> Int? {
        try await server.execute("GET", "/api/notifications/0/details", as: user)
          .json["replacedBy"] as? Int
      }
      for (user, later) in [("publisher", 1), ("device", 1), ("bob", nil)] {
        #expect(try await replacedBy(user) == later)
      }
      let inbox = try await server.execute("GET", "/api/notifications", as: "bob")
      #expect(inbox.objects("notifications").map { $0["id"] as? Int } == [0])
      #expect(!inbox.text.contains("replacedBy"))
    }
  }

  @Test func `a recipient sees its own receipt, the sender and an admin see all`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("bob", .publisher)
      try await server.addUser("carol", .publisher)
      try await server.publish(to: ["device", "bob"])
      // A role gives no more: what counts is who sent it.
      for recipient in ["device", "bob"] {
        let found = try await server.execute(
          "GET", "/api/notifications/0/details", as: recipient)
        #expect(users(found) == [recipient] && found.json["deliveries"] == nil)
      }
      for overseer in ["publisher", "admin"] {
        let found = try await server.execute("GET", "/api/notifications/0/details", as: overseer)
        #expect(users(found) == ["device", "bob"] && found.json["deliveries"] != nil)
      }
      let other = try await server.execute("GET", "/api/notifications/0/details", as: "carol")
      #expect(other.status == 404, "neither sender nor recipient")
    }
  }

  @Test func `before its time a notification exists for its sender, not for recipients`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(#","notBefore":"2100-01-01T00:00:00Z""#)
      let paths = ["", "/details", "?width=64"].map { "/api/notifications/0" + $0 }
      for path in paths {
        #expect(try await server.execute("GET", path, as: "device").status == 404, "\(path)")
      }
      let inbox = try await server.execute("GET", "/api/notifications", as: "device")
      #expect(inbox.objects("notifications").isEmpty && inbox.json["unread"] as? Int == 0)
      let read = try await server.execute("PUT", "/api/notifications/0/read", as: "device")
      #expect(read.status == 404)
      let sender = try await server.execute("GET", paths[1], as: "publisher")
      #expect(sender.status == 200 && sender.json["notBefore"] as? String != nil)
    }
  }

  @Test func `before its time by their own clocks it exists for nobody, and then for each`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.addUser("bob", .publisher)
      for (user, handle, zone) in [("device", "AA", "Etc/GMT-14"), ("bob", "BB", "Etc/GMT+12")] {
        let id = try await server.register(handle, as: user)
        let found = try await server.execute(
          "PATCH", "/api/register/\(id)", as: user, body: #"{"timeZone":"\#(zone)"}"#)
        #expect(found.status == 200, "\(found.text)")
      }
      // A day has begun in the first zone and not in the last.
      let day = (Date() + 12 * 3600).formatted(.iso8601.year().month().day())
      let body =
        #"{"message":"m","richType":"note","payload":"p","to":["username:device","username:bob"],"#
        + #""localTime":{"at":"\#(day)T00:00","zone":"UTC"}}"#
      let dry = try await server.execute(
        "POST", "/api/notifications?dry-run", as: "publisher", body: body)
      #expect((dry.json["times"] as? [String: Any])?["passed"] as? Int == 1, "\(dry.text)")
      let created = try await server.execute(
        "POST", "/api/notifications", as: "publisher", body: body)
      try #require(created.status == 201, "\(created.text)")
      let paths = ["", "/details", "?width=64"].map { "/api/notifications/0" + $0 }
      for path in paths {
        #expect(try await server.status("GET", path, as: "device") == 200, "\(path)")
        #expect(try await server.status("GET", path, as: "bob") == 404, "\(path)")
      }
      #expect(try await server.status("PUT", "/api/notifications/0/read", as: "bob") == 404)
      for (user, count) in [("device", 1), ("bob", 0)] {
        let inbox = try await server.execute("GET", "/api/notifications", as: user)
        #expect(inbox.objects("notifications").count == count)
      }
      let sent = try await server.execute("GET", "/api/notifications?sent", as: "publisher")
      let time = sent.objects("notifications").first?["localTime"] as? [String: String]
      #expect(time == ["at": "\(day)T00:00", "zone": "UTC"])
      for (path, status) in [("?delay=9", 422), ("?delay=9&dry-run", 422)] {
        let path = "/api/notifications" + path
        #expect(try await server.status("POST", path, as: "publisher", body: body) == status)
      }
    }
  }

  @Test func `a receipt tells what the user did, and on which device`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let device = try await server.register("AABB", as: "device")
      try await server.publish()
      func receipt() async throws -> [String: Any] {
        let path = "/api/notifications/0/details"
        return try #require(
          try await server.execute("GET", path, as: "publisher").objects("receipts").first)
      }
      #expect(try await receipt()["state"] as? String == "queued")
      // A HEAD and the details are no fetch.
      _ = try await server.execute("HEAD", "/api/notifications/0", as: "device")
      _ = try await server.execute("GET", "/api/notifications/0/details", as: "device")
      // A fetch is written with the next commit.
      _ = try await server.register("CCDD", as: "admin")
      #expect(try await receipt()["fetched"] is NSNull)
      _ = try await server.execute(
        "GET", "/api/notifications/0", as: "device", fields: ["Richpush-Device": device])
      try await eventually("the fetch is recorded") {
        try await receipt()["state"] as? String == "fetched"
      }
      func devices() async throws -> [String?] {
        let devices = try #require(try await receipt()["devices"] as? [[String: Any]])
        return devices.map { $0["registration"] as? String }
      }
      #expect(try await devices() == [device])
      let second = try await server.register("EEFF", as: "device")
      _ = try await server.execute(
        "GET", "/api/notifications/0", as: "device", fields: ["Richpush-Device": second])
      try await eventually("the fetch of the other device is recorded, too") {
        try await Set(devices()) == [device, second]
      }
      let read = try await server.execute("PUT", "/api/notifications/0/read", as: "device")
      #expect(read.status == 204)
      #expect(try await receipt()["state"] as? String == "read")
    }
  }

  @Test func `receipts and deliveries are read by page, in a state or of a user`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let names = try await server.publish(toReaders: 130)
      _ = try await server.execute("GET", "/api/notifications/0", as: "reader7")
      try await eventually("the fetch is counted") {
        try await server.store.sent.counts(of: 0)?.fetched == 1
      }
      func page(_ query: String, as user: String = "publisher") async throws -> TestResponse {
        try await server.execute("GET", "/api/notifications/0/receipts" + query, as: user)
      }
      let details = try await server.execute("GET", "/api/notifications/0/details", as: "publisher")
      #expect(users(details) == Array(names.prefix(100)))
      let first = details.json["first"] as? [String: Any]
      #expect(first?["fetched"] is String && first?["read"] is NSNull)
      let start = try await page("?state=queued&limit=128")
      let next = try #require(start.json["next"] as? Int)
      let rest = try await page("?state=queued&limit=128&after=\(next)", as: "admin")
      #expect(users(start) + users(rest) == names.filter { $0 != "reader7" })
      #expect(rest.json["next"] is NSNull)
      let one = try await page("?state=fetched")
      #expect(users(one) == ["reader7"])
      #expect(try await users(page("?user=reader129")) == ["reader129"])
      #expect(try await users(page("?user=reader129&state=fetched")).isEmpty)
      #expect(try await users(page("?user=nobody")).isEmpty)
      for user in ["reader7", "device"] {
        for path in ["receipts", "deliveries"] {
          let path = "/api/notifications/0/\(path)"
          #expect(try await server.status("GET", path, as: user) == 404)
        }
      }
      for query in ["?state=failed", "?limit=501", "?after=x", "?before=1", "?user=a&user=b"] {
        #expect(try await page(query).status == 400, "\(query)")
      }
    }
  }

  @Test func `deliveries are those of the notification, in a state or a lane`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let user = try await server.id(of: "device")
      let device = try await server.register("AABB", as: "device")
      var new = NotificationInsert(message: "m", richType: "note", payload: "p")
      (new.sender, new.recipients) = (try await server.id(of: "publisher"), [user])
      new.pushes = ["apns", "other"].map { lane in
        PushInsert(lane: lane, target: .devices([device]), kind: "alert")
      }
      for _ in 0..<2 { _ = try await server.store.notifications.create(new) }
      let jobs = try await server.store.outbox.settleAndLease(
        [], lane: SendingLane("apns"), limit: 1, until: Date() + 60
      ).jobs
      _ = try await server.store.outbox.settleAndLease(
        jobs.map { ($0.id, .rejected(reason: "<b>no</b>")) }, lane: SendingLane("apns"), limit: 0,
        until: Date())
      func page(_ query: String) async throws -> TestResponse {
        try await server.execute("GET", "/api/notifications/0/deliveries" + query, as: "publisher")
      }
      func lanes(_ query: String) async throws -> [String] {
        try await page(query).objects("deliveries").compactMap { $0["lane"] as? String }
      }
      #expect(try await lanes("") == ["apns", "other"])
      #expect(try await lanes("?state=failed") == ["apns"])
      #expect(try await lanes("?lane=other") == ["other"])
      let failed = try #require(try await page("?state=failed").objects("deliveries").first)
      #expect(failed["reason"] as? String == "<b>no</b>" && failed["user"] as? String == "device")
      let first = try await page("?limit=1")
      let next = try #require(first.json["next"] as? Int)
      #expect(try await lanes("?limit=1&after=\(next)") == ["other"])
      #expect(try await page("?state=read").status == 400)
    }
  }

  @Test func `has links for every profile, and for a requested rendition`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      func links(_ query: String) async throws -> [String: String] {
        let path = "/api/notifications/0/details" + query
        return try await server.execute("GET", path, as: "device").json["links"]
          as? [String: String] ?? [:]
      }
      let names: Set = ["original", "ios", "android", "watch", "web", "thumb"]
      #expect(Set(try await links("").keys) == names)
      #expect(Set(try await links("?link=w100").keys) == names.union(["w128"]))
      let wrong = try await server.execute(
        "GET", "/api/notifications/0/details?link=huge", as: "device")
      #expect(wrong.status == 400)
    }
  }
}
