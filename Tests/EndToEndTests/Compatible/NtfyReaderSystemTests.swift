import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What ntfy's Android app asks the real server for.
@Suite(.timeLimit(.minutes(5))) struct NtfyReaderSystemTests {
  @Test func `the app subscribes, shows a picture, and goes on where it was after a restart`()
    async throws
  {
    try await NtfyPhone.lend { server, place in
      let shop = server.client("shop", password: NtfyPhone.password)
      let phone = try await NtfyPhone(["news", "inbox"], at: place, of: server)
      #expect(phone.link == "ntfy://\(place)/news?secure=false")
      #expect(try await phone.ask("auth", "news")[0].status == .number(200))
      let other = try await phone.ask("auth", "sport")[0]
      #expect(other.status == .number(403) && other.body.code == .number(40301))

      var picture = NewNotification("Sea", to: .anyTag(["news"]))
      (picture.richType, picture.payload) = ("img", "beach.jpg")
      let first = try await shop.create(picture)
      let filled = try await phone.ask("poll", "news", "all")
      #expect(filled.map(\.message.text) == ["Sea"])
      let attachment = filled[0].attachment
      let size = try #require(attachment.size.integer)
      #expect(attachment.type.text == "image/jpeg" && size <= 1_000_000)
      #expect(attachment.expires.integer ?? 0 > Int(Date().timeIntervalSince1970))
      let media = try await phone.ask("fetch", try #require(attachment.url.text))[0]
      #expect(media.type.text == "image/jpeg" && media.size == .number(Double(size)))
      try await eventually("the receipt names the phone") {
        try await shop.details(first.id).receipts?.first?.devices.contains { $0.fetched != nil }
          == true
      }

      // The foreground service: one connection for all topics.
      let service = try phone.open("stream", "news,inbox", "none", "100")
      var lines = service.lines.makeAsyncIterator()
      let opening = try NtfyPhone.message(await lines.next())
      #expect(opening.event.text == "open")
      _ = try await shop.create(NewNotification("one", to: .users(["alice"])))
      let one = try NtfyPhone.message(await lines.next())
      #expect(one.message.text == "one" && one.topic.text == "inbox")
      service.send(SIGKILL)
      _ = await service.exitCode()
      // What happens while the phone is away.
      let two = try await shop.create(NewNotification("two", to: .anyTag(["news"])))
      try await server.restart(by: SIGTERM)
      let again = server.client("shop", password: NtfyPhone.password)
      _ = try await again.create(NewNotification("three", to: .anyTag(["news"])))
      var amendment = Amendment()
      amendment.text = .value("two, amended")
      _ = try await again.amend(two.id, amendment)
      let id = try #require(one.id.text)
      for action in ["stream", "ws"] {
        let resumed = try await phone.ask(action, "news", id, "3").dropFirst()
        #expect(resumed.last?.message.text == "two, amended", "\(action)")
        #expect(resumed.first?.sequence_id == resumed.last?.sequence_id)
        #expect(Set(resumed.map { $0.id.text }).count == 3 && !resumed.contains { $0.id == one.id })
      }
      #expect(
        try await phone.ask("poll", "news", id).map(\.message.text) == ["three", "two, amended"])
      guard case .array(let cached)? = try await phone.ask("python-ntfy", "inbox").first else {
        throw Unmet("python-ntfy has read nothing")
      }
      #expect(cached.count == 4)
      #expect(!server.log.contains(phone.token))
    }
  }

  @Test func `an iPhone is woken through another server, and fetches from this one`() async throws {
    let upstream = try StandIn("ntfy")
    func asked() throws -> [[String: String]] {
      try upstream.tell(["do": "requests"])["requests"] as? [[String: String]] ?? []
    }
    try await NtfyPhone.lend(
      flags: ["--ntfy-upstream", upstream.url, "--access-log", "-"],
      environment: ["RICHPUSH_PUSH_CA": upstream.certificates]
    ) { server, place in
      let shop = server.client("shop", password: NtfyPhone.password)
      let phone = try await NtfyPhone(["news"], at: place, of: server, flags: ["--ios"])
      let topic = try #require(
        phone.link.wholeMatch(of: /ntfy:\/\/[^\/]+\/(inbox-[a-z2-9]{12})\?secure=false/)
      ).output.1
      #expect(try await phone.ask("auth", String(topic))[0].status == .number(200))
      var picture = NewNotification("Sea", to: .anyTag(["news"]))
      (picture.richType, picture.payload) = ("img", "beach.jpg")
      let first = try await shop.create(picture)
      let second = try await shop.create(NewNotification("For her", to: .users(["alice"])))
      // That of another user wakes nobody.
      _ = try await shop.create(NewNotification("mine", to: .users(["shop"])))
      var told: [[String: String]] = []
      try await eventually("the other server is asked to wake the phone") {
        told += try asked()
        return told.count == 2
      }
      let hash = try await Child.run(
        "/usr/bin/sha256sum", [], input: "http://\(place)/\(topic)")
      #expect(Set(told.map { $0["topic"] }) == [hash.output.first.map { String($0.prefix(64)) }])
      #expect(told.compactMap { $0["number"] }.sorted() == [first.id, second.id].map(String.init))
      let shown = try await phone.ask("woken", String(topic), String(first.id))[0]
      #expect(shown.message.text == "Sea" && shown.attachment.type.text == "image/jpeg")
      #expect(shown.topic.text == String(topic))
      #expect(
        try await phone.ask("woken", String(topic), String(second.id))[0].message.text == "For her")
      #expect(try await shop.details(first.id).receipts?.first?.sent != nil)
    }
  }

  @Test(.enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"))
  func `the app goes on at another node`() async throws {
    let (database, ports) = (try PostgresServer(), [try ReservedPort(), try ReservedPort()])
    let places = ports.map { "127.0.0.1:\($0.number)" }
    func flags(_ place: String) -> [String] {
      ["--demo", "--database", database.url, "--compat", "ntfy", "--ntfy-listen", place]
    }
    try await RunningServer.lend(flags: flags(places[0])) { first in
      try await RunningServer.lend(flags: flags(places[1])) { second in
        let phone = try await NtfyPhone(
          ["news"], at: places[0], of: first, database: ["--database", database.url])
        let shop = second.client("shop")
        let service = try phone.open("stream", "news", "none", "1")
        var lines = service.lines.makeAsyncIterator()
        let opening = try NtfyPhone.message(await lines.next())
        #expect(opening.event.text == "open")
        _ = try await shop.create(NewNotification("one", to: .anyTag(["news"])))
        let one = try NtfyPhone.message(await lines.next())
        #expect(one.message.text == "one", "published at the other node")
        _ = await service.exitCode()
        for text in ["two", "three"] {
          _ = try await shop.create(
            NewNotification(NotificationMessage(text), to: .anyTag(["news"])))
        }
        for place in places {
          let resumed = try await phone.ask(
            "ws", "news", try #require(one.id.text), "2", at: place)
          #expect(resumed.dropFirst().map(\.message.text) == ["two", "three"], "\(place)")
        }
      }
    }
    withExtendedLifetime(ports) {}
  }
}
