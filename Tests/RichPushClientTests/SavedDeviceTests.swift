import Foundation
import Testing

@testable import RichPushClient

/// The code of `docs/CLIENTS.md` for a notification service extension.
@Suite(.timeLimit(.minutes(1))) struct SavedDeviceTests {
  private static let root = URL(filePath: #filePath).deletingLastPathComponent()

  @Test func `is what the document shows`() throws {
    let file = Self.root.appending(path: "SavedDevice.swift")
    let code = try String(contentsOf: file, encoding: .utf8)
    let document = try String(
      contentsOf: Self.root.appending(path: "../../docs/CLIENTS.md"), encoding: .utf8)
    let declaration = try #require(code.firstRange(of: "/// What the app")).lowerBound
    #expect(document.contains(code[declaration...]))
  }

  @Test func `signs in once, and fetches the media with the token`() async throws {
    let server = try StandIn { request, connection in
      switch request.target {
      case "/api/register?handle=AB12": connection.answer(200, [], #""7f""#)
      case "/api/register/7f": connection.answer(200)
      case "/api/register/7f/token": connection.answer(201, [], #"{"token":"secret"}"#)
      default: connection.answer(200, ["Content-Type: image/png"], "picture")
      }
    }
    let device = try await SavedDevice.signIn(
      at: server.endpoint, as: "alice", password: "word", pushToken: "AB12")
    #expect(device.token == "secret")
    let file = try await device.attachment(of: 7)
    defer { try? FileManager.default.removeItem(at: file) }
    #expect(file.pathExtension == "png")
    #expect(try String(contentsOf: file, encoding: .utf8) == "picture")
    let last = try #require(server.requests.last)
    #expect(last.target == "/api/notifications/7?profile=ios")
    #expect(last.fields["authorization"] == "Bearer secret")
  }

  @Test func `a Web Push subscription is registered with its keys`() async throws {
    let server = try StandIn { _, connection in connection.answer(200) }
    let client = RichPushClient(endpoint: server.endpoint, user: "alice", password: "word")
    try await client.register(
      "desktop-1", endpoint: "https://push.example/a", p256dh: "key", auth: "word")
    let request = try #require(server.requests.last)
    #expect(request.method == "PUT" && request.target == "/api/register/desktop-1")
    let body = try #require(JSONValue(request.body.utf8))
    #expect(body.Platform.text == "webpush" && body.Handle.text == "https://push.example/a")
    #expect(body.Keys.p256dh.text == "key" && body.Keys.auth.text == "word")
  }
}
