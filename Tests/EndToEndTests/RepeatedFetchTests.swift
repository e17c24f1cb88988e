import Foundation
import RichPushClient
import Testing
import Waiting

/// An answer that is remembered is right all the same.
@Suite(.timeLimit(.minutes(5))) struct RepeatedFetchTests {
  @Test func `what was withdrawn is gone at once, for those who fetched it too`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      for _ in 0..<3 { _ = try await alice.media(id) }
      try await server.client("shop").withdraw(id)
      #expect(try Self.ask("GET", id, "alice", server).status == 404)
    }
  }

  @Test func `what was amended is new at once, though its address was asked for`() async throws {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      let id = try await shop.create(.logo(to: "alice")).id
      for _ in 0..<3 { #expect(try Self.ask("HEAD", id, "alice", server).status == 304) }
      _ = try await shop.amend(id, Amendment(payload: "beach.jpg"))
      #expect(try await server.client("alice").media(id).contentType == "image/jpeg")
    }
  }

  @Test func `what one may fetch is nobody else's, however often it was fetched`() async throws {
    try await RunningServer.lend { server in
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      for _ in 0..<3 {
        #expect(try Self.ask("GET", id, "alice", server).status == 200)
        #expect(try Self.ask("GET", id, "eve", server).status == 404)
      }
    }
  }

  @Test func `what expires is gone in time, and another version of a plugin is used soon`()
    async throws
  {
    try await RunningServer.lend { scratch in
      try scratch.drop(Self.script("old"), as: "plugins/coupon", executable: true)
    } to: { server in
      let (shop, alice) = (server.client("shop"), server.client("alice"))
      var coupon = NewNotification("m", richType: "coupon", payload: "x", to: .users(["alice"]))
      coupon.expires = Date(timeIntervalSinceNow: 3600)
      let id = try await shop.create(coupon).id
      #expect(try await alice.media(id).bytes == Data("old\n".utf8))
      try server.scratch.drop(Self.script("new"), as: "plugins/coupon", executable: true)
      try await eventually("the new version answers") {
        try await alice.media(id).bytes == Data("new\n".utf8)
      }
      coupon.expires = Date(timeIntervalSinceNow: 3)
      let short = try await shop.create(coupon).id
      // Asked for so often that its answer is remembered.
      try await eventually("it has expired") {
        try Self.ask("GET", short, "alice", server).status == 404
      }
    }
  }

  @Test func `every recipient's fetch is noted, though one answer served them all`() async throws {
    try await RunningServer.lend { server in
      let shop = server.client("shop")
      let logo = NewNotification(
        "m", richType: "img", payload: "logo.png", to: .users(["alice", "bob", "carol"]))
      let id = try await shop.create(logo).id
      for user in ["alice", "bob", "bob"] {
        #expect(try Self.ask("GET", id, user, server).status == 200)
      }
      try await eventually("both are noted") {
        try Self.ask("GET", id, "shop", server, path: "/receipts").text
          .components(separatedBy: #""fetched":""#).count == 3
      }
    }
  }

  @Test func `a fetch is noted though the server is stopped just after it`() async throws {
    try await RunningServer.lend { server in
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      #expect(try Self.ask("GET", id, "alice", server).status == 200)
      try await server.restart(by: SIGTERM)
      #expect(
        try Self.ask("GET", id, "shop", server, path: "/receipts").text.contains(#""fetched":""#))
    }
  }

  private static func script(_ word: String) -> [UInt8] {
    Array("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n\(word)\\n'\n".utf8)
  }

  private static func ask(
    _ method: String, _ id: Int, _ user: String, _ server: RunningServer, path: String = ""
  ) throws -> RawConnection.Answer {
    let credentials = Data("\(user):\(user)".utf8).base64EncodedString()
    var head = "\(method) /api/notifications/\(id)\(path) HTTP/1.1\r\n"
    head += "Authorization: Basic \(credentials)\r\n"
    if method == "HEAD" { head += "If-None-Match: *\r\n" }  // the answer's end is then its head's
    return try RawConnection(port: server.port).exchange(head)
  }
}
