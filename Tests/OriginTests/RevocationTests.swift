import Delivery
import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import HTTP
@testable import Origin

/// What a user can still do who was removed, demoted or given another password after a request began.
@Suite(.timeLimit(.minutes(5))) struct RevocationTests {
  enum Change: CaseIterable { case removed, demoted, otherPassword }

  private static let routes = [
    ("PUT", "/api/users/backdoor", #"{"role":"admin","password":"a-good-secret"}"#),
    ("POST", "/api/notifications", TestServer.notification(to: ["device"])),
    ("PUT", "/api/assets/note/planted.txt", "text"),
    ("PATCH", "/api/notifications/0", #"{"message":"changed"}"#),
    ("PUT", "/api/register/phone", #"{"Platform":"apns","Handle":"AA"}"#),
    ("PUT", "/api/notifications/0/read", "{}"),
  ]

  private func change(_ user: String, _ change: Change, _ server: TestServer) async throws {
    switch change {
    case .removed: _ = try await server.store.accounts.removeUser(user)
    case .demoted:
      _ = try await server.store.administration.putUser(user, role: .device, hash: nil)
    case .otherPassword: _ = try await server.store.accounts.setPassword(of: user, hash: "*")
    }
  }

  /// Whether anything of what the requests ask for has happened.
  private func hasEffect(_ server: TestServer) async throws -> Bool {
    let (accounts, notifications) = (server.store.accounts, server.store.notifications)
    let effects = [
      try await accounts.user(named: "backdoor") != nil,
      try await server.store.assets.asset("note", "planted.txt") != nil,
      try await notifications.notification(0)?.message != "m",
      try await notifications.notification(1) != nil,
      try await accounts.deviceCounts() != [:],
    ]
    return effects.contains(true)
  }

  private func begin(
    _ method: String, _ path: String, _ size: Int, as user: String, _ server: TestServer
  ) async -> RawConnection {
    let connection = server.connect()
    connection.send(
      "\(method) \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: \(size)\r\n"
        + "Expect: 100-continue\r\nAuthorization: \(TestServer.authorization(user))\r\n\r\n")
    #expect(await connection.answer().status == 100, "\(method) \(path)")
    return connection
  }

  @Test(arguments: Change.allCases)
  func `a body that is complete after its user was changed has no effect`(_ change: Change)
    async throws
  {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      try await server.publish()
      try await server.addUser("mallory", .admin)
      var open: [RawConnection] = []
      for (method, path, body) in Self.routes {
        open.append(await begin(method, path, body.utf8.count, as: "mallory", server))
      }
      try await self.change("mallory", change, server)
      // Only the cache is told, so that the requests go on until their bodies are complete.
      server.origin.housekeeping.authenticator.invalidate(nil)
      for (connection, route) in zip(open, Self.routes) {
        connection.send(route.2)
        #expect(await connection.answer().status == 401, "\(route.0) \(route.1)")
      }
      #expect(try await !hasEffect(server))
    }
  }

  @Test(arguments: Change.allCases)
  func `uploads of a changed user end at once, and those of others go on`(_ change: Change)
    async throws
  {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      try await server.publish()
      try await server.addUser("mallory", .admin)
      let path = "/api/assets/note/planted.txt"
      let upload = await begin("PUT", path, 1 << 20, as: "mallory", server)
      upload.send(String(repeating: "x", count: 10_000))
      let other = await begin("PUT", "/api/assets/note/own.txt", 3, as: "publisher", server)
      let bodies = server.origin.housekeeping.bodies
      #expect(bodies.count == 2)
      try await self.change("mallory", change, server)
      try await server.origin.reload()
      #expect(await upload.answer().status == 401)
      #expect(await upload.isClosed())
      // The connection may be closed a moment before its request is forgotten.
      try await eventually("its body is not waited for") { bodies.count == 1 }
      other.send("own")
      #expect(await other.answer().status == 201)
      try await eventually("nobody sends a body") { bodies.count == 0 }
      #expect(try await !hasEffect(server))
    }
  }

  @Test func `a user who is removed by the API loses what is under way without a reload`()
    async throws
  {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      try await server.addUser("mallory", .publisher)
      let upload = await begin("PUT", "/api/assets/note/a.txt", 9, as: "mallory", server)
      #expect(try await server.status("DELETE", "/api/users/mallory", as: "admin") == 204)
      #expect(await upload.answer().status == 401)
      #expect(await upload.isClosed())
    }
  }

  @Test func `a password that is changed while it is compared gets no token`() async throws {
    try await TestServer.test { server in
      let phone = try await server.register("AA", as: "device")
      try await server.origin.reload()
      let fields: Fields = ["Authorization": TestServer.authorization("device")]
      let request = try Request("POST", "/api/register/\(phone)/token", fields: fields)
      guard case .deferred(_, let compare) = server.origin.responder.plan(for: request),
        case .asynchronous(_, let respond) = await compare()
      else { throw Unmet("the password is compared") }
      #expect(
        try await server.status(
          "PUT", "/api/users/device", as: "admin",
          body: #"{"role":"device","password":"another secret"}"#) == 204)
      let answer = try await TestResponse(respond())
      #expect(answer.status == 401 && answer.json["token"] == nil)
    }
  }

  @Test(arguments: ["PUT", "POST"])
  func `what is still being checked when its user is removed is not stored`(_ method: String)
    async throws
  {
    let files = try Scratch()
    let gate = Gate(in: files)
    try await TestServer.test { configuration, scratch in
      configuration.sandbox = "off"
      try scratch.installPlugin(
        "slow", manifest: #"{"verbs":["validate","render"]}"#,
        """
        [ "$RICH_VERB" = render ] || \(gate.command)
        printf 'Content-Type: application/json\\n\\n{}'
        """)
    } _: { server in
      try await server.addUser("mallory", .publisher)
      let path = method == "PUT" ? "/api/assets/slow/planted.txt" : "/api/notifications"
      let body = TestServer.notification(to: ["device"]).replacing("note", with: "slow")
      async let answer = server.execute(method, path, as: "mallory", body: body)
      try await eventually("the plugin is asked") { gate.isWaitedAt }
      #expect(try await server.status("DELETE", "/api/users/mallory", as: "admin") == 204)
      try await gate.open()
      #expect(try await answer.status == 401)
      #expect(try await server.store.assets.asset("slow", "planted.txt") == nil)
      #expect(try await server.store.notifications.notification(0) == nil)
    }
  }

  @Test func `a former publisher changes nothing that went to others`() async throws {
    try await TestServer.test { _, scratch in
      try scratch.installNote()
    } _: { server in
      try await server.publish()
      let later = #","notBefore":"2999-01-01T00:00:00Z""#
      try await server.publish(later)
      let own = try await server.execute(
        "POST", "/api/notifications", as: "publisher",
        body: TestServer.notification(to: ["publisher"]))
      #expect(own.status == 201)
      #expect(
        try await server.status(
          "PUT", "/api/users/publisher", as: "admin", body: #"{"role":"device"}"#) == 204)
      for id in 0...2 {
        let status = id == 2 ? 200 : 404
        let path = "/api/notifications/\(id)"
        #expect(
          try await server.status(
            "PATCH", path, as: "publisher", body: #"{"message":"changed"}"#) == status)
        #expect(try await server.status("GET", path + "/receipts", as: "publisher") == status)
        #expect(try await server.status("GET", path + "/deliveries", as: "publisher") == status)
        #expect(
          try await server.status("DELETE", path, as: "publisher") == (id == 2 ? 204 : 404))
      }
      let sent = try await server.execute("GET", "/api/notifications?sent", as: "publisher")
      #expect(sent.objects("notifications").map { $0["id"] as? Int } == [2])

      let all = try await server.execute(
        "GET", "/api/notifications?sent&sender=*", as: "admin")
      let states = all.objects("notifications").compactMap { $0["state"] as? String }
      #expect(states == ["withdrawn", "held", "sent"])
      #expect(
        all.objects("notifications")[1]["notBefore"] as? String == "2999-01-01T00:00:00Z")
      let details = try await server.execute("GET", "/api/notifications/1/details", as: "admin")
      #expect(details.json["held"] as? Bool == true)
      #expect(try await server.status("GET", "/api/notifications/1", as: "device") == 404)
      #expect(
        try await server.status(
          "PATCH", "/api/notifications/1", as: "admin", body: #"{"notBefore":null}"#) == 200)
      #expect(try await server.status("GET", "/api/notifications/1", as: "device") == 200)
    }
  }
}
