import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Browsers and UnifiedPush distributors, from their registration to the receipt.
@Suite(.timeLimit(.minutes(5))) struct WebPushTests {
  /// A server whose operator allows the stand-in's address, and with its own address in links.
  private func lend(
    _ service: StandIn, to body: (RunningServer) async throws -> Void
  ) async throws {
    try await RunningServer.lend(
      flags: [
        "--demo", "--push", "embedded,webpush", "--public-url", "http://127.0.0.1",
        "--push-allow", "localhost:\(service.port)",
      ], environment: ["RICHPUSH_PUSH_CA": service.certificates], to: body)
  }

  /// Registers a subscription and returns the response.
  private func register(
    _ id: String, _ subscription: [String: Any], of user: String = "alice", on server: RunningServer
  ) throws -> (status: Int, text: String) {
    let registration: [String: Any] = [
      "platform": "webpush", "handle": subscription["endpoint"] ?? "",
      "keys": ["p256dh": subscription["p256dh"] ?? "", "auth": subscription["auth"] ?? ""],
    ]
    let body = Array(try JSONSerialization.data(withJSONObject: registration))
    let response = try RawConnection(port: server.port).exchange(
      "PUT /api/register/\(id) HTTP/1.1\r\nAccept: application/json\r\n"
        + "Content-Length: \(body.count)\r\n" + RunningServer.credentials(user) + "\r\n", body: body
    )
    return (response.status, response.text)
  }

  private func pushes(_ service: StandIn, _ count: Int) async throws -> [(
    name: String, json: JSONValue
  )] {
    var seen: [[String: Any]] = []
    try await eventually("\(count) pushes arrive") {
      seen += try service.tell(["do": "requests"])["requests"] as? [[String: Any]] ?? []
      return seen.count >= count
    }
    return try seen.map {
      let text = $0["text"] as? String ?? ""
      return (
        $0["name"] as? String ?? "",
        try JSONDecoder().decode(JSONValue.self, from: Data(text.utf8))
      )
    }
  }

  @Test func `a browser gets a push that only it can read, and its fetch is its receipt`()
    async throws
  {
    let service = try StandIn("webpush")
    try await lend(service) { server in
      let subscription = try service.tell(["do": "subscribe", "name": "firefox"])
      let answer = try register("browser", subscription, on: server)
      #expect(answer.status == 200)
      #expect(answer.text.contains(#""deliverable":true"#) && answer.text.contains(#""webpush""#))
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice", "Look 🦊")).id
      let push = try #require(try await pushes(service, 1).first).json
      #expect(push.richId.text == String(id))
      #expect(push.richMessage.text == "Look 🦊")
      #expect(push.aps == .null)
      let link = try #require(push.att.url.text)
      let target = try #require(URLComponents(string: link))
      let media = try RawConnection(port: server.port).exchange(
        "GET \(target.path)?\(target.query ?? "") HTTP/1.1\r\n")
      #expect(media.status == 200)
      try await eventually("the receipt names the device") {
        try server.deliveries(of: id).contains("webpush:\(service.url) fetched")
      }
    }
  }

  @Test func `a subscription that ended goes, and a new endpoint gets what was not sent`()
    async throws
  {
    let service = try StandIn("webpush")
    let other = try StandIn("webpush")
    let scratch = try Scratch()
    let authorities = try [service, other].map {
      try String(contentsOfFile: $0.certificates, encoding: .utf8)
    }
    let anchor = try scratch.drop(Array(authorities.joined().utf8), as: "ca.pem")
    try service.answer(["old": [["status": 503]], "gone": [["status": 410]]])
    try await RunningServer.lend(
      flags: [
        "--demo", "--push", "webpush", "--push-allow", "localhost:\(service.port)",
        "--push-allow", "localhost:\(other.port)",
      ], environment: ["RICHPUSH_PUSH_CA": anchor.path]
    ) { server in
      let old = try service.tell(["do": "subscribe", "name": "old"])
      _ = try register("browser", old, on: server)
      let shop = server.client("shop")
      _ = try await shop.create(.logo(to: "alice", "first"))
      _ = try await pushes(service, 1)
      let new = try other.tell(["do": "subscribe", "name": "new"])
      _ = try register("browser", new, on: server)
      let moved = try #require(try await pushes(other, 1).first)
      #expect(moved.name == "new" && moved.json.richMessage.text == "first")

      let gone = try service.tell(["do": "subscribe", "name": "gone"])
      _ = try register("phone", gone, of: "bob", on: server)
      let lost = try await shop.create(.logo(to: "bob")).id
      _ = try await pushes(service, 1)
      // Another service takes a push of this server, so that it is not the server that is refused.
      _ = try await shop.create(.logo(to: "alice", "second"))
      try await eventually("it is given up") {
        try server.deliveries(of: lost) == ["webpush:\(service.url) failed"]
      }
      #expect(try await shop.create(.logo(to: "bob")).reach?.devices == 0)
    }
  }

  @Test func `nothing acknowledged is lost when the server is killed`() async throws {
    let service = try StandIn("webpush")
    try service.answer(["*": [["status": 503]]])
    try await lend(service) { server in
      let subscription = try service.tell(["do": "subscribe", "name": "a"])
      _ = try register("browser", subscription, on: server)
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      _ = try await pushes(service, 1)
      let key = try server.json("/api/push/vapid", as: "alice").key.text
      #expect(key?.count == 87)
      try await server.restart(by: SIGKILL) {
        try service.answer([:])
        try service.tell(["do": "requests"])
      }
      _ = try await pushes(service, 1)
      try await eventually("it is recorded") {
        try server.deliveries(of: id) == ["webpush:\(service.url) sent"]
      }
      #expect(try server.json("/api/push/vapid", as: "alice").key.text == key)
    }
  }

  @Test func `the command device decrypts what it gets, and its fetch is its receipt`() async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--push", "webpush"]) { server in
      let folder = try Scratch()
      let flags = ["device", "--webpush", "--user", "alice", "--folder", folder.folder.path]
      func start() throws -> Child {
        try Child(
          try Package.program("richpush").path, flags + ["--count", "1"],
          environment: ["RICHPUSH_SERVER": server.endpoint.absoluteString])
      }
      var ids: [Int] = []
      for message in ["Look 🦊", "again"] {
        let device = try start()
        var lines = device.lines.makeAsyncIterator()
        let greeting = await lines.next() ?? ""
        #expect(greeting.hasPrefix("alice receives at http://127.0.0.1:"), "\(device.errors)")
        let created = try await server.client("shop").create(.logo(to: "alice", message))
        #expect(created.reach?.devices == 1)
        ids.append(created.id)
        let line = await lines.next() ?? ""
        #expect(line.contains("#\(created.id) img \"\(message)\": image/png"), "\(line)")
        #expect(await device.exitCode() == 0)
      }
      let id = ids[1]
      try await eventually("the receipt names the device") {
        guard case .array(let receipts) = try server.details(id).receipts else { return false }
        guard case .array(let devices)? = receipts.first?.devices else { return false }
        return devices.count == 1 && devices[0].fetched.text != nil
          && devices[0].registration.text?.hasPrefix("device-") == true
      }
    }
  }

  @Test func `refuses a registration that could never get a push`() async throws {
    let service = try StandIn("webpush")
    try await lend(service) { server in
      let good = try service.tell(["do": "subscribe", "name": "a"])
      for (name, value) in [
        ("endpoint", "http://push.example/a"), ("endpoint", "https://a@push.example/"),
        ("endpoint", "https://push.example/" + String(repeating: "a", count: 1000)),
        ("p256dh", String(repeating: "A", count: 87)), ("auth", "AAAA"),
      ] {
        var bad = good
        bad[name] = value
        #expect(try register("browser", bad, on: server).status == 422, "\(name) \(value)")
      }
      #expect(try register("browser", good, on: server).status == 200)
    }
  }

  @Test func `does not start without a contact, and says so`() async throws {
    let scratch = try Scratch()
    let result = try await Child.run(
      try Package.program("richpush").path,
      ["serve", "--listen", "127.0.0.1:0", "--data", scratch.folder.path, "--push", "webpush"])
    #expect(result.exitCode != 0)
    #expect(result.errors.contains("--push-contact"))
  }
}
