import Delivery
import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing

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

  @Test(arguments: Change.allCases, [false, true])
  func `only the streams of a removed or changed user end`(
    _ change: Change, isForgotten: Bool
  ) async throws {
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
        // What the authenticator remembers of the caller may be gone before the streams are.
        if isForgotten { server.origin.housekeeping.authenticator.invalidate(nil) }
        try await server.origin.reload(server.configuration)
        while try await stream.next() != nil {}
        stream.close()
        #expect(count(server) == 1)
        if change != .removed { _ = try await server.store.accounts.removeUser("alice") }
        try await server.origin.reload(server.configuration)
        #expect(count(server) == 1, "the bystander's stream goes on")
        bystander.close()
        #expect(count(server) == 0)
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
