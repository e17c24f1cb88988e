import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The real server with every push service at once, each played by its stand-in.
@Suite(.timeLimit(.minutes(5))) struct PushServiceTests {
  @Test func `brings a notification over every lane, and every receipt to its publisher`()
    async throws
  {
    try await PushServices.lend(lanes: "embedded,apns,azure,webhook") { server, services in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      try await alice.register(handle: "AB12")
      try await alice.register(handle: "CD34", platform: "gcm")
      // Azure may know devices of a user who has registered none here.
      let new = NewNotification(
        "Look", richType: "img", payload: "logo.png", to: .users(["alice", "carol"]))
      let id = try await shop.create(new).id
      let silent =
        #"{"aps":{"content-available":1},"richId":"0","richMessage":"Look","richType":"img"}"#
      let apple = try #require(try await services.apns.pushes(1).first)
      #expect(apple.text == silent && apple.fields["apns-collapse-id"] == "rich-0")
      #expect(apple.fields["apns-push-type"] == "background")
      let azure = try #require(try await services.azure.pushes(1).first)
      #expect(azure.text == silent)
      #expect(azure.fields["servicebusnotification-tags"] == "username:carol")
      let hook = try #require(try await services.webhook.pushes(1).first)
      #expect(hook.json.target.handle.text == "CD34" && hook.json.push.richId.text == "0")
      try await eventually("each lane has sent it") {
        try server.deliveries(of: id) == ["apns sent", "azure sent", "webhook sent"]
      }
      var pushes = alice.events(after: "0").makeAsyncIterator()
      #expect(try await pushes.next()?.text == silent)
      _ = try await alice.media(id)
      try await eventually("the fetch is seen") {
        try server.deliveries(of: id) == ["apns fetched", "azure sent", "webhook fetched"]
      }
      try await alice.markRead(id)
      #expect(try server.deliveries(of: id) == ["apns read", "azure sent", "webhook read"])

      var events: [PushEvent] = []
      for try await event in shop.publisherEvents(after: "0") where event.text.contains("receipt") {
        events.append(event)
        if events.count == 5 { break }
      }
      try await server.restart(by: SIGKILL)
      for try await event in server.client("shop").publisherEvents(after: events.last?.id)
      where event.text.contains("receipt") {
        events.append(event)
        if events.count == 11 { break }
      }
      let told = try events.map { event in
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(event.text.utf8))
        return "\(json.lane.text ?? "user") \(json.state.text ?? "")"
      }
      let lanes = ["apns", "azure", "embedded", "webhook"]
      let expected =
        lanes.flatMap { ["\($0) queued", "\($0) sent"] }
        + ["embedded queued", "user fetched", "user read"]
      #expect(told.sorted() == expected.sorted())
    }
  }

  @Test(arguments: ["apns,azure,webhook", "azure,webhook,apns"])
  func `sends to a device by one service only, the first in the list that can`(
    lanes: String
  ) async throws {
    try await PushServices.lend(lanes: lanes) { server, services in
      let first = String(lanes.prefix { $0 != "," })
      try await server.client("alice").register(handle: "AB12")
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      try await eventually("it is sent") { try server.deliveries(of: id) == [first + " sent"] }
      let taken = try [services.apns, services.azure, services.webhook].map { service in
        try (service.tell(["do": "delivered"])["pushes"] as? [[String]] ?? []).count
      }
      #expect(taken == (first == "apns" ? [1, 0, 0] : [0, 1, 0]))
    }
  }

  @Test func `tells what each device did, and the others apart`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      var phone = server.client("alice")
      phone.device = try await phone.register(handle: "0A")
      let tablet = try await phone.register(handle: "0B")
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      _ = try await services.apns.pushes(2)
      _ = try await phone.media(id)
      try await eventually("the phone's fetch is seen, and no other") {
        try server.deliveries(of: id) == ["apns fetched", "apns sent"]
      }
      phone.device = tablet
      try await phone.markRead(id)
      #expect(try server.deliveries(of: id) == ["apns fetched", "apns read"])
      guard case .array(let receipts) = try server.details(id).receipts,
        case .array(let devices) = receipts.first?.devices
      else {
        Issue.record("There are no devices in the receipts.")
        return
      }
      #expect(Set(devices.map(\.state.text)) == ["fetched", "read"])
      for try await event in server.client("shop").publisherEvents(after: "0")
      where event.text.contains(#""state":"read""#) {
        #expect(event.text.contains(#""device":"\#(tablet)""#))
        break
      }
    }
  }

  @Test func `shows nobody's receipts but the publisher's own`() async throws {
    try await PushServices.lend(lanes: "embedded") { server, _ in
      for sender in ["shop", "news"] {
        let id = try await server.client(sender).create(.logo(to: "alice", sender)).id
        try await server.client("alice").markRead(id)
      }
      var ids: Set<Int?> = []
      for try await event in server.client("news").publisherEvents(after: "0")
      where event.text.contains("receipt") {
        let json = try JSONDecoder().decode(JSONValue.self, from: Data(event.text.utf8))
        ids.insert(json.notification.integer)
        if json.state.text == "read" { break }
      }
      #expect(ids == [1])
    }
  }

  @Test func `gives an alert a signed address, and shortens a message that is too long`()
    async throws
  {
    try await PushServices.lend(
      lanes: "apns", flags: ["--public-url", "https://push.example"]
    ) { server, services in
      let alice = server.client("alice")
      try await alice.register(handle: "AB12")
      for form in [PushForm.alert, .hybrid] {
        var new = NewNotification.logo(to: "alice", String(repeating: "Grüße ☃ ", count: 800))
        new.form = form
        let id = try await server.client("shop").create(new).id
        let push = try #require(try await services.apns.pushes(1).first)
        #expect(push.text.utf8.count <= 4096 && push.text.utf8.count > 4000)
        #expect(push.json.aps.alert.body.text?.hasSuffix("…") == true)
        #expect(push.fields["apns-push-type"] == "alert" && push.fields["apns-priority"] == "10")
        let url = try #require(push.json.att.url.text)
        #expect(url.hasPrefix("https://push.example/media/\(id)/ios?expires="))
        #expect(url.contains("&to="))
        let answer = try RawConnection(port: server.port).exchange(
          "GET \(url.dropFirst("https://push.example".count)) HTTP/1.1\r\n")
        #expect(answer.status == 200 && answer.fields["content-type"] == push.json.att.type.text)
        #expect(answer.body.count == push.json.att.size.integer)
        #expect(try await alice.details(id).message == new.message)
      }
    }
  }

  @Test func `sends the tutorial's alert over the lanes too`() async throws {
    try await PushServices.lend(lanes: "embedded,apns,webhook") { server, services in
      try await server.client("bob").register(handle: "B0B0")
      try await server.client("bob").register(handle: "B1B1", platform: "wns")
      let phone = try TutorialClient(port: server.port, user: "alice")
      #expect(try phone.notify("bob", text: "hi").status == 200)
      let text = #"{"aps":{"alert":"From alice: hi"}}"#
      #expect(try await services.apns.pushes(1).map(\.text) == [text])
      #expect(try await services.webhook.pushes(1).first?.json.push.aps.alert.text != nil)
      var pushes = server.client("bob").events(after: "0").makeAsyncIterator()
      #expect(try await pushes.next()?.text == text)
    }
  }

  @Test func `puts the unread count on the icon where asked, as it is when the push leaves`()
    async throws
  {
    try await PushServices.lend(lanes: "embedded,apns") { server, services in
      let alice = server.client("alice")
      try await alice.register(handle: "AB12")
      var new = NewNotification.logo(to: "alice")
      (new.form, new.badge) = (.alert, true)
      var badges: [Int?] = []
      for _ in 0..<3 {
        let id = try await server.client("shop").create(new).id
        badges += try await services.apns.pushes(1).map(\.json.aps.badge.integer)
        if id == 1 { try await alice.markRead(0) }
      }
      #expect(badges == [1, 2, 2])
      #expect(try await alice.inbox().unread == 2)
      var pushes = alice.events(after: "0").makeAsyncIterator()
      #expect(try await pushes.next()?.text.contains(#""badge":2}"#) == true)
    }
  }

  @Test(arguments: ["apns", "azure"])
  func `turns the fourth silent push of an hour into an alert, and says so`(
    lane: String
  ) async throws {
    try await PushServices.lend(lanes: lane) { server, services in
      let service = lane == "apns" ? services.apns : services.azure
      try await server.client("alice").register(handle: "AB12")
      for number in 0..<4 {
        _ = try await server.client("shop").create(.logo(to: "alice", "\(number)"))
        #expect(
          try await service.pushes(1).map { $0.fields["apns-push-type"] }
            == [number < 3 ? "background" : "alert"])
        try await eventually("it is settled") {
          try server.deliveries(of: number) == [lane + " sent"]
        }
      }
      guard case .array(let deliveries) = try server.details(3).deliveries else { return }
      #expect(deliveries.map { $0.reason.text?.prefix(16) } == ["Sent as an alert"])
    }
  }

  @Test func `merges what waits beyond three silent pushes an hour, and says so`() async throws {
    try await PushServices.lend(lanes: "apns") { server, services in
      try await server.client("alice").register(handle: "AB12")
      // The service refuses the key until all are there.
      try services.apns.answer(["*": [["status": 403, "reason": "InvalidProviderToken"]]])
      for number in 0..<6 {
        _ = try await server.client("shop").create(.logo(to: "alice", "\(number)"))
        if number == 0 { _ = try await services.apns.pushes(1) }
      }
      let admin = server.client("admin")
      try await eventually("the lane is paused") {
        try await admin.lanes().lanes.first?.state == "paused"
      }
      try services.apns.answer([:])
      _ = try services.apns.tell(["do": "requests"])
      _ = try await admin.resume()
      let pushes = try await services.apns.pushes(4)
      #expect(pushes.filter { $0.fields["apns-push-type"] == "background" }.count == 3)
      let merged = try #require(pushes.first { $0.fields["apns-push-type"] == "alert" })
      #expect(merged.json.aps.alert.body.text == "5\n4\n3")
      #expect(merged.json.richIds == .array(["5", "4", "3"].map(JSONValue.string)))
      var reasons: [String] = []
      for id in 3..<6 {
        try await eventually("it is settled") { try server.deliveries(of: id) == ["apns sent"] }
        guard case .array(let deliveries) = try server.details(id).deliveries else { return }
        reasons += deliveries.compactMap { $0.reason.text.map { String($0.prefix(29)) } }
      }
      let id = try #require(merged.fields["apns-id"]?.prefix(7))
      #expect(
        reasons == [
          "Sent as an alert for 3 notifi", "Merged into the alert \(id)",
          "Merged into the alert \(id)",
        ])
    }
  }

  @Test func `checks every service without reaching anybody, and says what is wrong`()
    async throws
  {
    let services = try PushServices()
    try services.apns.answer(["*": [["status": 400, "reason": "BadDeviceToken"]]])
    let check = ["push", "check", "--push", "embedded,azure,apns,webhook"]
    let good = try await Child.run("richpush", check, environment: services.environment)
    #expect(good.exitCode == 0, "\(good.output) \(good.errors)")
    #expect(good.output.count == 4 && good.output.allSatisfy { $0.hasPrefix("good ") })
    for (name, value, complaint) in [
      ("RICHPUSH_APNS_TOPIC", "com.example.other", "bad  apns: "),
      ("RICHPUSH_APNS_KEY_ID", "ZZZ123DEFG", "InvalidProviderToken"),
      ("RICHPUSH_AZURE_HUB", "tablets", "bad  azure: "),
      ("RICHPUSH_WEBHOOK_SECRET", "another secret of some length", "bad  webhook: "),
      ("RICHPUSH_PUSH_CA", services.apns.certificates, "bad  azure: "),
    ] {
      let bad = try await Child.run(
        "richpush", check, environment: services.environment.merging([name: value]) { $1 })
      #expect(bad.exitCode == 1 && bad.output.contains { $0.contains(complaint) }, "\(bad.output)")
    }
  }
}
