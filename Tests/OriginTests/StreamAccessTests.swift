import Delivery
import Foundation
import Intake
import Media
import PluginHost
import Primitives
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import HTTP
@testable import Origin

/// How long an open stream lasts when its user does not.
@Suite(.timeLimit(.minutes(2))) struct StreamAccessTests {
  /// What happens to a user, beside the running server.
  enum Change: CaseIterable { case removed, otherRole, otherPassword }

  /// The two streams, with the roles that their user has before and after.
  private static let streams: [(path: String, before: Role, after: Role)] = [
    ("/api/push/stream", .device, .publisher), ("/api/events/stream", .admin, .publisher),
  ]

  private func open(_ path: String, _ name: String, at server: TestServer) async throws
    -> TestStream
  {
    try #require(try await server.execute("GET", path, as: name).stream)
  }

  private func count(_ server: TestServer) -> Int {
    server.origin.routes.table.pushes.count + server.origin.routes.table.events.count
  }

  @Test(arguments: Change.allCases)
  func `only the streams of a removed or changed user end`(_ change: Change) async throws {
    try await TestServer.test { server in
      for (path, before, after) in Self.streams {
        let bystander = try await open(path, "admin", at: server)
        try await server.addUser("alice", before)
        let stream = try await open(path, "alice", at: server)
        #expect(count(server) == 2)
        _ = try await server.store.accounts.removeUser("alice")
        switch change {
        case .removed: break
        case .otherRole: try await server.addUser("alice", after)
        case .otherPassword:
          try await server.store.accounts.addUser("alice", hash: "*", role: before)
        }
        try await server.origin.reload()
        while try await stream.next() != nil {}
        stream.close()
        #expect(count(server) == 1)
        bystander.close()
        #expect(count(server) == 0)
        if change != .removed { _ = try await server.store.accounts.removeUser("alice") }
      }
    }
  }

  @Test func `both streams end when the API ends what their user has shown, without a reload`()
    async throws
  {
    try await TestServer.test { server in
      try await server.addUser("alice", .publisher)
      for (path, _, _) in Self.streams {
        let stream = try await open(path, "alice", at: server)
        #expect(count(server) == 1)
        #expect(
          try await server.status(
            "PUT", "/api/users/alice", as: "admin",
            body: #"{"role":"publisher","password":"\#(TestServer.password)"}"#) == 204)
        while try await stream.next() != nil {}
        stream.close()
        #expect(count(server) == 0)
      }
    }
  }

  @Test func `a stream that was closed counts no more`() async throws {
    try await TestServer.test { server in
      let device = try await server.register("AA", as: "device")
      let made = try await server.execute("POST", "/api/register/\(device)/token", as: "device")
      let token = try #require(made.json["token"] as? String)
      func open() async throws -> TestResponse {
        try await server.execute("GET", "/api/push/stream", token: token)
      }
      for _ in 0..<3 {
        let streams = try await (0..<UserQuota.streamsPerDevice).asyncMap { _ in
          try #require(try await open().stream)
        }
        #expect(try await open().status == 429)
        for stream in streams { stream.close() }
      }
    }
  }

  @Test func `a user who is removed while a stream is requested gets a 401`() async throws {
    try await TestServer.test { server in
      for (path, role, _) in Self.streams {
        let name = role.rawValue + "-to-go"
        try await server.addUser(name, role)
        #expect(try await server.status("GET", "/api/notifications", as: name) == 200)
        let request = try Request(
          "GET", path, fields: ["Authorization": TestServer.authorization(name)])
        guard case .asynchronous(_, let respond) = server.origin.responder.plan(for: request) else {
          throw Unmet("the user is known")
        }
        // Beside the running server, which is not told.
        _ = try await server.store.accounts.removeUser(name)
        let answer = try await TestResponse(respond())
        #expect(answer.status == 401 && answer.stream == nil)
      }
    }
  }

  @Test func `is not opened for a HEAD, nor for a request whose body does not arrive`() async throws
  {
    try await TestServer.test { server in
      for (path, before, _) in Self.streams {
        let field = "Authorization: \(TestServer.authorization(before.rawValue))\r\n"
        let head = server.connect()
        for _ in 0..<3 {
          head.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\(field)\r\n")
          #expect(await head.answer(hasBody: false).status == 200)
        }
        let body = server.connect()
        body.send(
          "GET \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n"
            + "\(field)\r\n")
        #expect(await body.answer().status == 100)
        #expect(count(server) == 0)
      }
    }
  }
}
