import Foundation
import RichPushClient
import Testing
import Waiting

/// `richpush user remove` and `add` beside a running server: a name changes hands.
@Suite(.timeLimit(.minutes(5))) struct RemovedUserTests {
  @Test func `the next owner of a name gets nothing that was for the one before`() async throws {
    try await RunningServer.lend(flags: []) { scratch in
      for (name, role) in [("alice", "device"), ("bob", "device"), ("shop", "publisher")] {
        try await Self.user(
          ["add", name, "--role", role], in: scratch, password: "secret of \(name)")
      }
    } to: { server in
      let shop = server.client("shop", password: "secret of shop")
      let old = server.client("alice", password: "secret of alice")
      _ = try await old.register(handle: "AB")
      let id = try await shop.create(
        NewNotification("Look", richType: "img", payload: "logo.png", to: .users(["alice", "bob"]))
      ).id
      var stream = old.events(after: "0").makeAsyncIterator()
      #expect(try await stream.next()?.push.id == id)
      _ = try await old.media(id)
      #expect(try await old.inbox().notifications.count == 1)
      // A fetch is recorded a moment after its answer.
      try await eventually("the fetch is recorded") {
        try await Self.receipts(of: id, on: server) == ["alice fetched", "bob queued"]
      }
      let listening = try RawConnection(port: server.port)
      listening.send(Self.head("GET /api/push/stream", "alice:secret of alice"))
      try await eventually("the stream is open") { listening.hasInput }

      try await Self.user(["remove", "alice"], in: server.scratch)
      try await Self.user(["add", "alice"], in: server.scratch, password: "another secret")
      // The open stream has ended, and the old password opens nothing more.
      let said = String(decoding: listening.rest(until: "\r\n0\r\n\r\n"), as: UTF8.self)
      #expect(said.contains("200 OK") && said.hasSuffix("0\r\n\r\n"), "\(said)")
      await #expect(throws: RichPushError.self) { try await old.inbox() }

      let alice = RichPushClient(
        endpoint: server.endpoint, user: "alice", password: "another secret")
      let inbox = try await alice.inbox()
      #expect(inbox.notifications.isEmpty && inbox.unread == 0)
      for path in ["\(id)", "\(id)/details"] {
        let connection = try RawConnection(port: server.port)
        connection.send(Self.head("GET /api/notifications/\(path)", "alice:another secret"))
        #expect(try connection.answer().status == 404, "\(path)")
      }
      let next = try await shop.create(.logo(to: "alice", "new"))
      #expect(next.reach?.users == 1 && next.reach?.devices == 0)
      var fresh = alice.events(after: "0").makeAsyncIterator()
      #expect(try await fresh.next()?.push.id == next.id)

      let details = try await shop.details(id)
      #expect(try await Self.receipts(of: id, on: server) == ["null fetched", "bob queued"])
      #expect(details.to == ["username:alice", "username:bob"])
    }
  }

  @Test func `what is sent to a name that nobody has is for nobody`() async throws {
    try await RunningServer.lend(flags: []) { scratch in
      try await Self.user(
        ["add", "shop", "--role", "publisher"], in: scratch, password: "secret of shop")
    } to: { server in
      let shop = server.client("shop", password: "secret of shop")
      let refusal = await #expect(throws: RichPushError.self) {
        try await shop.create(.logo(to: "carol"))
      }
      #expect(refusal?.code == .refused && refusal?.reason == "There is no user “carol”.")
      let both = NewNotification(
        "Look", richType: "img", payload: "logo.png", to: .users(["shop", "carol"]))
      let reach = try await shop.create(both).reach
      #expect(reach?.users == 1 && reach?.unknown == ["carol"])
      let connection = try RawConnection(port: server.port)
      connection.send(
        Self.head(
          "POST /api/notifications?pns=apns&to_tag=carol", "shop:secret of shop",
          "Content-Length: 4\r\n")
          + Array("\"hi\"".utf8))
      #expect(try connection.answer().status == 200)
      try await Self.user(["add", "carol"], in: server.scratch, password: "secret of carol")
      let carol = server.client("carol", password: "secret of carol")
      #expect(try await carol.inbox().notifications.isEmpty)
      let next = try await shop.create(.logo(to: "carol", "new"))
      var stream = carol.events(after: "0").makeAsyncIterator()
      #expect(try await stream.next()?.push.id == next.id)
    }
  }

  /// `name state` of each receipt, as the publisher sees them.
  private static func receipts(of id: Int, on server: RunningServer) async throws -> [String] {
    let connection = try RawConnection(port: server.port)
    connection.send(head("GET /api/notifications/\(id)/details", "shop:secret of shop"))
    let answer = try JSONSerialization.jsonObject(with: Data(connection.answer().body))
    let receipts = try #require((answer as? [String: Any])?["receipts"] as? [[String: Any]])
    return receipts.map { "\($0["user"] as? String ?? "null") \($0["state"] as? String ?? "")" }
  }

  private static func head(_ line: String, _ account: String, _ more: String = "") -> [UInt8] {
    let field = Data(account.utf8).base64EncodedString()
    return Array(
      "\(line) HTTP/1.1\r\nHost: 127.0.0.1\r\nAuthorization: Basic \(field)\r\n\(more)\r\n".utf8)
  }

  private static func user(
    _ words: [String], in scratch: Scratch, password: String = ""
  ) async throws {
    let result = try await Child.run(
      "richpush", ["user"] + words + ["--data", scratch.folder.path + "/var"],
      input: password + "\n")
    #expect(result.exitCode == 0, "\(result.errors)")
  }
}
