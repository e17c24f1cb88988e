import Foundation
import RichPushAPI
import RichPushClient
import Synchronization
import Testing

@Suite struct RichPushClientTests {
  @Test func `registers in the tutorial's two steps`() async throws {
    let server = try StandIn { request, connection in
      connection.answer(200, [], request.method == "POST" ? #""r-1""# : "")
    }
    var client = RichPushClient(endpoint: server.endpoint, user: "alice", password: "a:b")
    client.languages = ["de-CH", "en"]
    #expect(try await client.register(handle: "AB12", tags: ["news"]) == "r-1")
    let requests = server.requests
    #expect(requests.map(\.method) == ["POST", "PUT"])
    #expect(requests.map(\.target) == ["/api/register?handle=AB12", "/api/register/r-1"])
    #expect(requests[0].fields["authorization"] == "Basic YWxpY2U6YTpi")
    let zone = JSONCoding.text(TimeZone.current.identifier)
    #expect(
      requests[1].body
        == #"{"Handle":"AB12","Language":"de-CH","Platform":"apns","Tags":["news"],"TimeZone":\#(zone)}"#
    )
    #expect(requests[1].fields["accept-language"] == "de-CH, en")
  }

  @Test func `what the server warns of is what it says after ok`() async throws {
    let server = try StandIn { request, connection in
      connection.answer(200, [], "ok\n" + (request.target == "/readyz" ? "One.\nTwo.\n" : ""))
    }
    let client = RichPushClient(endpoint: server.endpoint, user: "", password: "")
    try await client.ping()
    #expect(try await client.warnings() == ["One.", "Two."])
    #expect(server.requests.map(\.target) == ["/healthz", "/readyz"])
  }

  @Test func `a device sends a token, which requests that come together share`() async throws {
    let server = try Self.tokenServer()
    var client = client(of: server)
    client.device = "r-1"
    let device = client
    try await withThrowingTaskGroup(of: Void.self) { group in
      for id in 0..<8 { group.addTask { try await device.markRead(id) } }
      try await group.waitForAll()
    }
    let issued = server.requests.filter { $0.method == "POST" }
    #expect(issued.map(\.target) == ["/api/register/r-1/token"])
    #expect(issued.first?.fields["authorization"]?.hasPrefix("Basic ") == true)
    let marks = server.requests.filter { $0.method == "PUT" }
    #expect(marks.count == 8)
    #expect(marks.allSatisfy { $0.fields["authorization"] == "Bearer t-1" })
    #expect(marks.allSatisfy { $0.fields["richpush-device"] == nil }, "the token says which it is")
  }

  @Test func `a rejected token is replaced once`() async throws {
    let server = try Self.tokenServer(valid: 2)
    var client = client(of: server)
    client.device = "r-1"
    try await client.markRead(7)
    #expect(try await client.deviceToken() == "t-2")

    let rejecting = try Self.tokenServer(valid: 9)
    client = self.client(of: rejecting)
    client.device = "r-1"
    let error = await #expect(throws: RichPushError.self) { try await client.markRead(7) }
    #expect(error?.code == .unauthorized)
    #expect(rejecting.requests.map(\.method) == ["POST", "PUT", "POST", "PUT"])
  }

  @Test func `a client with a token only needs no password`() async throws {
    let server = try Self.tokenServer(valid: 5)
    func client(_ token: String) -> RichPushClient {
      RichPushClient(endpoint: server.endpoint, user: "alice", device: "r-1", token: token)
    }
    try await client("t-5").markRead(7)
    let error = await #expect(throws: RichPushError.self) { try await client("t-4").markRead(7) }
    #expect(error?.code == .unauthorized)
    #expect(server.requests.map(\.method) == ["PUT", "PUT"])
  }

  @Test func `a device whose registration was removed sends the password`() async throws {
    let server = try StandIn { request, connection in
      connection.answer(request.method == "POST" ? 404 : 204)
    }
    var client = client(of: server)
    client.device = "r-1"
    try await client.markRead(7)
    #expect(server.requests.last?.fields["authorization"]?.hasPrefix("Basic ") == true)
    #expect(server.requests.last?.fields["richpush-device"] == "r-1")
  }

