import Foundation
import HTTP
import RichPushAPI
import Store
import TestSupport
import Testing

/// What a user, or a device with its token, changes of a device.
@Suite(.timeLimit(.minutes(2))) struct DeviceSettingsTests {
  private let path = "/api/register/phone"

  private func put(_ members: String = "", _ server: TestServer) async throws {
    let answer = try await server.execute(
      "PUT", path, as: "device", fields: ["Accept": "application/json"],
      body: #"{"Platform":"apns","Handle":"AA"\#(members)}"#)
    try #require(answer.status == 200, "\(answer.detail ?? "")")
  }

  private func patch(
    _ body: String, token: String? = nil, _ server: TestServer
  ) async throws -> TestResponse {
    try await server.execute(
      "PATCH", path, as: token == nil ? "device" : nil, token: token, body: body)
  }

  private func listed(_ server: TestServer) async throws -> [String: Any] {
    let list = try await server.execute("GET", "/api/registrations", as: "device")
    return try #require(list.objects("devices").first)
  }

  @Test func `a patch changes what it names, and answers the device as the list has it`()
    async throws
  {
    try await TestServer.test { server in
      try await put(#","Tags":["news"],"Name":"phone","Language":"de""#, server)
      let answer = try await patch(
        #"{"tags":["offers"],"timeZone":"Europe/Zurich","quietHours":{"from":"22:00","until":"07:05"}}"#,
        server)
      #expect(answer.status == 200, "\(answer.detail ?? "")")
      let device = try await listed(server)
      #expect(NSDictionary(dictionary: answer.json) == NSDictionary(dictionary: device))
      #expect(device["tags"] as? [String] == ["offers", "username:device"])
      #expect(device["name"] as? String == "phone" && device["language"] as? String == "de")
      #expect(device["timeZone"] as? String == "Europe/Zurich")
      #expect(device["quietHours"] as? [String: String] == ["from": "22:00", "until": "07:05"])
      let removed = try await patch(
        #"{"tags":null,"timeZone":null,"name":null,"language":null,"quietHours":null}"#, server)
      #expect(removed.json["tags"] as? [String] == ["username:device"])
      #expect(removed.json["name"] is NSNull)
      for member in ["language", "timeZone", "quietHours"] {
        #expect(removed.json[member] == nil, "\(member)")
      }
    }
  }

  @Test func `a device without a push token stays, gets none, and can register again`()
    async throws
  {
    try await TestServer.test { server in
      try await put(#","Tags":["news"]"#, server)
      let issued = try await server.execute("POST", path + "/token", as: "device")
      let token = try #require(issued.json["token"] as? String)
      let removed = try await patch(#"{"platform":null}"#, token: token, server)
      #expect(removed.status == 200 && removed.json["platform"] is NSNull)
      #expect(removed.json["tags"] as? [String] == ["news", "username:device"])
      #expect(try await patch(#"{"platform":null}"#, token: token, server).status == 200)
      let audience = try await server.execute("GET", "/api/audience?to=news", as: "publisher")
      #expect((audience.json["devices"] as? [String: Int])?.isEmpty == true)
      let other = try await patch(#"{"platform":"apns"}"#, token: token, server)
      #expect(other.status == 422 && other.detail?.contains("PUT") == true)
      let again = try await server.execute(
        "PUT", path, token: token, body: #"{"Platform":"fcm","Handle":"x:y"}"#)
      #expect(again.status == 200)
      let device = try await listed(server)
      #expect(device["platform"] as? String == "fcm")
      #expect(device["tags"] as? [String] == ["news", "username:device"])
    }
  }

  @Test func `what a registration leaves out stays as it is`() async throws {
    try await TestServer.test { server in
      try await put(
        #","Tags":["news"],"QuietHours":{"from":"22:00","until":"07:00"},"TimeZone":"UTC""#, server)
      try await put("", server)
      #expect(try await listed(server)["tags"] as? [String] == ["news", "username:device"])
      #expect(
        try await listed(server)["quietHours"] as? [String: String]
          == ["from": "22:00", "until": "07:00"])
      try await put(#","Tags":[]"#, server)
      #expect(try await listed(server)["tags"] as? [String] == ["username:device"])
    }
  }

  @Test func `what makes no sense is refused, and changes nothing`() async throws {
    try await TestServer.test { server in
      try await put(#","Tags":["news"]"#, server)
      let before = try await listed(server)
      for (body, status) in [
        (#"{"quietHours":{"from":"22:00","until":"22:00"}}"#, 422),
        (#"{"quietHours":{"from":"24:00","until":"07:00"}}"#, 422),
        (#"{"quietHours":{"from":"9:00","until":"17:00"}}"#, 422),
        (#"{"quietHours":{"from":"+9:00","until":"17:00"}}"#, 422),
        (#"{"quietHours":{"from":"22:00"}}"#, 400), (#"{"quietHours":"22:00"}"#, 400),
        (#"{"timeZone":"Mars/Olympus"}"#, 422), (#"{"language":"?"}"#, 400),
        (#"{"tags":["a b"]}"#, 400), (#"{"tags":["username:admin"]}"#, 400),
        (#"{"name":"x","tags":"news"}"#, 400), (#"{"handle":"BB"}"#, 400), ("[]", 400), ("", 400),
      ] {
        let answer = try await patch(body, server)
        #expect(answer.status == status && answer.detail?.isEmpty == false, "\(body)")
      }
      #expect(
        NSDictionary(dictionary: try await listed(server)) == NSDictionary(dictionary: before))
    }
  }

  @Test func `a token changes its own device, and knows little of the others`() async throws {
    try await TestServer.test { server in
      try await put("", server)
      _ = try await server.execute(
        "PUT", "/api/register/tablet", as: "device",
        body: #"{"Platform":"fcm","Handle":"BB","Name":"tablet of mine"}"#)
      let issued = try await server.execute("POST", path + "/token", as: "device")
      let token = try #require(issued.json["token"] as? String)
      #expect(try await patch(#"{"name":"mine"}"#, token: token, server).status == 200)
      let other = try await server.execute(
        "PATCH", "/api/register/tablet", token: token, body: #"{"name":"mine"}"#)
      #expect(other.status == 403)
      let list = try await server.execute("GET", "/api/registrations", token: token)
      #expect(list.objects("devices").map { $0["name"] as? String } == ["mine"])
      let others = list.objects("others")
      #expect(others.map { $0["name"] as? String } == ["tablet of mine"])
      #expect(others.map { $0["platform"] as? String } == ["fcm"])
      #expect(others.first?["lastContact"] is String && others.first?["ended"] is NSNull)
      #expect(others.first?.keys.sorted() == ["ended", "lastContact", "name", "platform"])
      for user in ["publisher", "admin"] {
        #expect(try await server.status("PATCH", path, as: user, body: "{}") == 404)
      }
    }
  }

  @Test
  func `a waiting push is shown with the time at which it is sent, an urgent one is not held`()
    async throws
  {
    try await TestServer.test { server in
      // All day but for the minute before this one.
      let minute = Int(Date().timeIntervalSince1970) / 60 % 1440
      let text = { (minutes: Int) in
        String(format: "%02d:%02d", minutes % 1440 / 60, minutes % 60)
      }
      try await put(
        #","QuietHours":{"from":"\#(text(minute))","until":"\#(text(minute + 1438))"}"#, server)
      for importance in ["high", "urgent"] {
        var push = PushInsert(lane: "test", target: .devices(["phone"]), kind: "alert")
        push.isUrgent = importance == "urgent"
        var new = NotificationInsert(message: importance, richType: "note", payload: "p")
        new.sender = try await server.id(of: "publisher")
        (new.recipients, new.pushes) = ([try await server.id(of: "device")], [push])
        _ = try await server.store.notifications.create(new)
      }
      let lease = try await server.store.outbox.settleAndLease(
        [], lane: SendingLane("test"), limit: 9, until: Date() + 60)
      #expect(lease.jobs.map(\.notificationID) == [1])
      let details = try await server.execute(
        "GET", "/api/notifications/0/details", as: "publisher")
      let delivery = try #require(details.objects("deliveries").first)
      #expect(delivery["state"] as? String == "queued")
      #expect(delivery["reason"] as? String == "the device has quiet hours")
      let due = try #require((delivery["due"] as? String).flatMap { JSONCoding.time($0) })
      #expect(due.timeIntervalSinceNow > 23.9 * 3600 && due.timeIntervalSinceNow < 24 * 3600)
    }
  }
}
