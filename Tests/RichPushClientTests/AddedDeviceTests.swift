import Foundation
import Testing

@testable import RichPushClient

/// How devices are added by a code, and registered under an ID that they know.
@Suite(.timeLimit(.minutes(1))) struct AddedDeviceTests {
  @Test func `a code gives a token without any credentials`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(201, [], #"{"registration":"p1","user":"alice","token":"secret"}"#)
    }
    let paired = try await RichPushClient.pair(
      with: "7KQMWX4P", at: server.endpoint, name: "Anna’s iPhone")
    #expect(paired.user == "alice" && paired.registration == "p1" && paired.token == "secret")
    let request = try #require(server.requests.last)
    #expect(request.method == "POST" && request.target == "/api/pair")
    #expect(request.fields["authorization"] == nil && request.fields["richpush-device"] == nil)
    let body = try #require(JSONValue(request.body.utf8))
    #expect(body.code.text == "7KQMWX4P" && body.name.text == "Anna’s iPhone")
    #expect(body.timeZone.text == TimeZone.current.identifier)
  }

  @Test func `a used code is refused with the server's sentence`() async throws {
    let server = try StandIn { _, connection in
      connection.answer(410, [], #"{"code":"gone","detail":"The code was used."}"#)
    }
    let error = await #expect(throws: RichPushError.self) {
      try await RichPushClient.pair(with: "7KQMWX4P", at: server.endpoint)
    }
    #expect(error?.reason == "The code was used." && error?.status == 410)
  }

  @Test func `its push token follows with the token, and leaves its tags and name`() async throws {
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
