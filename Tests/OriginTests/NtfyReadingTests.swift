import Delivery
import Foundation
import HTTP
import Primitives
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// ntfy's API for readers, as its Android app calls it.
@Suite(.timeLimit(.minutes(2))) struct NtfyReadingTests {
  private static let host = "ntfy.example.org"

  /// A server with the API, the plugin `note`, and a device of the user `device` with the tag `news`, whose token is
  /// lent, too.
  private static func test(_ body: (TestServer, _ token: String) async throws -> Void) async throws
  {
    try await TestServer.test(
      prepare: { configuration, scratch in
        try scratch.installNote()
        configuration.compatibility = try CompatibilitySettings(["ntfy"], ntfy: .host(host))
      },
      { server in
        let id = try await server.register("00FC", as: "device")
        let put = try await server.execute(
          "PUT", "/api/register/" + id, as: "device",
          body: #"{"Platform":"apns","Handle":"00FC","Tags":["news"]}"#)
        try #require(put.status == 200)
        let token = try await server.execute("POST", "/api/register/\(id)/token", as: "device")
        try await body(server, try #require(token.json["token"] as? String))
      })
  }

  private static func send(
    _ server: TestServer, _ target: String, by method: String = "GET",
    as user: String? = "device", _ fields: [(String, String)] = [], body: String = ""
  ) async throws -> TestResponse {
    var all = Fields(fields.map { (name: $0.0, value: $0.1) })
    all["Host"] = host
    return try await server.execute(method, target, as: user, fields: all, body: body)
  }

  /// The messages of a poll.
  private static func poll(
    _ server: TestServer, _ target: String, as user: String? = "device",
    _ fields: [(String, String)] = []
  ) async throws -> [JSONValue] {
    let answer = try await send(server, target, as: user, fields)
    try #require(answer.status == 200, "\(answer.text)")
    #expect(answer.fields["Content-Type"] == "application/x-ndjson; charset=utf-8")
    return try lines(answer.bytes)
  }

  private static func lines(_ bytes: some Sequence<UInt8>) throws -> [JSONValue] {
    try Array(bytes).split(separator: 0x0A).map { try #require(JSONValue(Array($0))) }
  }

  /// The next lines of a stream, as many as are asked for.
  private static func next(_ count: Int, of stream: TestStream) async throws -> [JSONValue] {
    var found: [JSONValue] = []
    while found.count < count {
      found += try lines(try #require(try await stream.nextBytes()))
    }
    return found
  }

  private static func publish(
    _ server: TestServer, _ members: String, to tags: [String] = ["news"]
  ) async throws {
    let answer = try await server.execute(
      "POST", "/api/notifications", as: "publisher",
      body: #"{"to":[\#(tags.map(\.quotedJSON).joined(separator: ","))],\#(members)}"#)
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
  }

  @Test func `a reader may read everything of its own, and topics by whose tag it gets something`()
    async throws
  {
    try await Self.test { server, token in
      for (topics, status, code) in [
        ("inbox", 200, nil), ("news", 200, nil), ("inbox,news", 200, nil),
        ("username:device", 200, nil), ("username:admin", 403, 40301), ("other", 403, 40301),
        ("inbox,other", 403, 40301), ("a%20b", 400, 40009), ("inbox,,news", 400, 40009),
      ] as [(String, Int, Int?)] {
        let answer = try await Self.send(server, "/\(topics)/auth")
        #expect(answer.status == status && answer.json["code"] as? Int == code, "\(topics)")
        #expect((answer.json["success"] as? Bool == true) == (status == 200), "\(topics)")
        for kind in ["json?poll=1", "sse?poll=1"] {
          #expect(try await Self.send(server, "/\(topics)/\(kind)").status == status, "\(topics)")
        }
      }
      #expect(server.log.contain("cannot subscribe"))
      // Who has no device has an inbox.
      #expect(try await Self.send(server, "/inbox/auth", as: "publisher").status == 200)
      #expect(try await Self.send(server, "/news/auth", as: "publisher").status == 403)
    }
  }

  @Test func `a password, and a device's token in its place, show who the reader is`() async throws
  {
    try await Self.test { server, token in
      func status(_ value: String?, query: String = "") async throws -> Int {
        try await Self.send(
          server, "/news/auth" + query, as: nil, value.map { [("Authorization", $0)] } ?? []
        ).status
      }
      let own = TestServer.authorization("device", password: token)
      #expect(try await status(own) == 200)
      #expect(try await status(own) == 200, "as it is remembered")
      #expect(try await status("Bearer " + token) == 200)
      let encoded = Data(own.utf8).base64EncodedString().replacing("=", with: "")
      #expect(try await status(nil, query: "?auth=" + encoded) == 200)
      #expect(try await status(TestServer.authorization("device")) == 200)
      #expect(try await status(nil) == 401)
      #expect(try await status(TestServer.authorization("admin", password: token)) == 401)
      #expect(
        try await status(
          TestServer.authorization("device", password: String(token.reversed()))) == 401)
      // It is still no more than that.
      let answer = try await server.execute(
        "GET", "/api/session", fields: ["Authorization": own])
      #expect(answer.status == 403)
      // A password may look like a token.
      let long = String(repeating: "a1-_", count: 10) + "xyz"
      try await server.store.accounts.addUser(
        "odd", hash: try #require(PasswordHash.make(long)), role: .device)
      let odd = try await Self.send(
        server, "/inbox/auth", as: nil,
        [("Authorization", TestServer.authorization("odd", password: long))])
      #expect(odd.status == 200)
    }
  }

  @Test func `a message has all that the app shows, and its attachment's fetch is the receipt`()
    async throws
  {
    try await Self.test { server, token in
      try await Self.publish(
        server,
        #"""
        "title":"🎉 Party","subtitle":"Tonight","message":"Come","importance":"high","link":"https://e.org/a",
        "icon":"https://e.org/i.png","richType":"note","payload":"hello","expires":"2099-01-31T09:00:00Z",
        "data":{"tags":["tada","backup"]},"actions":[{"id":"open","label":"Open","link":"https://e.org/b"},
        {"id":"yes","label":"Yes"}]
        """#)
      let message = try #require(
        try await Self.poll(
          server, "/news/json?poll=1&since=all", as: nil,
          [("Authorization", TestServer.authorization("device", password: token))]
        ).first)
      #expect(message.id.text == "e00000000001" && message.event.text == "message")
      #expect(message.topic.text == "news" && message.sequence_id.text == "n00000000000")
      #expect(message.title.text == "Party", "the app adds the emoji of the tags")
      #expect(message.message.text == "Tonight\nCome" && message.priority == .number(4))
      #expect(message.tags == .array([.string("tada"), .string("backup")]))
      #expect(message.click.text == "https://e.org/a" && message.icon.text == "https://e.org/i.png")
      #expect(message.expires == .number(4_073_533_200))
      #expect(
        message.actions
          == .array([
            .object([
              "id": .string("open"), "action": .string("view"), "label": .string("Open"),
              "url": .string("https://e.org/b"), "clear": .bool(false),
            ])
          ]))
      let attachment = message.attachment
      #expect(attachment.type.text == "text/plain")
      #expect(attachment.name.text == "note.txt")
      let url = try #require(attachment.url.text)
      let path = try #require(url.split(separator: Self.host).last.map(String.init))
      #expect(url.hasPrefix("http://\(Self.host)/media/0/android?expires="))
      let own = try await server.id(of: "device").rawValue
      // Neither another's name nor another device's can be put into it.
      for changed in [
        path.replacing("&for=\(own).", with: "&for=\(own + 1)."), path + "x",
        path.replacing("/0/", with: "/1/"),
      ] {
        #expect(try await Self.send(server, changed, as: nil).status == 403, "\(changed)")
      }
      let media = try await Self.send(server, path, as: nil)
      #expect(media.status == 200 && media.content?.mediaType == "text/plain")
      #expect(media.content?.size == attachment.size.integer)
      try await eventually("the device has fetched it") {
        let device = try await server.store.notifications.deviceReceipts(
          of: 0, users: [server.id(of: "device")])
        return device.first?.fetched != nil
      }
      try await eventually("it was sent") {
        try await server.store.notifications.receipts(of: 0).first?.sent != nil
      }
      // What is remembered of the media ends if the database is not heard: this fetch did not ask it.
      let resolved = server.origin.routes.table.signed.resolved
      let moment = resolved.changes.begin()
      #expect(try await Self.send(server, path, as: nil).status == 200)
      resolved.changes.end(before: moment)
      let shared = try #require(path.components(separatedBy: "&for=").first)
      #expect(resolved.find(shared, at: Date().second) == nil)
    }
  }

  @Test func `since and filters choose messages`() async throws {
    try await Self.test { server, _ in
      try await Self.publish(
        server, #""message":"one","importance":"low","data":{"tags":["a","b"]}"#)
      try await Self.publish(server, #""message":"two","title":"T""#)
      try await Self.publish(server, #""message":"three""#, to: ["username:device"])
      try await Self.publish(server, #""message":"four""#, to: ["username:admin"])
      let hour = Int(Date().timeIntervalSince1970) - 3600
      for (query, expected) in [
        ("", ["one", "two", "three"]), ("&since=all", ["one", "two", "three"]),
        ("&since=none", []), ("&since=latest", ["three"]),
        ("&since=e00000000001", ["two", "three"]),
        ("&since=e00000000003", []), ("&since=10m", ["one", "two", "three"]),
        ("&since=\(hour)", ["one", "two", "three"]), ("&since=\(hour + 7200)", []),
        ("&since=xu5ZaKYLI0Zw", ["one", "two", "three"]), ("&si=e00000000002", ["three"]),
        ("&message=two", ["two"]), ("&m=tw", []), ("&title=T", ["two"]), ("&t=U", []),
        ("&priority=2", ["one"]), ("&p=high,default", ["two", "three"]), ("&tags=a", ["one"]),
        ("&tags=b,a", ["one"]), ("&ta=a,c", []), ("&id=e00000000002", ["two"]),
      ] as [(String, [String])] {
        let found = try await Self.poll(server, "/inbox/json?poll=1" + query)
        #expect(found.map { $0.message.text ?? "" } == expected, "\(query)")
      }
      let news = try await Self.poll(server, "/news/json?poll=yes")
      #expect(news.map { $0.message.text } == ["one", "two"])
      let both = try await Self.poll(server, "/news,inbox/json", [("X-Poll", "1"), ("Tags", "a")])
      #expect(both.map { $0.topic.text } == ["news", "inbox"])
      #expect(Set(both.map { $0.id.text }) == ["e00000000001"])
      for (query, code) in [
        ("since=%C3%A4", 40008), ("since=a+b", 40008), ("priority=6", 40007), ("sched=1", 40000),
        ("what=1", 40000),
      ] {
        let answer = try await Self.send(server, "/inbox/json?poll=1&" + query)
        #expect(answer.json["code"] as? Int == code, "\(query)")
      }
    }
  }

  @Test func `a stream begins with open, and resumes after a message without loss or repetition`()
    async throws
  {
    try await Self.test { server, _ in
      try await Self.publish(server, #""message":"before""#)
      func open(_ since: String) async throws -> TestStream {
        try #require(
          try await Self.send(server, "/news,inbox/json?since=\(since)").stream)
      }
      let stream = try await open("none")
      let first = try #require(try await Self.next(1, of: stream).first)
      #expect(first.event.text == "open" && first.topic.text == "news,inbox")
      try await Self.publish(server, #""message":"other""#, to: ["username:admin"])
      try await Self.publish(server, #""message":"one""#)
      let message = try await Self.next(2, of: stream)
      #expect(message.map { $0.message.text } == ["one", "one"])
      #expect(message.map { $0.topic.text } == ["news", "inbox"])
      stream.close()
      for text in ["two", "three"] { try await Self.publish(server, "\"message\":\"\(text)\"") }
      let id = try #require(message[0].id.text)
      let resumed = try await open(id)
      let texts = try await Self.next(5, of: resumed).dropFirst().map { $0.message.text }
      #expect(texts == ["two", "two", "three", "three"])
      let opened = try #require(first.id.text)
      let whole = try await open(opened)
      let after = try await Self.next(2, of: whole)
      #expect(after[1].message.text == "one", "what came after it was opened")
      let latest = try await open("latest")
      #expect(try await Self.next(2, of: latest)[1].message.text == "three")
    }
  }

  @Test func `a stream passes over many messages of others' topics`() async throws {
    try await Self.test { server, _ in
      let device = try await server.id(of: "device")
      for _ in 0..<250 { try await server.store.events.push("{}", to: [device], pushes: []) }
      try await Self.publish(server, #""message":"one""#)
      let stream = try #require(try await Self.send(server, "/news/json?since=all").stream)
      #expect(try await Self.next(2, of: stream)[1].id.text == "e0000000006z")
    }
  }

  @Test func `server-sent events and WebSockets carry the same`() async throws {
    try await Self.test { server, _ in
      let events = try #require(try await Self.send(server, "/news/sse").stream)
      let open = try #require(try await events.next()?.first)
      #expect(open.name == "open" && open.data.contains(#""event":"open""#))
      let plain = try await Self.send(server, "/news/ws")
      #expect(plain.status == 426 && plain.json["http"] as? Int == 426)
      let upgraded = try await Self.send(
        server, "/news/ws",
        [
          ("Connection", "Upgrade"), ("Upgrade", "websocket"), ("Sec-WebSocket-Version", "13"),
          ("Sec-WebSocket-Key", "dGhlIHNhbXBsZSBub25jZQ=="),
        ])
      #expect(upgraded.status == 101)
      #expect(upgraded.fields["Sec-WebSocket-Accept"] == "s3pPLMBiTxaQ9kYGzzhZRbK+xOo=")
      let socket = try #require(upgraded.stream)
      func frame() async throws -> JSONValue {
        let bytes = try #require(try await socket.nextBytes())
        #expect(bytes[0] == 0x81)
        return try #require(JSONValue(Array(bytes.dropFirst(bytes[1] < 126 ? 2 : 4))))
      }
      #expect(try await frame().event.text == "open")
      try await Self.publish(server, #""message":"hi""#)
      #expect(try await frame().message.text == "hi")
      let event = try #require(try await events.nextEvent())
      #expect(event.name == "" && event.data.contains(#""message":"hi""#))
    }
  }

  @Test func `what is amended or replaced has the sequence of what it takes the place of`()
    async throws
  {
    try await Self.test { server, _ in
      try await Self.publish(server, #""message":"one""#)
      let patch = try await server.execute(
        "PATCH", "/api/notifications/0", as: "publisher", body: #"{"message":"two"}"#)
      try #require(patch.status == 200, "\(patch.detail ?? "")")
      let amended = try await Self.poll(server, "/news/json?poll=1")
      #expect(amended.map { $0.message.text } == ["two"], "as it was sent last")
      #expect(amended[0].sequence_id.text == "n00000000000" && amended[0].id.text == "e00000000002")
      for text in ["three", "four"] {
        let sent = try await Self.send(server, "/news/door", by: "PUT", as: "publisher", body: text)
        try #require(sent.status == 200)
      }
      let all = try await Self.poll(server, "/news,inbox/json?poll=1&since=e00000000002")
      #expect(all.filter { $0.topic.text == "news" }.allSatisfy { $0.sequence_id.text == "door" })
      let others = all.filter { $0.topic.text == "inbox" }.compactMap(\.sequence_id.text)
      try #require(others.count == 2, "\(all)")
      #expect(others[0] == others[1] && others[0].utf8.count == 12)
    }
  }

  @Test func `what is withdrawn or read elsewhere goes from the phone, also if it was away`()
    async throws
  {
    try await Self.test { server, _ in
      for text in ["one", "two", "three"] {
        try await Self.publish(server, "\"message\":\"\(text)\"")
      }
      let stream = try #require(
        try await Self.send(server, "/news,inbox/json?since=latest").stream)
      let latest = try #require(try await Self.next(3, of: stream).last?.id.text)
      #expect(try await server.status("DELETE", "/api/notifications/0", as: "publisher") == 204)
      let deleted = try await Self.next(2, of: stream)
      #expect(deleted.map { $0.event.text } == ["message_delete", "message_delete"])
      #expect(deleted.map { $0.topic.text } == ["news", "inbox"])
      #expect(deleted.allSatisfy { $0.sequence_id.text == "n00000000000" })
      #expect(try await server.status("PUT", "/api/notifications/1/read", as: "device") == 204)
      let cleared = try await Self.next(2, of: stream)
      #expect(cleared.first?.event.text == "message_clear", "and the other is not told again")
      #expect(cleared.first?.sequence_id.text == "n00000000001")
      stream.close()
      #expect(try await server.status("PUT", "/api/notifications/2/read", as: "device") == 204)
      // By the ID of a message, or of what told of an end.
      for id in [latest, try #require(cleared.first?.id.text)] {
        let resumed = try #require(
          try await Self.send(server, "/news/json?since=\(id)").stream)
        let missed = try await Self.next(4, of: resumed).dropFirst()
        let poll = try await Self.poll(server, "/news/json?poll=1&since=\(id)")
        for found in [Array(missed), poll] {
          #expect(
            found.map { $0.event.text } == ["message_delete", "message_clear", "message_clear"])
          #expect(found.last?.sequence_id.text == "n00000000002")
        }
      }
      let filled = try await Self.poll(server, "/news/json?poll=1&since=all")
      #expect(filled.map { $0.event.text } == ["message", "message"])
    }
  }

  @Test func `a reader marks a message read by its sequence`() async throws {
    try await Self.test { server, token in
      try await Self.publish(server, #""message":"one""#)
      let sent = try await Self.send(server, "/news/door", by: "PUT", as: "publisher", body: "two")
      try #require(sent.status == 200)
      for sequence in ["n00000000000", "door"] {
        let answer = try await Self.send(server, "/news/\(sequence)/clear", by: "PUT")
        #expect(answer.status == 200 && answer.json["event"] as? String == "message_clear")
        #expect(answer.json["sequence_id"] as? String == sequence)
      }
      #expect(try await server.store.notifications.unreadCount(of: server.id(of: "device")) == 0)
      for path in ["/news/window/clear", "/news/n00000000009/clear"] {
        #expect(try await Self.send(server, path, by: "POST").json["code"] as? Int == 40401)
      }
      #expect(
        try await Self.send(server, "/inbox/n00000000000/clear", by: "PUT", as: "admin").status
          == 404)
    }
  }

  @Test func `a device that has more streams than it may have is refused another`() async throws {
    try await Self.test { server, token in
      let fields = [("Authorization", "Bearer " + token)]
      var open: [TestStream] = []
      for _ in 0..<8 {
        open.append(
          try #require(try await Self.send(server, "/news/json", as: nil, fields).stream))
      }
      let refused = try await Self.send(server, "/news/json", as: nil, fields)
      #expect(refused.json["code"] as? Int == 42901)
      open[0].close()
      #expect(try await Self.send(server, "/news/json", as: nil, fields).stream != nil)
      // Whoever takes the token away ends them.
      let list = try await server.execute("GET", "/api/registrations", as: "device")
      let id = try #require(list.objects("devices").first?["registration"] as? String)
      let ended = try await server.status("DELETE", "/api/register/\(id)/token", as: "device")
      #expect(ended == 204)
      while try await open[1].nextBytes() != nil {}
    }
  }
}

extension String {
  fileprivate var quotedJSON: String { "\"\(self)\"" }
}
