import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Who a push is for, where the answer is not a device of ours that says its name.
@Suite(.timeLimit(.minutes(5))) struct AddresseeTests {
  @Test func `reaches by Azure's tags who has devices in the hub alone, and says so by user`()
    async throws
  {
    try await PushServices.lend(lanes: "azure") { server, services in
      try services.azure.tell([
        "do": "devices",
        "devices": ["B0": ["username:bob", "news"], "CA": ["username:carol"], "DA": ["news"]],
      ])
      try await server.client("alice").register(handle: "AB12")
      let new = NewNotification(
        "Look", richType: "img", payload: "logo.png", to: .users(["alice", "bob", "carol"]))
      let id = try await server.client("shop").create(new).id
      var reached: [String: [String]] = [:]
      try await eventually("a push comes for each") {
        let requests = try services.azure.tell(["do": "requests"])["requests"] as? [[String: Any]]
        for request in requests ?? [] {
          let fields = request["headers"] as? [String: String] ?? [:]
          #expect(fields["apns-push-type"] == "background" && fields["apns-priority"] == "5")
          #expect(fields["apns-collapse-id"] == "rich-0")
          let address =
            fields["ServiceBusNotification-Tags"] ?? fields["ServiceBusNotification-DeviceHandle"]
          reached[address ?? ""] = request["reached"] as? [String]
        }
        return reached.count >= 3
      }
      #expect(reached == ["AB12": [], "username:bob": ["B0"], "username:carol": ["CA"]])
      try await eventually("each is sent") {
        guard case .array(let items) = try server.details(id).deliveries else { return false }
        let sent = items.filter { $0.state.text == "sent" }.map { $0.user.text ?? "" }
        return sent.sorted() == ["alice", "bob", "carol"]
      }
      // The tutorial's alert goes the same way.
      let tutorial = try TutorialClient(port: server.port, user: "alice")
      #expect(try tutorial.notify("bob", text: "hi").status == 200)
      let alert = try #require(try await services.azure.pushes(1).first)
      #expect(alert.fields["servicebusnotification-tags"] == "username:bob")
      #expect(alert.text == #"{"aps":{"alert":"From alice: hi"}}"#)
    }
  }

  @Test func `reaches devices of each format in the hub, and sends none again because of another`()
    async throws
  {
    try await PushServices.lend(lanes: "azure,azure-fcmv1,azure-browser") { server, services in
      let devices = ["apple": "B0", "fcmv1": "phone", "browser": "https://a.example"]
      for (format, device) in devices {
        let tags = [device: ["username:bob"]]
        try services.azure.tell(["do": "devices", "format": format, "devices": tags])
      }
      try services.azure.answer(["fcmv1 username:bob": [["status": 503], ["status": 201]]])
      let new = NewNotification(
        "Look", richType: "img", payload: "logo.png", to: .users(["bob"]))
      let id = try await server.client("shop").create(new).id
      let sent = ["azure sent", "azure-browser sent", "azure-fcmv1 sent"]
      try await eventually("each is sent") { try server.deliveries(of: id) == sent }
      let requests = try #require(
        try services.azure.tell(["do": "requests"])["requests"] as? [[String: Any]])
      let reached = requests.flatMap { $0["reached"] as? [String] ?? [] }
      #expect(reached.sorted() == ["B0", "https://a.example", "phone", "phone"])
      for request in requests {
        let push = try SeenPush(request)
        switch push.fields["servicebusnotification-format"] {
        case "apple": #expect(push.json.aps != .null && push.fields["apns-id"] != nil)
        case "fcmv1":
          #expect(push.json.message.data.richMessage.text == "Look")
          #expect(push.fields["apns-id"] == nil)
        case "browser": #expect(push.json.richMessage.text == "Look")
        case let other: Issue.record("\(other ?? "no format")")
        }
      }
      // The tutorial's alert goes the same way.
      let tutorial = try TutorialClient(port: server.port, user: "alice")
      #expect(try tutorial.notify("bob", text: "hi").status == 200)
      let alerts = Set(try await services.azure.pushes(3).map(\.text))
      #expect(alerts.contains(#"{"aps":{"alert":"From alice: hi"}}"#))
      #expect(alerts.contains(#"{"richMessage":"From alice: hi"}"#) && alerts.count == 3)
    }
  }

  @Test func `wakes a user's devices in the hub three times an hour, and shows what comes then`()
    async throws
  {
    try await PushServices.lend(lanes: "azure") { server, services in
      for number in 0..<4 {
        _ = try await server.client("shop").create(.logo(to: "bob", "\(number)"))
        #expect(
          try await services.azure.pushes(1).map { $0.fields["apns-push-type"] }
            == [number < 3 ? "background" : "alert"])
        try await eventually("it is settled") {
          try server.deliveries(of: number) == ["azure sent"]
        }
      }
    }
  }

  @Test func `a fetch by the address in a push is that device's, whoever else got it`()
    async throws
  {
    try await PushServices.lend(
      lanes: "apns", flags: ["--public-url", "https://push.example"]
    ) { server, services in
      let alice = server.client("alice")
      let phone = try await alice.register(handle: "0A")
      try await alice.register(handle: "0B")
      try await server.client("bob").register(handle: "0C")
      var new = NewNotification(
        "Look", richType: "img", payload: "logo.png", to: .users(["alice", "bob"]))
      new.form = .alert
      let id = try await server.client("shop").create(new).id
      let pushes = try await services.apns.pushes(3)
      var addresses = try pushes.map { push in
        let url = try #require(push.json.att.url.text)
        return (push.fields[":path"] ?? "", String(url.dropFirst("https://push.example".count)))
      }
      #expect(Set(addresses.map(\.1)).count == 3)
      addresses.sort { $0.0 < $1.0 }
      let (own, others) = (addresses[0].1, addresses[1].1)
      // The media opens without an ending, and with a push's own; any other would be one more spelling.
      let shared = try #require(own.split(separator: "&to=").first.map(String.init))
      let token = try #require(others.split(separator: ".").last)
      #expect(try fetch(shared, from: server) == 200)
      for _ in 0..<2 {
        for ending in ["&to=", "&to=x", "&to=1.", "&to=1.\(token)x", "&to=9999.\(token)"] {
          #expect(try fetch(shared + ending, from: server) == 403)
        }
        #expect(try fetch(own + "&to=1", from: server) == 403)
        #expect(try fetch(own.replacing("&to=", with: "&to=0"), from: server) == 403)
      }
      #expect(try fetch("/media/\(id)/ios?expires=1" + own.suffix(60), from: server) == 403)
      #expect(try server.deliveries(of: id).allSatisfy { !$0.hasSuffix("fetched") })
      for _ in 0..<3 { #expect(try fetch(own, from: server) == 200) }
      try await eventually("it is the phone's") {
        guard case .array(let items) = try server.details(id).deliveries else { return false }
        let fetched = items.filter { $0.state.text == "fetched" }
        return fetched.map(\.registration.text) == [phone]
      }
    }
  }

  private func fetch(_ address: String, from server: RunningServer) throws -> Int {
    try RawConnection(port: server.port).exchange("GET \(address) HTTP/1.1\r\n").status
  }
}
