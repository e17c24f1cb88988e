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
import Waiting

/// What a publisher has sent, whom an audience has, and an asset's renditions.
@Suite(.timeLimit(.minutes(1))) struct SentRoutesTests {
  private let sent = "/api/notifications?sent"

  @Test func `IDs that JSON's numbers do not hold exactly name nothing`() async throws {
    try await TestServer.test { server in
      for id in ["9007199254740992", "9223372036854775807", "9223372036854775808"] {
        for path in ["", "/receipts", "/deliveries"] {
          let target = "/api/notifications/" + id + path
          let status = try await server.status("GET", target, as: "publisher")
          #expect(status == 404, "\(target)")
        }
        for query in ["?before=", "?sent&before="] {
          let target = "/api/notifications" + query + id
          let status = try await server.status("GET", target, as: "publisher")
          #expect(status == 400, "\(target)")
        }
      }
    }
  }

  @Test func `a publisher lists what it has sent, an admin on request what everybody has`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(to: ["device", "admin"])
      try await server.publish(#","notBefore":"2100-01-01T00:00:00Z""#)
      try await server.publish()
      #expect(try await server.status("DELETE", "/api/notifications/2", as: "publisher") == 204)
      let found = try await server.execute("GET", sent + "&limit=2", as: "publisher")
      #expect(found.objects("notifications").map { $0["id"] as? Int } == [2, 1])
      #expect(
        found.objects("notifications").map { $0["state"] as? String } == ["withdrawn", "scheduled"])
      let next = try #require(found.json["next"] as? Int)
      let rest = try await server.execute("GET", sent + "&before=\(next)", as: "publisher")
      let entry = try #require(rest.objects("notifications").first)
      #expect(entry["state"] as? String == "sent" && entry["sender"] as? String == "publisher")
      #expect(entry["audience"] as? [String] == ["username:device", "username:admin"])
      #expect((entry["counts"] as? [String: Int])?["recipients"] == 2)
      #expect(rest.json["next"] is NSNull)
      let none = try await server.execute("GET", sent, as: "admin")
      #expect(none.objects("notifications").isEmpty)
      let all = try await server.execute("GET", sent + "&sender=*", as: "admin")
      #expect(all.objects("notifications").count == 3)
      #expect(try await server.status("GET", sent + "&sender=*", as: "publisher") == 403)
      #expect(try await server.status("GET", sent + "&sender=x", as: "admin") == 400)
      #expect(try await server.status("GET", sent + "&unread", as: "admin") == 400)
    }
  }

  @Test func `a search finds words in any case, with or without accents, page by page`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let id = try await server.id(of: "publisher")
      let texts = ["Frühlingsfest im PARK", "Ærø und Straße", "nothing", "park"]
      for number in 0..<250 {
        var new = NotificationInsert(
          message: number % 50 < 4 ? texts[number % 50] : "no. \(number)", richType: "note",
          payload: "p\(number)")
        (new.sender, new.recipients) = (id, [id])
        _ = try await server.store.notifications.create(new)
      }
      func found(_ search: String) async throws -> [Int] {
        var (ids, before) = ([Int](), "")
        while true {
          let page = try await server.execute(
            "GET", sent + "&limit=2&search=\(search)\(before)", as: "publisher")
          try #require(page.status == 200, "\(page.detail ?? "")")
          ids += page.objects("notifications").compactMap { $0["id"] as? Int }
          guard let next = page.json["next"] as? Int else { return ids }
          before = "&before=\(next)"
        }
      }
      #expect(try await found("fruhlings") == [200, 150, 100, 50, 0])
      #expect(try await found("FRU%CC%88HLINGS%20park") == [200, 150, 100, 50, 0])
      #expect(try await found("aero%20STRASSE") == [201, 151, 101, 51, 1])
      #expect(try await found("park").count == 10)
      #expect(try await found("p249") == [249], "names of content are searched, too")
      #expect(try await found("unheard").isEmpty)
      let long = String(repeating: "x", count: 201)
      #expect(try await server.status("GET", sent + "&search=" + long, as: "publisher") == 400)
      #expect(try await server.status("GET", "/api/notifications?sender=x", as: "publisher") == 400)
    }
  }

  @Test func `of a withdrawn notification nothing waits, and only its sender still sees it`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let path = "/api/notifications/0"
      #expect(try await server.status("DELETE", path, as: "publisher") == 204)
      let listed = try await server.execute("GET", sent, as: "publisher")
      let entry = try #require(listed.objects("notifications").first)
      #expect(entry["state"] as? String == "withdrawn")
      #expect((entry["counts"] as? [String: Int])?["queued"] == 0)
      for user in ["publisher", "admin"] {
        let details = try await server.execute("GET", path + "/details", as: user)
        #expect(details.status == 200 && details.json["state"] as? String == "withdrawn")
        #expect((details.json["counts"] as? [String: Int])?["queued"] == 0)
        #expect((details.json["links"] as? [String: String])?.isEmpty == true)
        #expect(try await server.status("GET", path + "/receipts", as: user) == 200)
      }
      #expect(try await server.status("GET", path + "/details", as: "device") == 404)
      #expect(try await server.status("GET", path + "/media", as: "publisher") == 404)
    }
  }

  @Test func `a sender sees what devices get, which counts as no fetch`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      try await server.publish(#","notBefore":"2100-01-01T00:00:00Z""#)
      for id in 0...1 {
        let path = "/api/notifications/\(id)/media?profile=thumb"
        let shown = try await server.execute("GET", path, as: "publisher")
        #expect(shown.status == 200, "\(shown.detail ?? "")")
        #expect(shown.content?.cacheControl == "private, no-cache")
        #expect(try await server.status("GET", path, as: "device") == 404)
      }
      try await server.store.probe()
      #expect(try await server.store.sent.counts(of: 0)?.fetched == 0)
      let own = try await server.execute("GET", "/api/notifications/0?profile=thumb", as: "device")
      let seen = try await server.execute(
        "GET", "/api/notifications/0/media?profile=thumb", as: "publisher")
      #expect(own.status == 200 && own.bytes == seen.bytes)
    }
  }

  @Test func `names for an audience are for publishers`() async throws {
    try await TestServer.test { server in
      let path = "/api/audience/names?prefix=P"
      let names = try await server.execute("GET", path, as: "publisher")
      #expect(names.json["users"] as? [String] == ["publisher"])
      #expect(names.json["tags"] as? [String] == [])
      #expect(try await server.status("GET", path, as: "device") == 403)
      #expect(try await server.status("GET", path + "&limit=0", as: "publisher") == 400)
    }
  }

  @Test func `counts are in the details, for the sender and admins only`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      _ = try await server.execute("GET", "/api/notifications/0", as: "device")
      func counts(_ user: String) async throws -> [String: Int]? {
        try await server.execute("GET", "/api/notifications/0/details", as: user)
          .json["counts"] as? [String: Int]
      }
      try await eventually("the fetch is counted") {
        try await counts("publisher")?["fetched"] == 1
      }
      #expect(try await counts("admin")?["recipients"] == 1)
      #expect(try await counts("device") == nil)
    }
  }

  @Test func `a stream of counts tells of a notification, and not of each receipt`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      func stream(_ user: String) async throws -> TestStream {
        let path = "/api/events/stream?counts"
        return try #require(
          try await server.execute("GET", path, as: user, fields: ["Last-Event-ID": "0"]).stream)
      }
      try await server.addUser("other", .publisher)
      let names = (0..<20).map { "reader\($0)" }
      for name in names { try await server.addUser(name, .device) }
      try await server.publish(to: names)
      for name in names { _ = try await server.execute("GET", "/api/notifications/0", as: name) }
      try await eventually("all fetches are recorded") {
        try await server.store.sent.counts(of: 0)?.fetched == 20
      }
      let (own, all) = (try await stream("publisher"), try await stream("admin"))
      for stream in [own, all] {
        let event = try #require(try await stream.nextEvent())
        #expect(event.name == "counts")
        let data = try JSONSerialization.jsonObject(with: Data(event.data.utf8)) as? [String: Any]
        #expect(data?["id"] as? Int == 0)
        #expect((data?["counts"] as? [String: Int])?["fetched"] == 20)
        stream.close()
      }
      #expect(try await server.status("GET", "/api/events/stream?counts", as: "device") == 403)
      #expect(try await server.status("GET", "/api/push/stream?counts", as: "device") == 400)
    }
  }

  @Test func `of a notification, counts are sent at most twice a second`() async throws {
    let clock = ManualClock()
    try await TestServer.test(clock: clock, prepare: { try $1.installNote() }) { server in
      let names = try await server.publish(toReaders: 100)
      let path = "/api/events/stream?counts"
      let stream = try #require(try await server.execute("GET", path, as: "publisher").stream)
      var read = 0
      for count in [1, 25, 50, 100] {
        for name in names[read..<count] {
          // By the server, which otherwise would look for what is new only every five seconds.
          #expect(try await server.status("PUT", "/api/notifications/0/read", as: name) == 204)
        }
        read = count
        // The first counts are sent at once.
        if count > 1 {
          clock.advance(by: .milliseconds(499))
          #expect(clock.untilNext == .milliseconds(1))
          clock.advance(by: .milliseconds(1))
        }
        // All that was read meanwhile is in the next counts.
        while let event = try await stream.nextEvent() {
          guard event.name == "counts" else { continue }
          let data = try JSONSerialization.jsonObject(with: Data(event.data.utf8)) as? [String: Any]
          #expect((data?["counts"] as? [String: Int])?["read"] == count)
          break
        }
        try await eventually("it pauses") { clock.untilNext == .milliseconds(500) }
      }
      stream.close()
    }
  }

  @Test func `a dry run checks and renders, and neither stores nor sends anything`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      _ = try await server.register("AABB", as: "device")
      func dry(_ members: String = "", as user: String = "publisher") async throws -> TestResponse {
        try await server.execute(
          "POST", "/api/notifications?dry-run", as: user, body: TestServer.notification(members))
      }
      let found = try await dry(#","form":"alert""#)
      try #require(found.status == 200, "\(found.detail ?? "")")
      #expect((found.json["audience"] as? [String: Any])?["users"] as? Int == 1)
      let renditions = found.objects("renditions")
      #expect(
        renditions.map { $0["profile"] as? String } == ["ios", "android", "watch", "web", "thumb"])
      #expect(renditions.allSatisfy { $0["status"] as? String == "ready" })
      #expect(found.objects("texts").map { $0["body"] as? String } == ["m", "m", "m"])
      #expect(found.objects("texts").allSatisfy { $0["cut"] as? Bool == false })
      #expect(try await server.store.notifications.notification(0) == nil)
      #expect(try await server.store.events.latestEvent() == 0)

      // The text is cut exactly where that of the notification is.
      let long = String(repeating: "ä😀", count: 2000)
      let body =
        #"{"message":"\#(long)","richType":"note","payload":"p","to":["username:device"]}"#
      let cut = try await server.execute(
        "POST", "/api/notifications?dry-run", as: "publisher", body: body)
      let texts = cut.objects("texts")
      #expect(texts.allSatisfy { $0["cut"] as? Bool == true })
      #expect(
        texts.allSatisfy { ($0["bytes"] as? Int ?? .max) <= $0["limit"] as? Int ?? 0 })
      let sent = try await server.execute("POST", "/api/notifications", as: "publisher", body: body)
      try #require(sent.status == 201)
      let links = try await MediaLinks(store: server.store, base: nil)
      let feed = EventFeed.pushes(
        server.store, PushPayloads(store: server.store, links: links))
      let event = try #require(
        try await feed.events(
          for: server.id(of: "device"), role: .device, after: 0, limit: 1
        ).first)
      let pushed =
        try JSONSerialization.jsonObject(with: Data(event.data(for: []).utf8)) as? [String: Any]
      #expect(pushed?["richMessage"] as? String == texts.first?["body"] as? String)

      for (members, status) in [
        (#","richMessage":"x""#, 400), (#","expires":"2000-01-01T00:00:00Z""#, 422),
      ] {
        #expect(try await dry(members).status == status, "\(members)")
      }
      #expect(try await server.status("POST", "/api/notifications?dry-run", as: "admin") == 400)
      let nobody = try await server.execute(
        "POST", "/api/notifications?dry-run", as: "publisher",
        body: TestServer.notification(to: ["nobody"]))
      #expect(nobody.status == 422)
      let device = try await server.execute(
        "POST", "/api/notifications?dry-run", as: "device",
        body: TestServer.notification(to: ["admin"]))
      #expect(device.status == 403)
    }
  }

  @Test func `an audience is counted without adding anybody`() async throws {
    try await TestServer.test { server in
      _ = try await server.register("AABB", as: "device")
      let path = "/api/audience?to=username:device&to=username:nobody"
      let found = try await server.execute("GET", path, as: "publisher")
      #expect(found.json["users"] as? Int == 1)
      #expect(found.json["devices"] as? [String: Int] == ["apns": 1])
      #expect(found.json["unknown"] as? [String] == ["nobody"])
      for wrong in ["", "?to=a%20%26%26", "?to=a&x=1"] {
        let status = try await server.status("GET", "/api/audience" + wrong, as: "publisher")
        #expect((400..<500).contains(status) && status != 403, "\(wrong)")
      }
    }
  }

  @Test func `an asset's rendition is the one that a notification has, and may change`()
    async throws
  {
    try await TestServer.test(prepare: { configuration, scratch in
      try scratch.installPlugin(
        "note", manifest: #"{"query":["view"]}"#,
        #"printf 'Content-Type: text/plain\n\n%s|%s' "$RICH_PAYLOAD" "$QUERY_STRING""#)
    }) { server in
      let put = try await server.execute(
        "PUT", "/api/assets/note/a.txt", as: "publisher", body: "text")
      try #require(put.status == 201, "\(put.detail ?? "")")
      for query in ["?profile=ios", "?view=large", ""] {
        let path = "/api/assets/note/a.txt/media" + query
        let found = try await server.execute("GET", path, as: "publisher")
        #expect(found.status == 200, "\(found.detail ?? "")")
        #expect(found.content?.cacheControl == "private, no-cache")
        let body =
          #"{"message":"m","richType":"note","payload":"a.txt","to":["username:device"]}"#
        let sent = try await server.execute(
          "POST", "/api/notifications", as: "publisher", body: body)
        let id = try #require(sent.json["id"] as? Int)
        let fetched = try await server.execute(
          "GET", "/api/notifications/\(id)" + query, as: "device")
        #expect(fetched.bytes == found.bytes && fetched.content?.etag == found.content?.etag)
      }
      let path = "/api/assets/note/a.txt/media"
      #expect(try await server.status("GET", path, as: "device") == 403)
      #expect(try await server.status("GET", path + "?profile=x", as: "publisher") == 400)
      #expect(try await server.status("GET", "/api/assets/note/b.txt/media", as: "admin") == 404)
    }
  }
}
