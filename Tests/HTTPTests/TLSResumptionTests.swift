import Testing

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct TLSResumptionTests {
  private static let versions = ["1.2", "1.3"].map { "NORMAL:-VERS-ALL:+VERS-TLS\($0)" }
  private static let answer: @Sendable (Request) -> ResponsePlan = { _ in
    .immediate(.text(200, "here"))
  }

  private static func key(_ number: UInt8) -> [UInt8] {
    [UInt8](repeating: number, count: TLSTicketKeys.keySize)
  }

  /// Serves with ticket keys; `resumes` makes a connection, and tells whether it resumes the session of the one
  /// before; nil if it fails.
  private static func served(
    _ version: String, keys: [[UInt8]],
    test: (TLSTicketKeys, _ resumes: () -> Bool?) async throws -> Void
  ) async throws {
    let tickets = TLSTicketKeys()
    tickets.replace(with: keys)
    try await TestServer.with(answer, tls: try TestIdentities.one(tickets: tickets)) { served in
      var session: [UInt8] = []
      try await test(tickets) {
        guard let client = RawClient(served.port, tls: version, resuming: session),
          client.ask("GET", "/").text == "here", let tls = client.tls
        else { return nil }
        session = tls.ticket
        return tls.isResumed
      }
    }
  }

  @Test(arguments: versions) func `resumes a session, and that one's`(version: String) async throws
  {
    try await Self.served(version, keys: [Self.key(1)]) { _, resumes in
      #expect(resumes() == false)
      for _ in 0..<3 { #expect(resumes() == true) }
    }
  }

  @Test(arguments: versions) func `resumes nothing without keys`(version: String) async throws {
    try await Self.served(version, keys: []) { tickets, resumes in
      for _ in 0..<2 { #expect(resumes() == false) }
      tickets.replace(with: [Self.key(1), [1, 2, 3]])
      #expect(resumes() == false)
      #expect(resumes() == true)
    }
  }

  @Test(arguments: versions, [1, 2]) func `accepts tickets of earlier keys`(
    version: String, before: Int
  ) async throws {
    try await Self.served(version, keys: [Self.key(1)]) { tickets, resumes in
      #expect(resumes() == false)
      tickets.replace(with: [Self.key(3), Self.key(2)].suffix(before) + [Self.key(1)])
      #expect(resumes() == true)
      // Its ticket is of the new key; GnuTLS keeps only those of TLS 1.3.
      guard version == Self.versions[1] else { return }
      tickets.replace(with: [Self.key(9)] + [Self.key(3), Self.key(2)].suffix(before))
      #expect(resumes() == true)
    }
  }

  @Test(arguments: versions) func `a ticket of a key that is gone is a full handshake`(
    version: String
  ) async throws {
    try await Self.served(version, keys: [Self.key(1)]) { tickets, resumes in
      #expect(resumes() == false)
      tickets.replace(with: [Self.key(2)])
      #expect(resumes() == false)
      #expect(resumes() == true)
    }
  }

  @Test(arguments: versions) func `resumes at a server with the same keys, and its certificate`(
    version: String
  ) async throws {
    try await Self.served(version, keys: [Self.key(1)]) { tickets, resumes in
      #expect(resumes() == false)
      let client = try await TestServer.with(
        Self.answer, tls: try TestIdentities.one(tickets: tickets)
      ) { other in
        let first = try #require(RawClient(other.port, tls: version))
        _ = first.ask("GET", "/")
        return try #require(
          RawClient(other.port, tls: version, resuming: first.tls?.ticket ?? []))
      }
      #expect(client.tls?.isResumed == true)
    }
  }

  @Test func `a client that waits for something to acknowledge gets its ticket`() async throws {
    let tickets = TLSTicketKeys()
    tickets.replace(with: [Self.key(1)])
    try await TestServer.with(Self.answer, tls: try TestIdentities.one(tickets: tickets)) {
      served in
      let client = try #require(RawClient(served.port, tls: Self.versions[1]))
      // It has sent no request: without TCP_NODELAY its kernel holds it back until then.
      #expect(client.waitsForInput())
      #expect(client.ask("GET", "/").status == 200)
    }
  }
}
