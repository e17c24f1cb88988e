import Store
import Testing

@testable import Origin

/// How long an open stream lasts when its user does not.
@Suite(.timeLimit(.minutes(5))) struct StreamAccessTests {
  /// What becomes of a user, beside the running server.
  enum Change: CaseIterable { case removed, otherRole, otherPassword }

  /// The two streams, with the roles that a user of theirs has before and after.
  private static let streams: [(path: String, before: Role, after: Role)] = [
    ("/api/push/stream", .device, .publisher), ("/api/events/stream", .admin, .publisher),
  ]

  private func open(_ path: String, _ name: String, at site: Site) -> RawConnection {
    let connection = site.connect()
    connection.send(
      "GET \(path) HTTP/1.1\r\nHost: x\r\n\(Site.credentials(name))\r\n")
    #expect(connection.answer().status == 200)
    return connection
  }

  private func count(_ site: Site) -> Int {
    site.origin.api.pushes.count + site.origin.api.events.count
  }

  @Test(arguments: Change.allCases, [false, true])
  func `ends when its user is removed or changed, and no other does`(
    _ change: Change, isForgotten: Bool
  ) async throws {
    try await Site.lend { site in
      for (path, before, after) in Self.streams {
        let bystander = open(path, Site.user(.admin), at: site)
        try await site.add("alice", before)
        let stream = open(path, "alice", at: site)
        #expect(count(site) == 2)
        try await site.users.remove("alice")
        switch change {
        case .removed: break
        case .otherRole: try await site.add("alice", after)
        case .otherPassword: try await site.add("alice", before, password: "other")
        }
        // What the authenticator remembers of the caller may be gone before the streams are.
        if isForgotten { _ = try site.origin.keeper.authenticator.forgetChanged() }
        try site.origin.reload(site.configuration)
        try #require(stream.hasEnded(), "\(path)")
        while count(site) > 1 { await Task.yield() }
        if change != .removed { try await site.users.remove("alice") }
        try site.origin.reload(site.configuration)
        #expect(count(site) == 1, "the bystander's stream goes on")
        bystander.end()
        while count(site) > 0 { await Task.yield() }
      }
    }
  }

  @Test func `is not kept for a HEAD, nor for a request whose body never comes`() async throws {
    try await Site.lend { site in
      for (path, before, _) in Self.streams {
        let credentials = Site.credentials(Site.user(before))
        let head = site.connect()
        for _ in 0..<3 {
          head.send("HEAD \(path) HTTP/1.1\r\nHost: x\r\n\(credentials)\r\n")
          #expect(head.answer(hasBody: false).status == 200)
        }
        let body = site.connect()
        body.send(
          "GET \(path) HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\nExpect: 100-continue\r\n"
            + "\(credentials)\r\n")
        #expect(body.answer().status == 100)
        #expect(count(site) == 0)
      }
    }
  }
}
