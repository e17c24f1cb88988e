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

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct MediaRoutesTests {
  private static let path = "/api/notifications/0"

  @Test func `only a recipient gets the rendition; for others it does not exist`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      for _ in 0..<2 {
        let media = try await server.execute("GET", Self.path + "?width=100", as: "device")
        #expect(media.status == 200 && media.text == "p|width=128")
        #expect(media.content?.cacheControl.hasPrefix("private") == true)
        // Its sender and an admin are no recipients either.
        for user in ["publisher", "admin"] {
          let answer = try await server.execute("GET", Self.path + "?width=100", as: user)
          #expect(answer.status == 404 && answer.code == "not-found")
        }
      }
      for path in ["1", "-0", "00", "x", "2147483648", "9223372036854775808", "%30/"] {
        let status = try await server.status("GET", "/api/notifications/" + path, as: "device")
        #expect(status == 404, "\(path)")
      }
    }
  }

  @Test func `a later request is answered from memory, and counted as a hit`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(to: ["device", "admin"])
      let counts = server.origin.routes.table.media.renderer.counts
      #expect(try await !server.execute("GET", Self.path, as: "device").isCached)
      let before = (counts[.hit], counts[.made])
      #expect(try await server.execute("GET", Self.path, as: "device").isCached)
      #expect(counts[.hit] == before.0 + 1 && counts[.made] == before.1)
      // Another recipient has to be checked once.
      #expect(try await server.execute("GET", Self.path, as: "admin").status == 200)
      #expect(try await server.execute("GET", Self.path, as: "publisher").status == 404)
    }
  }

  @Test func `a client that has the rendition gets a 304 without it`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let connection = server.connect()
      func get(_ validator: String) async -> RawConnection.Answer {
        connection.send(
          "GET \(Self.path) HTTP/1.1\r\nHost: x\r\n\(validator)"
            + "Authorization: \(TestServer.authorization("device"))\r\n\r\n")
        return await connection.answer()
      }
      let first = await get("")
      #expect(first.status == 200 && first.text == "p|")
      let etag = try #require(first.fields["etag"])
      for _ in 0..<2 {
        let second = await get("If-None-Match: \(etag)\r\n")
        #expect(second.status == 304 && second.text.isEmpty)
      }
      #expect(await get("If-None-Match: \"other\"\r\n").status == 200)
    }
  }

  @Test func `a withdrawn or changed notification is not served from memory`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      try await server.publish()
      for id in 0...1 {
        #expect(try await server.status("GET", "/api/notifications/\(id)", as: "device") == 200)
      }
      #expect(try await server.status("DELETE", Self.path, as: "publisher") == 204)
      #expect(try await server.status("GET", Self.path, as: "device") == 404)
      #expect(try await server.status("GET", "/api/notifications/1", as: "device") == 200)
    }
  }

  @Test func `a notification that is changed before it is fetched is rendered again`() async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      #expect(try await server.status("HEAD", Self.path, as: "device") == 200)
      let patch = try await server.execute(
        "PATCH", Self.path, as: "publisher", body: #"{"payload":"q"}"#)
      #expect(patch.status == 200, "a HEAD is no fetch")
      #expect(try await server.execute("GET", Self.path, as: "device").text == "q|")
    }
  }

  @Test func `without the plugin the response is 503, and a new version renders again`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      #expect(try await server.execute("GET", Self.path, as: "device").text == "p|")
      try server.scratch.installPlugin("note", "printf 'Content-Type: text/plain\\n\\nnew'")
      try await eventually("the new version answers") {
        try await server.execute("GET", Self.path, as: "device").text == "new"
      }
      try server.scratch.remove("plugins/note")
      try await eventually("its removal is noticed") {
        try await server.status("GET", Self.path, as: "device") == 503
      }
      let answer = try await server.execute("GET", Self.path, as: "device")
      #expect(answer.fields["Retry-After"] == "60" && answer.code == "service-unavailable")
    }
  }

  @Test func `a rendition for one user is not sent to another`() async throws {
    try await TestServer.test(prepare: {
      try $1.installPlugin(
        "note", manifest: #"{"perUser":true}"#,
        #"printf 'Content-Type: text/plain\n\nfor %s' "$REMOTE_USER""#)
    }) { server in
      try await server.publish(to: ["device", "admin"])
      for user in ["device", "admin", "device"] {
        #expect(try await server.execute("GET", Self.path, as: user).text == "for \(user)")
      }
      let links =
        try await server.execute("GET", Self.path + "/details", as: "device")
        .json["links"] as? [String: String]
      let link = try #require(links?["original"])
      #expect(try await server.status("GET", link) == 403)
    }
  }

  @Test func `redirects and unstorable responses are passed on, and not stored`() async throws {
    try await TestServer.test(prepare: {
      try $1.installPlugin(
        "note",
        """
        case $RICH_PAYLOAD in
          p) printf 'Location: https://example.org/\\n\\n' ;;
          *) printf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\n<p>' ;;
        esac
        """)
    }) { server in
      try await server.publish()
      let redirect = try await server.execute("GET", Self.path, as: "device")
      #expect(redirect.status == 302 && redirect.fields["Location"] == "https://example.org/")
      let body = TestServer.notification().replacing(#""payload":"p""#, with: #""payload":"q""#)
      #expect(
        try await server.status("POST", "/api/notifications", as: "publisher", body: body) == 201)
      for _ in 0..<2 {
        let page = try await server.execute("GET", "/api/notifications/1", as: "device")
        #expect(page.text == "<p>" && !page.isCached && page.fields["Cache-Control"] == "no-store")
        #expect(page.fields["Content-Security-Policy"] == "default-src 'none'; sandbox")
      }
    }
  }

  @Test(
    arguments: [("width=0", 400), ("look=a", 400), ("view=a", 200), ("profile=ios", 200)]
      as [(String, Int)])
  func `accepts the server's options and the plugin's`(
    query: String, status: Int
  ) async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      #expect(try await server.status("GET", Self.path + "?" + query, as: "device") == status)
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct SignedMediaRoutesTests {
  private func links(_ server: TestServer, of id: Int = 0) async throws -> [String: String] {
    let path = "/api/notifications/\(id)/details"
    return try await server.execute("GET", path, as: "publisher").json["links"]
      as? [String: String] ?? [:]
  }

  @Test func `a link gives access without a password, from memory the second time`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let links = try await links(server)
      let link = try #require(links["thumb"])
      for number in 0..<2 {
        let media = try await server.execute("GET", link)
        #expect(media.text == "p|profile=thumb" && media.isCached == (number == 1))
        #expect(media.content?.cacheControl == "public, max-age=3600")
        #expect(media.content?.fields["Cross-Origin-Resource-Policy"] == "cross-origin")
      }
      let original = try await server.execute("GET", try #require(links["original"]))
      #expect(original.text == "p|")
    }
  }

  @Test func `any change of a link is refused without a reason`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      try await server.publish()
      let link = try #require(try await links(server)["thumb"])
      #expect(try await server.status("GET", link) == 200)
      for changed in [
        link.replacing("/thumb?", with: "/ios?"), link.replacing("/media/0/", with: "/media/1/"),
        link.replacing("/media/0/", with: "/media/7/"),
        link.replacing("expires=", with: "expires=1"),
        link.replacing("key=1", with: "key=2"), String(link.dropLast()), link + "&to=1.x",
        link.replacing(/&signature=.*/, with: ""), link.replacing("thumb", with: "%74humb"),
      ] {
        let answer = try await server.execute("GET", changed)
        #expect(answer.status == 403 && answer.detail == "Invalid or revoked link.", "\(changed)")
      }
    }
  }

  @Test func `a link ends with its notification, its content and its time`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      for _ in 0..<3 { try await server.publish() }
      let signed = try await (0..<3).asyncMap {
        try #require(try await links(server, of: $0)["ios"])
      }
      for link in signed.dropFirst() { #expect(try await server.status("GET", link) == 200) }
      let patch = try await server.status(
        "PATCH", "/api/notifications/0", as: "publisher", body: #"{"payload":"q"}"#)
      #expect(patch == 200)
      #expect(try await server.status("DELETE", "/api/notifications/1", as: "publisher") == 204)
      #expect(try await server.status("GET", signed[0]) == 403)
      #expect(try await server.status("GET", signed[1]) == 403)
      #expect(try await server.status("GET", signed[2]) == 200)

      let notification = try #require(try await server.store.notifications.notification(2))
      let over = MediaLinks.Target(
        id: 2, rendition: "ios", content: "p\0m", expires: Int(Date().timeIntervalSince1970) - 1)
      #expect(notification.payload == "p" && notification.message == "m")
      let expired = server.origin.routes.table.signed.links.path(to: over)
      let answer = try await server.execute("GET", expired)
      #expect(answer.status == 410 && answer.code == "gone")
    }
  }

  @Test func `what a node may have missed of its notifications is read again`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish()
      let link = try #require(try await links(server)["ios"])
      func statuses() async throws -> [Int] {
        [
          try await server.status("GET", link),
          try await server.status("GET", "/api/notifications/0", as: "device"),
        ]
      }
      for _ in 0..<2 { #expect(try await statuses() == [200, 200]) }
      // Beside the running server, which is not told.
      #expect(try await server.store.notifications.withdraw(0))
      server.origin.housekeeping.store.observers.onEverything(())
      #expect(try await statuses() == [403, 404])
    }
  }

  @Test func `caches keep an answer no longer than the link lasts`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let soon = Date(timeIntervalSinceNow: 150).formatted(.iso8601)
      try await server.publish(#","expires":"\#(soon)""#)
      let media = try await server.execute("GET", try #require(try await links(server)["ios"]))
      #expect(media.content?.cacheControl == "public, max-age=120")
    }
  }

  @Test func `the answer in memory is not used in a link's last hour`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      // Sooner only if the machine is quick enough to ask for it before.
      for (id, seconds) in [3.0, 10, 30].enumerated() {
        let lastHour = Date(timeIntervalSinceNow: seconds)
        let end = (lastHour + 3600).formatted(.iso8601)
        try await server.publish(#","expires":"\#(end)""#)
        let link = try #require(try await links(server, of: id)["ios"])
        func cacheControl() async throws -> String? {
          try await server.execute("GET", link).content?.cacheControl
        }
        let first = try await cacheControl()
        // Its end is in whole seconds.
        guard lastHour.timeIntervalSinceNow > 1 || seconds == 30 else { continue }
        #expect(first == "public, max-age=3600")
        try await eventually("caches may keep it for less") {
          try await cacheControl() == "public, max-age=3540"
        }
        break
      }
    }
  }

  @Test func `a link to a held notification gives no access before its time`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(#","notBefore":"2100-01-01T00:00:00Z""#)
      let link = try #require(try await links(server)["ios"])
      #expect(try await server.status("GET", link) == 403)
    }
  }

  @Test func `a fetch by a link is recorded if there is only one recipient`()
    async throws
  {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      try await server.publish(to: ["device", "admin"])
      try await server.publish(to: ["device"])
      for id in 0...1 {
        let link = try #require(try await links(server, of: id)["ios"])
        #expect(try await server.status("HEAD", link) == 200)
        #expect(
          try await server.store.notifications.receipts(of: id).allSatisfy { $0.fetched == nil })
        #expect(try await server.status("GET", link) == 200)
      }
      try await eventually("the one is recorded") {
        try await server.store.notifications.receipts(of: 1).first?.fetched != nil
      }
      #expect(try await server.store.notifications.receipts(of: 0).allSatisfy { $0.fetched == nil })
    }
  }

  @Test func `the link in a push records the fetch of its device`() async throws {
    try await WebhookReceiver.test { receiver, url in
      try await TestServer.test(prepare: {
        try $1.installNote()
        try $0.usePublicURL("https://push.example")
        try $0.usePush(
          "webhook",
          environment: [
            "RICHPUSH_WEBHOOK_URL": url, "RICHPUSH_WEBHOOK_SECRET": WebhookReceiver.secret,
          ])
      }) { server in
        let device = try await server.register("AABB", as: "device")
        try await server.publish(#","form":"alert""#, to: ["device", "admin"])
        try await eventually("the push is sent") { receiver.bodies.count == 1 }
        let body = try #require(receiver.bodies.first)
        let link = try #require(body.firstMatch(of: /https:\/\/push\.example(\/media[^"]+)/))
        let target = String(link.1)
        #expect(target.contains("&to=1."))
        for number in 0..<2 {
          let media = try await server.execute("GET", target)
          #expect(media.status == 200 && media.isCached == (number == 1))
          #expect(try await server.status("GET", target + "x") == 403)
          try await eventually("it is recorded") {
            try await server.store.notifications.deviceReceipts(
              of: 0, users: [server.id(of: "device")]
            ).map(\.registration) == [device]
          }
        }
        let others = try await server.store.notifications.receipts(of: 0).filter {
          $0.user == "admin"
        }
        #expect(others.map(\.fetched) == [nil])
      }
    }
  }
}

extension Sequence {
  /// The results of an asynchronous function, in order.
  func asyncMap<R>(_ body: (Element) async throws -> R) async rethrows -> [R] {
    var results: [R] = []
    for element in self { results.append(try await body(element)) }
    return results
  }
}
