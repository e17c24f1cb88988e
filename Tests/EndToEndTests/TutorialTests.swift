import Foundation
import RichPushClient
import Testing

/// The unmodified iOS client of the tutorials against the real server, with all its traps.
@Suite(.timeLimit(.minutes(5))) struct TutorialTests {
  private static let handle = String(repeating: "0A1B2C3D", count: 8)

  @Test func `serves the tutorial's client from registration to picture`() async throws {
    try await RunningServer.lend { server in
      let phone = try TutorialClient(port: server.port, user: "alice")
      let answer = try phone.requestRegistration(handle: Self.handle)
      #expect(answer.status == 200)
      let id = TutorialClient.registrationID(in: answer)
      #expect(answer.text == "\"\(id)\"")
      #expect(id.wholeMatch(of: #/[A-Za-z0-9-]+/#) != nil)

      let upsert = try phone.upsertRegistration(id: id, handle: Self.handle)
      #expect(upsert.status == 200 && upsert.body.isEmpty)

      var pushes = server.client("alice").events(after: "0").makeAsyncIterator()
      let sent = try phone.sendRichNotification()
      #expect(sent.status == 200 && sent.body.isEmpty)
      let push = try await pushes.next()
      #expect(
        push?.text == #"{"aps":{"content-available":1},"richId":"0","#
          + #""richMessage":"Check this image out!","richType":"img"}"#)

      let picture = try phone.fetch(try #require(push?.push.id))
      #expect(picture.status == 200)
      #expect(picture.fields["content-type"] == "image/png")
      let isTheLogo = picture.body == (try Package.bytes("assets/img/logo.png"))
      #expect(isTheLogo)

      let stranger = try TutorialClient(port: server.port, user: "mallory")
      #expect(try stranger.fetch(0).status == 404)
      #expect(try phone.deleteRegistration(id: id).status == 200)
    }
  }

  @Test func `sends the tutorial's alert to another user`() async throws {
    try await RunningServer.lend { server in
      var pushes = server.client("bob").events(after: "0").makeAsyncIterator()
      let phone = try TutorialClient(port: server.port, user: "alice")
      let answer = try phone.notify("bob", text: "Hello, \\\"Bob\\\" ☃")
      #expect(answer.status == 200)
      #expect(try await pushes.next()?.push.message.text == "From alice: Hello, \"Bob\" ☃")
      let other = try phone.send(
        "POST", "/api/notifications?pns=pigeon&to_tag=bob", body: Array("\"x\"".utf8),
        type: "application/json")
      #expect(other.status == 400)
    }
  }

  @Test func `keeps a device's registration through everything the client does`() async throws {
    try await RunningServer.lend { server in
      let phone = try TutorialClient(port: server.port, user: "alice")
      let first = try phone.requestRegistration(handle: Self.handle)
      let again = try phone.requestRegistration(handle: Self.handle.lowercased())
      #expect(first.text == again.text)

      // A client that was restored from a backup puts an id this server has never given.
      let stale = try phone.upsertRegistration(id: "7a58-stale-0001", handle: Self.handle)
      #expect(stale.status == 200)

      let lowerCase = try phone.send(
        "PUT", "/api/register/\(TutorialClient.registrationID(in: first))",
        body: Array(#"{"platform":"apns","handle":"\#(Self.handle)","tags":["news"]}"#.utf8),
        type: "application/json")
      #expect(lowerCase.status == 200)

      let stranger = try TutorialClient(port: server.port, user: "mallory")
      let id = TutorialClient.registrationID(in: first)
      let theft = try stranger.upsertRegistration(id: id, handle: "FF00")
      #expect((400..<500).contains(theft.status))
      let disguise = try phone.upsertRegistration(
        id: id, handle: Self.handle, tags: ["username:bob"])
      #expect((400..<500).contains(disguise.status))
    }
  }

  @Test func `names the mistake of clients built with Xcode 11`() async throws {
    try await RunningServer.lend { server in
      let phone = try TutorialClient(port: server.port, user: "alice")
      let answer = try phone.requestRegistration(handle: "{LENGTH=32,BYTES=0X0A1B...2C3D}")
      #expect(answer.status == 400)
      #expect(answer.text.contains("description"))
      #expect(answer.text.contains("Xcode 11"))
    }
  }

  @Test func `lets nobody in without the right password`() async throws {
    try await RunningServer.lend { server in
      for password in ["wrong", "", "alice2"] {
        let phone = try TutorialClient(port: server.port, user: "alice", password: password)
        let answer = try phone.fetch(0)
        #expect(answer.status == 401)
        #expect(answer.fields["www-authenticate"]?.hasPrefix("Basic realm=\"richpush\"") == true)
      }
      for field in ["", "Authorization: Basic !!!\r\n", "Authorization: Bearer x\r\n"] {
        let answer = try RawConnection(port: server.port)
          .exchange("GET /api/notifications/0 HTTP/1.1\r\n" + field)
        #expect(answer.status == 401, "\(field)")
      }
    }
  }
}
