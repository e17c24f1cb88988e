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

/// What can be done with a device's token, which may be stolen, and how its owner gets rid of all that.
@Suite(.timeLimit(.minutes(3))) struct DeviceScopeTests {
  /// Gives a device of a user a token.
  private func token(_ device: String, of user: String, _ server: TestServer) async throws -> String
  {
    let answer = try await server.execute("POST", "/api/register/\(device)/token", as: user)
    return try #require(answer.json["token"] as? String, "\(answer.detail ?? "")")
  }

  private func put(
    _ device: String, _ handle: String, platform: String = "apns", as user: String? = nil,
    token: String? = nil, _ server: TestServer
  ) async throws -> TestResponse {
    try await server.execute(
      "PUT", "/api/register/\(device)", as: user, token: token,
      body: #"{"Platform":"\#(platform)","Handle":"\#(handle)","Name":"\#(device) of mine"}"#)
  }

  @Test func `a stolen token opens only its own device`() async throws {
    try await TestServer.test { server in
      for device in ["phone", "tablet"] {
        #expect(
          try await put(device, device == "phone" ? "AA" : "BB", as: "admin", server).status == 200)
      }
      let stolen = try await token("phone", of: "admin", server)
      func status(_ method: String, _ path: String, _ body: String = "") async throws -> Int {
        try await server.execute(method, path, token: stolen, body: body).status
      }
      // The tutorial's first step answers the device's own ID, whatever the handle.
      let registered = try await server.execute(
        "POST", "/api/register?handle=CC", token: stolen)
      #expect(registered.text == #""phone""#)
      #expect(try await put("planted", "CC", token: stolen, server).status == 403)
      #expect(try await put("tablet", "CC", token: stolen, server).status == 403)
      #expect(try await put("phone", "CC", platform: "fcm", token: stolen, server).status == 409)
      #expect(try await put("phone", "CC", token: stolen, server).status == 200)
      #expect(try await status("POST", "/api/register/phone/token") == 403)
      #expect(try await status("POST", "/api/register/tablet/token") == 403)
      #expect(try await status("DELETE", "/api/register/tablet/token") == 403)
      #expect(try await status("DELETE", "/api/register/tablet") == 403)
      #expect(try await status("GET", "/api/session") == 403)
      #expect(try await status("DELETE", "/api/session/1") == 403)
      #expect(try await status("GET", "/api/users") == 403)

      let list = try await server.execute("GET", "/api/registrations", token: stolen)
      #expect(list.objects("devices").map { $0["registration"] as? String } == ["phone"])
      #expect(list.objects("others").map { $0["name"] as? String } == ["tablet of mine"])

      let admin = try await server.id(of: "admin")
      let handles = try await server.store.accounts.registrations(ofUser: admin).map(\.handle)
      #expect(handles.sorted() == ["BB", "CC"])
      #expect(try await status("DELETE", "/api/register/phone") == 200)
      #expect(try await status("GET", "/api/notifications") == 401)
    }
  }

  @Test func `a publisher's token neither sees nor changes what the publisher sent`() async throws {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      try await server.publish(to: ["device", "publisher"])
      _ = try await put("phone", "AA", as: "publisher", server)
      let stolen = try await token("phone", of: "publisher", server)
      for (method, path, body) in [
        ("PATCH", "/api/notifications/0", #"{"message":"changed"}"#),
        ("DELETE", "/api/notifications/0", ""), ("GET", "/api/notifications/0/receipts", ""),
        ("GET", "/api/notifications/0/deliveries", ""),
      ] {
        let answer = try await server.execute(method, path, token: stolen, body: body)
        #expect(answer.status == 404, "\(method) \(path)")
      }
      let details = try await server.execute(
        "GET", "/api/notifications/0/details", token: stolen)
      #expect(details.objects("receipts").map { $0["user"] as? String } == ["publisher"])
      let sent = try await server.execute("GET", "/api/notifications?sent", token: stolen)
      #expect(sent.status == 200 && sent.objects("notifications").isEmpty)
    }
  }

  @Test func `a user sees all own devices, and ends each of them`() async throws {
    try await TestServer.test { server in
      let answer = try await server.execute(
        "PUT", "/api/register/planted", as: "device", fields: ["User-Agent": "curl/8"],
        body: #"{"Platform":"apns","Handle":"AA"}"#)
      #expect(answer.status == 200)
      _ = try await put("phone", "BB", as: "publisher", server)
      let list = try await server.execute("GET", "/api/registrations", as: "device")
      let device = try #require(list.objects("devices").first)
      #expect(list.objects("devices").count == 1 && device["registration"] as? String == "planted")
      #expect(device["userAgent"] as? String == "curl/8")
      #expect(device["credential"] as? String == "password")
      #expect(device["created"] is String && device["lastContact"] is String)
      // Somebody else's is left alone, and not told of.
      #expect(try await server.status("DELETE", "/api/register/phone", as: "device") == 200)
      #expect(
        try await server.execute("GET", "/api/registrations", as: "publisher").objects("devices")
          .count == 1)
      #expect(try await server.status("DELETE", "/api/register/planted", as: "device") == 200)
      #expect(
        try await server.execute("GET", "/api/registrations", as: "device").objects("devices")
          .isEmpty)
      #expect(try await server.status("DELETE", "/api/register/phone", as: "admin") == 200)
      #expect(
        try await server.execute("GET", "/api/registrations", as: "publisher").objects("devices")
          .isEmpty)
    }
  }

  @Test(arguments: [false, true])
  func `registrations end with a new password and with the tokens if that is asked for`(
    _ isAsked: Bool
  ) async throws {
    try await TestServer.test { server in
      let remaining = isAsked ? 0 : 1
      func count() async throws -> Int {
        try await server.store.accounts.registrations(ofUser: server.id(of: "device")).count
      }
      _ = try await put("planted", "AA", as: "device", server)
      #expect(
        try await server.status(
          "DELETE", "/api/users/device/tokens" + (isAsked ? "?registrations" : ""), as: "admin")
          == 204)
      #expect(try await count() == remaining)
      _ = try await put("planted", "AA", as: "device", server)
      #expect(
        try await server.status(
          "PUT", "/api/users/device", as: "admin",
          body: #"{"role":"device","password":"another secret","endRegistrations":\#(isAsked)}"#)
          == 204)
      #expect(try await count() == remaining)
    }
  }

  @Test func `who loses a handle to another account is told`() async throws {
    try await TestServer.test { server in
      _ = try await put("phone", "AA", as: "publisher", server)
      let stream = try #require(
        try await server.execute("GET", "/api/push/stream", as: "publisher").stream)
      let events = try #require(
        try await server.execute("GET", "/api/events/stream", as: "publisher").stream)
      #expect(try await put("other", "AA", platform: "fcm", as: "device", server).status == 409)
      let id = try await server.register("AA", as: "device")
      #expect(id != "phone")
      let push = try #require(try await stream.nextEvent())
      #expect(push.data.contains("phone"))
      let event = try #require(try await events.nextEvent())
      #expect(event.name == "device" && event.data.contains(#""state":"taken over""#))
      stream.close()
      events.close()
      #expect(server.log.contain("the registration phone of user"))
    }
  }
}
