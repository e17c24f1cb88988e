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

@testable import Origin

/// Who sees what became of a notification.
@Suite(.timeLimit(.minutes(1))) struct DetailsTests {
  private func users(_ details: TestResponse, _ member: String = "receipts") -> [String] {
    details.objects(member).compactMap { $0["user"] as? String }
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
        #expect(users(found) == ["bob", "device"] && found.json["deliveries"] != nil)
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
