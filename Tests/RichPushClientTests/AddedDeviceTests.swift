import Foundation
import Testing

@testable import RichPushClient

/// How devices are registered under an ID that they know.
@Suite(.timeLimit(.minutes(1))) struct AddedDeviceTests {
  @Test func `the push token of a paired device follows with its token, and leaves tags and name`()
    async throws
  {
    let server = try StandIn { _, connection in connection.answer(200) }
    let client = RichPushClient(
      endpoint: server.endpoint, user: "alice", device: "p1", token: "secret")
    try await client.register("p1", handle: "AB12")
    let request = try #require(server.requests.last)
    #expect(request.method == "PUT" && request.target == "/api/register/p1")
    #expect(request.fields["authorization"] == "Bearer secret")
    let body = try #require(JSONValue(request.body.utf8))
    #expect(body.Platform.text == "apns" && body.Handle.text == "AB12")
    #expect(body.Tags == .null && body.Name == .null)
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
