import Foundation
import RichPushClient
import Testing
import Waiting

/// Everything a careless or hostile hand can send: a clear refusal each, and a server that lives on.
@Suite(.timeLimit(.minutes(5))) struct BadInputTests {
  @Test func `refuses payloads that are no asset of ours`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "secret.png")
      let link = server.scratch.folder.appending(path: "assets/img/link.png").path
      try FileManager.default.createSymbolicLink(
        atPath: link, withDestinationPath: "../../secret.png")
      let names = [
        "missing.png", "../secret.png", "../../secret.png", "%2e%2e/secret.png", "..%2fsecret.png",
        "/etc/passwd", "link.png", "", ".", "..", "a/b.png", "logo.png/", "./logo.png",
        "logo.png\u{0}.jpg", "~/x", String(repeating: "x", count: 5000),
      ]
      for name in names {
        await refuses(
          NewNotification("m", richType: "img", payload: name, to: .users(["alice"])), on: server)
      }
      for type in ["nosuch", "../img", "IMG", "", "img/../img", "img\u{0}"] {
        await refuses(
          NewNotification("m", richType: type, payload: "logo.png", to: .users(["alice"])),
          on: server)
      }
      try await server.expectHealthy()
    }
  }

  @Test func `refuses files that are not what they should be, and says why`() async throws {
    let photo = try Package.bytes("assets/img/beach.jpg")
    let bombs: [String: [UInt8]] = [
      "text.png": Array("This is a text.\n".utf8),
      "page.png": Array("<html><script>alert(1)</script></html>".utf8),
      "drawing.png": Array("<svg xmlns='http://www.w3.org/2000/svg'/>".utf8),
      "truncated.jpg": Array(photo.prefix(300)),
      "empty.png": [],
      "huge.png": Self.hugePNG,
    ]
    try await RunningServer.lend { server in
      for (name, bytes) in bombs { try server.scratch.drop(bytes, as: "assets/img/\(name)") }
      for name in bombs.keys.sorted() {
        let error = await refuses(
          NewNotification("m", richType: "img", payload: name, to: .users(["alice"])), on: server)
        #expect((error?.reason.count ?? 0) > 20, "\(name): \(error?.reason ?? "")")
      }
      let publisher = server.client("publisher")
      try await eventually("every refusal is listed with its reason") {
        let assets = try await publisher.assets(richType: "img").filter { bombs[$0.name] != nil }
        return assets.count == bombs.count
          && assets.allSatisfy { $0.state == .refused && $0.reason?.isEmpty == false }
      }
      try await server.expectHealthy()
    }
  }

  @Test(arguments: [
    ("GET", "/api/notifications?limt=1", "Did you mean “limit”?"),
    ("GET", "/api/notifications/0?widh=64", "Did you mean “width”?"),
    ("GET", "/api/assets?stat=ready", "Did you mean “state”?"),
    ("POST", "/api/register?token=AB", "There are handle."),
  ])
  func `says which query parameter was likely meant`(
    method: String, target: String, said: String
  ) async throws {
    try await RunningServer.lend { server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      let answer = try RawConnection(port: server.port).exchange(
        "\(method) \(target) HTTP/1.1\r\nContent-Length: 0\r\n"
          + RunningServer.credentials("alice") + "\r\n", body: [])
      #expect(answer.status == 400 && answer.text.contains(#""code":"unknown-field""#))
      #expect(answer.text.contains(said), "\(answer.text)")
    }
  }

  @Test func `refuses bodies it cannot read`() async throws {
    let good = #""message":"m","richType":"img","payload":"logo.png""#
    let bodies = [
      "not JSON", "{", "[]", "null", #"{"message":"m"}"#, "{\(good)}",
      #"{\#(good),"to":[]}"#, #"{\#(good),"to":[1]}"#,
      #"{\#(good),"to":["username:a"],"colour":1}"#,
      #"{\#(good),"to":["username:a"],"expires":"yesterday"}"#,
      #"{"message":1,"richType":"img","payload":"logo.png","to":["username:a"]}"#,
      #"{"message":"\ud800","richType":"img","payload":"logo.png","to":["username:a"]}"#,
      String(repeating: "[", count: 100_000),
    ]
    try await RunningServer.lend { server in
      for body in bodies {
        let answer = try Self.post(Array(body.utf8), to: server)
        #expect(answer.status == 400, "\(body.prefix(80)): \(answer.text)")
        #expect(answer.fields["content-type"] == "application/problem+json")
      }
      try await server.expectHealthy()
    }
  }

  @Test func `tells what cannot be done from what cannot be read`() async throws {
    let good = #""message":"m","richType":"img","payload":"logo.png""#
    try await RunningServer.lend { server in
      for (body, part) in [
        (#"{\#(good),"to":["a b"]}"#, "to"), (#"{\#(good),"to":"a && "}"#, "to"),
        (#"{\#(good),"to":["username:a"],"expires":"2000-01-01T00:00:00Z"}"#, "past"),
        (#"{"message":"m","richType":"img","payload":"a\u0000","to":["username:a"]}"#, "NUL"),
      ] {
        let answer = try Self.post(Array(body.utf8), to: server)
        #expect(answer.status == 422, "\(body): \(answer.text)")
        #expect(answer.text.contains(part))
      }
      for target in ["/api/assets?after=", "/api/assets?after=img", "/api/assets/img?after="] {
        #expect(try server.get(target, RunningServer.credentials("a")).status == 200, "\(target)")
      }
    }
  }

  @Test func `refuses what no client should send`() async throws {
    try await RunningServer.lend { server in
      let invalid = Array(#"{"message":""#.utf8) + [0xFF, 0xFE] + Array(#""}"#.utf8)
      #expect(try Self.post(invalid, to: server).status == 400)
      let unknownMember = try Self.post(
        Array(#"{"message":"m","richType":"img","payload":"p","to":["a"],"colour":1}"#.utf8),
        to: server)
      #expect(unknownMember.text.contains("colour"))
      let flood = try RawConnection(port: server.port)
      flood.send(
        Array((Self.head("POST", "/api/notifications") + "Content-Length: 104857600\r\n\r\n").utf8))
      let piece = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 16)
      for _ in 0..<(100 << 4) where !flood.send(piece) { break }
      #expect(try flood.answer().status == 413)
      try await server.expectHealthy()
    }
  }

  @Test func `refuses paths and queries that lead nowhere`() async throws {
    let targets = [
      "/api/notifications/x", "/api/notifications/-1", "/api/notifications/99999999999999999999",
      "/api/notifications/2147483648", "/api/notifications/0x0", "/api/notifications/%30%00",
      "/api/notifications/%2e%2e/%2e%2e/etc/passwd", "/api/notifications/..%2f..%2fsecret.png",
      "/api/notifications/%zz", "/api/notifications/%ff", "/api/assets/img/%2e%2e%2fsecret.png",
      "/api/assets/img/../../secret.png", "/api/assets/img/logo.png%00.jpg", "/api/assets/%2e%2e",
      "/nowhere", "/api/notifications/0?width=x", "/api/notifications/0?width=-1",
      "/api/notifications/0?profile=toaster", "/api/notifications/0?fit=tight&width=1",
      "/api/notifications?limit=0", "/api/notifications/0?width=99999999999999999999",
    ]
    try await RunningServer.lend { server in
      _ = try await server.client("alice").create(.logo(to: "alice"))
      for target in targets {
        let connection = try RawConnection(port: server.port)
        connection.send(Array((Self.head("GET", target) + "\r\n").utf8))
        let answer = try connection.answer()
        #expect((400..<500).contains(answer.status), "\(target): \(answer.status) \(answer.text)")
      }
      let name = try server.get("/api/assets/img/a%0Ab.png", RunningServer.credentials("alice"))
      #expect(name.text.contains("The name contains a line break"))
      try await server.expectHealthy()
    }
  }

  @discardableResult
  private func refuses(
    _ notification: NewNotification, on server: RunningServer
  ) async -> RichPushError? {
    let what = "\(notification.richType ?? "") \(notification.payload?.prefix(40) ?? "")"
    let error = await #expect(throws: RichPushError.self, "\(what)") {
      try await server.client("publisher").create(notification)
    }
    #expect((400..<500).contains(error?.status ?? 0), "\(what): \(error.map(String.init) ?? "")")
    return error
  }

  private static func head(_ method: String, _ target: String) -> String {
    let credentials = Data("alice:alice".utf8).base64EncodedString()
    return
      "\(method) \(target) HTTP/1.1\r\nHost: localhost\r\nAuthorization: Basic \(credentials)\r\n"
  }

  private static func post(_ body: [UInt8], to server: RunningServer) throws -> RawConnection.Answer
  {
    let connection = try RawConnection(port: server.port)
    let fields = "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n\r\n"
    connection.send(Array((head("POST", "/api/notifications") + fields).utf8) + body)
    return try connection.answer()
  }

  /// A PNG of 20 000 by 15 000 pixels in less than a hundred bytes.
  private static let hugePNG: [UInt8] = {
    var header = Array("IHDR".utf8)
    for edge in [20_000, 15_000] as [UInt32] { header += edge.bigEndianBytes }
    header += [8, 6, 0, 0, 0]
    let signature: [UInt8] = [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]
    return signature + chunk(header)
      + chunk(Array("IDAT".utf8) + [0x78, 0x9C, 0x03, 0, 0, 0, 0, 1])
      + chunk(Array("IEND".utf8))
  }()

  private static func chunk(_ typeAndBody: [UInt8]) -> [UInt8] {
    var crc = ~UInt32(0)
    for byte in typeAndBody {
      crc ^= UInt32(byte)
      for _ in 0..<8 { crc = crc & 1 == 1 ? (crc >> 1) ^ 0xEDB8_8320 : crc >> 1 }
    }
    return UInt32(typeAndBody.count - 4).bigEndianBytes + typeAndBody + (~crc).bigEndianBytes
  }
}

extension UInt32 {
  fileprivate var bigEndianBytes: [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: self >> (24 - 8 * $0)) }
  }
}
