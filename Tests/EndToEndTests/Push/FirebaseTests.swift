import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Android devices that Firebase delivers to, from their registration to the receipt.
@Suite(.timeLimit(.minutes(5))) struct FirebaseTests {
  private func lend(
    _ fcm: StandIn, lanes: String = "embedded,fcm", messages: String = "data",
    to body: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.lend(
      flags: ["--demo", "--push", lanes, "--public-url", "http://127.0.0.1"],
      environment: [
        "RICHPUSH_PUSH_CA": fcm.certificates, "RICHPUSH_FCM_ENDPOINT": fcm.url,
        "RICHPUSH_FCM_CREDENTIALS_FILE": fcm.folder + "/service-account.json",
        "RICHPUSH_FCM_MESSAGES": messages,
      ], to: body)
  }

  /// Registers a device of alice, and returns what the server says about it.
  @discardableResult
  private func register(_ token: String, on server: RunningServer) throws -> String {
    let body = Array(#"{"platform":"fcm","handle":"\#(token)","tags":[]}"#.utf8)
    let answer = try RawConnection(port: server.port).exchange(
      "PUT /api/register/\(token) HTTP/1.1\r\nAccept: application/json\r\n"
        + "Content-Length: \(body.count)\r\n" + RunningServer.credentials("alice") + "\r\n",
      body: body)
    #expect(answer.status == 200)
    return answer.text
  }

  private func messages(_ fcm: StandIn, _ count: Int) async throws -> [JSONValue] {
    var seen: [[String: Any]] = []
    try await eventually("\(count) messages arrive") {
      seen += try fcm.tell(["do": "requests"])["requests"] as? [[String: Any]] ?? []
      return seen.count >= count
    }
    return try seen.map {
      try JSONDecoder().decode(
        JSONValue.self, from: JSONSerialization.data(withJSONObject: $0["message"] ?? [:]))
    }
  }

  /// Fetches the media of a link in a push, without a password.
  private func fetch(_ link: String?, from server: RunningServer) throws -> Int {
    let url = try #require(link.flatMap { URLComponents(string: $0) })
    return try RawConnection(port: server.port).exchange(
      "GET \(url.path)?\(url.query ?? "") HTTP/1.1\r\n"
    ).status
  }

  @Test(arguments: ["data", "notification"])
  func `a phone gets the notification, and its fetch is its receipt`(messages: String) async throws
  {
    let fcm = try StandIn("fcm")
    try await lend(fcm, messages: messages) { server in
      try register("phone", on: server)
      let shop = server.client("shop")
      let new = NewNotification(
        "Look 🦊", richType: "img", payload: "logo.png", to: .users(["alice"]),
        expires: Date() + 600)
      let created = try await shop.create(new)
      #expect(created.reach?.devices == 1 && created.reach?.devicesWithoutLane == 0)
      let message = try #require(try await self.messages(fcm, 1).first)
      #expect(message.token.text == "phone" && message.android.priority.text == "HIGH")
      #expect(message.android.collapseKey.text == "rich-\(created.id)")
      let life = try #require(message.android.ttl.text.flatMap { Int($0.dropLast()) })
      #expect((500...600).contains(life))
      #expect(message.data.richId.text == String(created.id))
      let link = messages == "data" ? message.data.attUrl.text : message.notification.image.text
      let text = messages == "data" ? message.data.richMessage.text : message.notification.body.text
      #expect(text == "Look 🦊" && link?.contains("/android?expires=") == true)
      try await eventually("it is recorded") {
        try server.deliveries(of: created.id) == ["fcm sent"]
      }
      #expect(try fetch(link, from: server) == 200)
      try await eventually("the receipt names the device") {
        try server.deliveries(of: created.id) == ["fcm fetched"]
      }
      // The lane counts it after it is recorded.
      try await eventually("it is counted") {
        try server.measured(#"richpush_pushes_total{lane="fcm",outcome="sent"}"#) == 1
      }
    }
  }

  @Test func `a registration that Firebase ended goes, and no other`() async throws {
    let fcm = try StandIn("fcm")
    try fcm.answer([
      "gone": [["error": "UNREGISTERED"]],
      "busy": [["status": 502, "raw": "<html>Bad gateway</html>"], ["status": 200]],
      "foreign": [["error": "SENDER_ID_MISMATCH"]],
    ])
    try await lend(fcm) { server in
      for device in ["gone", "busy", "foreign"] {
        try register(device, on: server)
      }
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice")).id
      try await eventually("all are settled") {
        try server.deliveries(of: id) == ["fcm failed", "fcm failed", "fcm sent"]
      }
      #expect(try await shop.create(.logo(to: "alice")).reach?.devices == 2)
    }
  }

  @Test func `nothing acknowledged is lost when the server is killed, or when it is changed`()
    async throws
  {
    let fcm = try StandIn("fcm")
    try fcm.answer(["*": [["error": "UNAVAILABLE"]]])
    try await lend(fcm) { server in
      try register("phone", on: server)
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice", "first")).id
      _ = try await messages(fcm, 1)
      try await server.restart(by: SIGKILL) {
        try fcm.answer([:])
        try fcm.tell(["do": "requests"])
      }
      _ = try await messages(fcm, 1)
      try await eventually("it is recorded") { try server.deliveries(of: id) == ["fcm sent"] }
      try fcm.tell(["do": "requests"])
      _ = try await server.client("shop").amend(id, Amendment(message: "second"))
      let changed = try #require(try await messages(fcm, 1).first)
      #expect(changed.data.richMessage.text == "second")
      #expect(changed.android.collapseKey.text == "rich-\(id)")
    }
  }

  @Test func `Azure's hub gets nothing for an Android device, which is told so`() async throws {
    try await PushServices.lend(lanes: "azure") { server, services in
      let answer = try register("phone", on: server)
      #expect(answer.contains(#""deliverable":false"#) && answer.contains("do not send to fcm"))
      let created = try await server.client("shop").create(.logo(to: "alice"))
      #expect(created.reach?.devicesWithoutLane == 1)
      #expect(try server.deliveries(of: created.id) == [])
    }
  }
}