  /// Issues the tokens `t-1`, `t-2` and so on, and accepts only the one with the number `valid`.
  private static func tokenServer(valid: Int = 1) throws -> StandIn {
    let issued = Atomic(0)
    return try StandIn { request, connection in
      if request.method == "POST" {
        let number = issued.add(1, ordering: .relaxed).newValue
        return connection.answer(201, [], #"{"token":"t-\#(number)"}"#)
      }
      let isValid = request.fields["authorization"] == "Bearer t-\(valid)"
      connection.answer(isValid ? 204 : 401)
    }
  }

  @Test func `gives media with its type, and asks for the size it needs`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(200, ["Content-Type: image/png", "ETag: \"e\""], "bytes")
    }
    let options = MediaOptions(
      profile: "ios", width: 320, fit: .cover, scale: 2, others: ["view": "a b&c/é"])
    let media = try await client(of: server).media(7, options: options)
    #expect(media == Media(bytes: Data("bytes".utf8), contentType: "image/png", etag: "\"e\""))
    #expect(
      server.requests.first?.target
        == "/api/notifications/7?profile=ios&width=320&fit=cover&dpr=2.0&view=a%20b%26c%2F%C3%A9")
  }

  @Test func `creates a notification and reads the answer`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(
        201, [],
        """
        {"id":0,"message":"m","richType":"img","payload":"logo.png","to":["username:bob"],
        "read":false,"created":"2026-11-22T00:30:00.125Z","expires":"2027-01-01T00:00:00Z",
        "media":"/api/notifications/0","details":{"width":320,"title":"t"},"unheardOf":[1]}
        """)
    }
    let new = NewNotification(
      "m", richType: "img", payload: "logo.png", to: .users(["bob"]), idempotencyKey: "k")
    let notification = try await client(of: server).create(new)
    #expect(notification.id == 0)
    #expect(notification.details.width.integer == 320)
    #expect(notification.details.title.text == "t")
    #expect(notification.expires == Date(timeIntervalSince1970: 1_798_761_600))
    let sent =
      #"{"idempotencyKey":"k","message":"m","payload":"logo.png","richType":"img","#
      + #""to":["username:bob"]}"#
    #expect(server.requests.first?.body == sent)
  }

  @Test func `uploads a file and escapes its name`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(
        201, [], #"{"richType":"img","name":"a b/ä\t.png","state":"ready","bytes":4}"#)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("file".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let asset = try await client(of: server).upload(file, name: "a b/ä\t.png", richType: "img")
    #expect(asset.state == .ready)
    #expect(server.requests.first?.method == "PUT")
    #expect(server.requests.first?.target == "/api/assets/img/a%20b%2F%C3%A4%09.png")
    #expect(server.requests.first?.body == "file")
  }

  @Test func `uploads a file without a rich type, and may not replace another`() async throws {
    let server = try StandIn { request, connection in
      if request.fields["if-none-match"] == "*" {
        return connection.answer(412, [], #"{"detail":"There is already a file."}"#)
      }
      connection.answer(201, [], #"{"richType":"video","name":"ä b.mp4","state":"ready"}"#)
    }
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data("film".utf8).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let asset = try await client(of: server).upload(file, name: "ä b.mp4")
    #expect(asset.richType == "video")
    #expect(server.requests.first?.method == "POST")
    #expect(server.requests.first?.target == "/api/assets?name=%C3%A4%20b.mp4")
    #expect(server.requests.first?.body == "film")
    let error = await #expect(throws: RichPushError.self) {
      try await client(of: server).upload(file, name: "ä b.mp4", replacing: false)
    }
    #expect(error?.status == 412 && error?.reason == "There is already a file.")
  }

  @Test func `sends a CSV file of attributes, and reads the report`() async throws {
    let server = try StandIn { request, connection in
      connection.answer(
        200, [],
        """
        {"changed":1,"unchanged":0,"refused":1,"more":0,
        "lines":[{"line":3,"username":"bob","result":"refused","reason":"No."}]}
        """)
    }
    let file = "username,city\nalice,Bern\nbob,Rom\n"
    let report = try await client(of: server).importAttributes(csv: Data(file.utf8), dryRun: true)
    #expect(report.changed == 1 && report.lines.first?.reason == "No.")
    #expect(server.requests.first?.target == "/api/attributes/import?dry-run=")
    #expect(server.requests.first?.fields["content-type"] == "text/csv")
    #expect(server.requests.first?.body == file)
  }

  @Test func `reads a list of assets page by page`() async throws {
    let server = try StandIn { request, connection in
      let isFirst = !request.target.contains("after")
      let name = isFirst ? "a" : "b"
      connection.answer(
        200, [],
        """
        {"assets":[{"richType":"img","name":"\(name)","state":"refused","reason":"no"}],
        "next":\(isFirst ? "\"img/a\"" : "null")}
        """)
    }
    let assets = try await client(of: server).assets(richType: "img")
    #expect(assets.map(\.name) == ["a", "b"])
    #expect(assets.first?.reason == "no")
  }

  @Test func `leafs through the inbox`() async throws {
    let server = try StandIn { request, connection in
      let isFirst = !request.target.contains("before")
      connection.answer(
        200, [],
        #"{"notifications":[],"next":"#
          + (isFirst ? #""/api/notifications?before=7&limit=2"}"# : "null}"))
    }
    let first = try await client(of: server).inbox(limit: 2)
    let second = try #require(try await client(of: server).page(after: first))
    #expect(try await client(of: server).page(after: second) == nil)
    #expect(server.requests.last?.target == "/api/notifications?before=7&limit=2")
  }

  @Test(arguments: [(502, "plugin-failed"), (500, "internal-server-error")])
  func `a plugin or a server that fails is told from one that is busy`(
    status: Int, code: String
  ) async throws {
    let server = try StandIn { _, connection in
      connection.answer(status, [], #"{"status":\#(status),"code":"\#(code)","detail":"Because."}"#)
    }
    let client = client(of: server)
    let error = await #expect(throws: RichPushError.self) { _ = try await client.details(1) }
    #expect(error?.code == .failed && error?.reason == "Because.")
  }

  @Test(arguments: [
    (400, RichPushError.Code.refused), (403, .unauthorized),
    (404, .notFound), (413, .refused), (429, .unavailable), (503, .unavailable),
    (502, .unavailable), (504, .unavailable),
  ])
  func `throws the server's sentence`(status: Int, code: RichPushError.Code) async throws {
    let server = try StandIn { _, connection in
      connection.answer(
        status, ["Retry-After: 3"],
        #"{"status":\#(status),"title":"t","detail":"Because."}"#)
    }
    let client = client(of: server)
    for call in [{ _ = try await client.details(1) }, { _ = try await client.media(1) }] {
      let error = await #expect(throws: RichPushError.self) { try await call() }
      #expect(error?.code == code)
      #expect(error?.reason == "Because.")
      #expect(error?.status == status)
      #expect(error?.retryAfter == 3)
    }
  }

  @Test func `says that the password is wrong`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(401, ["WWW-Authenticate: Basic realm=\"richpush\""], "{}")
    }
    let client = client(of: server)
    for call in [{ _ = try await client.details(1) }, { _ = try await client.media(1) }] {
      let error = await #expect(throws: RichPushError.self) { try await call() }
      #expect(error?.code == .unauthorized)
      #expect(error?.status == 401)
    }
  }

  @Test func `says where nobody answers`() async throws {
    let client = client(of: try StandIn { _, _ in })
    let error = await #expect(throws: RichPushError.self) { try await client.inbox() }
    #expect(error?.code == .unreachable)
    #expect(error?.reason.contains("http://127.0.0.1") == true)
  }

  @Test func `searches and tidies the inbox, and changes a device's settings`() async throws {
    let device = #"{"registration":"p 1","tags":["a"],"updated":"2027-01-01T00:00:00Z"}"#
    let server = try StandIn { request, connection in
      switch request.method {
      case "PATCH": connection.answer(200, [], device)
      case "POST": connection.answer(200, [], #"{"unread":3}"#)
      case "GET": connection.answer(200, [], #"{"notifications":[],"next":null}"#)
      default: connection.answer(204)
      }
    }
    let client = client(of: server)
    _ = try await client.inbox(subject: "news", search: "Früh & spät")
    #expect(try await client.markAllRead(until: 9) == 3)
    try await client.hide(7)
    try await client.unhide(7)
    var change = DeviceChange()
    (change.name, change.quietHours) = (.removal, .value(QuietHours(from: "22:00", until: "07:00")))
    #expect(try await client.updateDevice("p 1", change).tags == ["a"])
    #expect(
      server.requests.map { "\($0.method) \($0.target) \($0.body)" } == [
        "GET /api/notifications?subject=news&search=Fr%C3%BCh%20%26%20sp%C3%A4t ",
        #"POST /api/notifications/read {"until":9}"#, "PUT /api/notifications/7/hidden ",
        "DELETE /api/notifications/7/hidden ",
        #"PATCH /api/register/p%201 {"name":null,"quietHours":{"from":"22:00","until":"07:00"}}"#,
      ])
  }

  @Test func `says when an answer is no richpush server's`() async throws {
    let server = try StandIn { _, connection in connection.answer(200, [], "<html>") }
    let error = await #expect(throws: RichPushError.self) {
      try await self.client(of: server).inbox(unreadOnly: true, limit: 5, before: 9)
    }
    #expect(error?.code == .malformed)
    #expect(
      server.requests.first?.target == "/api/notifications?unread=true&limit=5&before=9")
  }

  @Test(arguments: [301, 302, 307, 308])
  func `follows a redirect to read, and sends nothing to another place`(_ status: Int) async throws
  {
    let other = try StandIn { _, connection in
      connection.answer(200, [], #"{"notifications":[],"next":null}"#)
    }
    let place = "Location: \(other.endpoint)/api/notifications"
    let server = try StandIn { _, connection in connection.answer(status, [place]) }
    #expect(try await client(of: server).inbox().notifications.isEmpty)
    #expect(other.requests.count == 1)
    #expect(other.requests.first?.fields["authorization"] == nil, "another server learns nothing")
    let new = NewNotification("m", richType: "img", payload: "logo.png", to: .users(["bob"]))
    for call in [
      { _ = try await client(of: server).create(new) },
      { try await client(of: server).markRead(7) }, { try await client(of: server).withdraw(7) },
    ] {
      let error = await #expect(throws: RichPushError.self) { try await call() }
      #expect(error?.status == status && error?.code == .refused)
    }
    #expect(other.requests.count == 1)
  }

  private func client(of server: StandIn) -> RichPushClient {
    RichPushClient(endpoint: server.endpoint, user: "alice", password: "alice")
  }
}
