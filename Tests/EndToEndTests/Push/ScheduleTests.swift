import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Notifications that wait, change and go, and the operator who hears of it.
@Suite(.timeLimit(.minutes(5))) struct ScheduleTests {
  @Test func `checks a notification now and pushes it at its time, over a kill too`() async throws {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      await #expect(throws: RichPushError.self) {
        var wrong = NewNotification.logo(to: "alice")
        (wrong.payload, wrong.notBefore) = ("missing.png", Date(timeIntervalSinceNow: 60))
        _ = try await shop.create(wrong)
      }
      var later = NewNotification.logo(to: "alice", "later")
      later.notBefore = Date(timeIntervalSinceNow: 3600)
      let held = try await shop.create(later)
      let now = try await shop.create(.logo(to: "alice", "now"))
      let alice = server.client("alice")
      #expect(try await alice.inbox().notifications.map(\.id) == [now.id])
      await #expect(throws: RichPushError.self) { try await alice.media(held.id) }
      await #expect(throws: RichPushError.self) { try await alice.details(held.id) }
      #expect(try await shop.details(held.id).notBefore != nil)
      let soon = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded() + 2)
      _ = try await shop.amend(held.id, Amendment(notBefore: soon))
      try await server.restart(by: SIGKILL)
      var events = alice.events(after: "0").makeAsyncIterator()
      #expect(try await events.next()?.push.message.text == "now")
      #expect(try await events.next()?.push.message.text == "later")
      #expect(Date() >= soon)
      #expect(try await alice.media(held.id).contentType == "image/png")
      #expect(try await alice.inbox().notifications.map(\.id) == [now.id, held.id])
    }
  }

  @Test func `changes what no device has fetched, and nothing else`() async throws {
    try await RunningServer.lend { server in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      let first = try await shop.create(.logo(to: "alice", "first"))
      try server.scratch.drop([1], as: "assets/img/logo.png")
      let changed = try await shop.amend(first.id, Amendment(message: "second"))
      #expect(changed.message == "second" && changed.payload == "logo.png")
      var events = alice.events(after: "0").makeAsyncIterator()
      // An event says what its notification says when it is sent.
      for _ in 0..<2 { #expect(try await events.next()?.push.message.text == "second") }
      let media = try await alice.media(first.id)
      #expect([UInt8](media.bytes) == (try Package.bytes("assets/img/logo.png")))
      try await eventually("the fetch is noted") {
        try await Self.status { try await shop.amend(first.id, Amendment(message: "third")) } == 409
      }
      #expect(
        try await Self.status { try await alice.amend(first.id, Amendment(message: "mine")) } == 404
      )
      let answer = try Self.patch(#"{"to":["username:eve"]}"#, first.id, server)
      #expect(answer.status == 400 && answer.text.contains("to of a notification"))
      #expect(try Self.patch(#"{"mesage":"x"}"#, first.id, server).status == 400)
      #expect(try Self.patch(#"{"message":null,"payload":null}"#, first.id, server).status == 422)
      #expect(
        try Self.patch(#"{"notBefore":"2099-01-01T00:00:00Z"}"#, first.id, server).status == 409)
    }
  }

  @Test(arguments: PostgresServer.isInstalled ? [false, true] : [false])
  func `sends at the minute of each device's clock, once, when it is killed in between`(
    onPostgres: Bool
  ) async throws {
    let database = onPostgres ? try PostgresServer() : nil
    let flags = database.map { ["--database", $0.url] } ?? []
    try await PushServices.lend(lanes: "apns", flags: flags) { server, services in
      // The next minute in UTC; an hour earlier and later in the others.
      let minute = Date(
        timeIntervalSince1970: ((Date().timeIntervalSince1970 + 10) / 60).rounded(.up) * 60)
      for (handle, zone) in [("A1", "Etc/GMT-1"), ("B2", "UTC"), ("C3", "Etc/GMT+1")] {
        let client = server.client("alice")
        var change = DeviceChange()
        change.timeZone = .value(zone)
        _ = try await client.updateDevice(try await client.register(handle: handle), change)
      }
      var new = NewNotification.logo(to: "alice")
      new.localTime = LocalTime(at: String(minute.formatted(.iso8601).prefix(16)), zone: "UTC")
      let id = try await server.client("shop").create(new).id
      // What was being sent when it is killed would be sent again, under the same ID.
      try await eventually("the first device gets it") {
        try server.deliveries(of: id) == ["apns queued", "apns queued", "apns sent"]
      }
      try await server.restart(by: SIGKILL)
      try await eventually("the second device gets it") {
        try server.deliveries(of: id) == ["apns queued", "apns sent", "apns sent"]
      }
      try await server.restart(by: SIGKILL)
      let taken = try services.apns.takenPushes()
      #expect(taken.map(\.device).map { $0.uppercased() } == ["A1", "B2"])
      #expect(taken[0].time < minute && taken[1].time >= minute)
      try await server.client("shop").withdraw(id)
      #expect(try server.details(id).counts.sent == .number(2))
    }
  }

  @Test func `withdraws for everybody what its publisher regrets`() async throws {
    try await RunningServer.lend { server in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      let id = try await shop.create(.logo(to: "alice")).id
      #expect(try await Self.status { try await alice.withdraw(id) } == 404)
      try await shop.withdraw(id)
      #expect(try await Self.status { try await alice.media(id) } == 404)
      #expect(try await Self.status { try await shop.withdraw(id) } == 404)
      #expect(try await alice.inbox().notifications.isEmpty)
    }
  }

  @Test func `takes a key from the field that the draft standard names`() async throws {
    try await RunningServer.lend { server in
      let body = #"{"message":"m","richType":"img","payload":"logo.png","to":["username:bob"]}"#
      let ids = try (0..<2).map { _ in
        let answer = try Self.request(
          "POST", "/api/notifications", ["Idempotency-Key: \"k 1\""], body, server)
        return answer.fields["location"]
      }
      #expect(ids == ["/api/notifications/0", "/api/notifications/0"])
    }
  }

  @Test func `lets the command line hold, change and take back`() async throws {
    try await RunningServer.lend { server in
      let environment = ["RICHPUSH_SERVER": server.endpoint.absoluteString]
      func richpush(_ words: String...) async throws -> Child.Result {
        try await Child.run("richpush", words, environment: environment)
      }
      let sent = try await richpush(
        "notify", "--to", "nobody", "--payload", "logo.png", "--not-before", "1h", "Soon")
      #expect(
        sent.output == ["#0 to username:nobody (1 user, no device yet): /api/notifications/0"])
      #expect(sent.errors.contains("knows no user nobody"))
      let amended = try await richpush("amend", "#0", "--message", "Now", "--not-before", "1s")
      #expect(amended.output == [#"#0 is now "Now": img logo.png"#], "\(amended.errors)")
      var events = server.client("nobody").events(after: "0").makeAsyncIterator()
      #expect(try await events.next()?.push.message.text == "Now")
      #expect(try await richpush("withdraw", "0").output == ["#0 is withdrawn"])
      #expect(try await richpush("withdraw", "0").exitCode == 66)
      #expect(try await richpush("amend", "0").exitCode == 64)
      #expect(try await richpush("withdraw", "zero").exitCode == 64)
    }
  }

  private static func status(_ body: () async throws -> some Any) async throws -> Int? {
    do {
      _ = try await body()
      return nil
    } catch let error as RichPushError { return error.status }
  }

  private static func patch(
    _ body: String, _ id: Int, _ server: RunningServer
  ) throws -> RawConnection.Answer {
    try request("PATCH", "/api/notifications/\(id)", [], body, server)
  }

  private static func request(
    _ method: String, _ path: String, _ fields: [String], _ body: String, _ server: RunningServer
  ) throws -> RawConnection.Answer {
    let credentials = Data("shop:shop".utf8).base64EncodedString()
    let head = ["\(method) \(path) HTTP/1.1", "Authorization: Basic \(credentials)"] + fields
    let lines = head + ["Content-Length: \(body.utf8.count)", ""]
    return try RawConnection(port: server.port).exchange(
      lines.joined(separator: "\r\n"), body: Array(body.utf8))
  }
}
