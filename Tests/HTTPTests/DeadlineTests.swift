import Testing
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct DeadlineTests {
  private static func served(
    _ change: (inout ServerConfiguration.Limits) -> Void, threads: Int = 2,
    test: (TestServer) async throws -> Void
  ) async throws {
    var limits = ServerConfiguration.Limits()
    change(&limits)
    try await TestServer.with(
      { request in
        request.body == .none
          ? .immediate(.bytes(200, [UInt8](repeating: 1, count: 30_000_000), type: "a/b"))
          : .collectingBody(limit: 1000, deadline: .seconds(60)) { _ in .empty(204) }
      }, limits: limits, threads: threads, clock: ManualClock(), test: test)
  }

  @Test func `closes a connection that sends nothing`() async throws {
    try await Self.served({ $0.head = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      try await served.timesOut(client)
      #expect(client.isClosed())
    }
  }

  @Test func `closes a connection whose head arrives too slowly, even if steadily`() async throws {
    try await Self.served({ $0.head = .milliseconds(100) }) { served in
      let client = RawClient(served.port)
      client.send("GET / HTTP/1.1\r\n")
      try await eventually("it is closed") {
        await served.pass(.milliseconds(20))
        return !client.send("X")
      }
    }
  }

  @Test(arguments: ["G", "GET / HTTP/1.1\r\n", "GET / HTTP/1.1\r\nHost: x\r\nX-Long: y"])
  func `answers 408 to a head that does not end`(head: String) async throws {
    try await Self.served({ $0.head = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      client.send(head)
      try await Self.expectLate(client, served)
    }
  }

  @Test func `answers 408 to the head of a later request that does not end`() async throws {
    try await Self.served({ $0.head = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      #expect(client.ask("POST", "/", body: "x").status == 204)
      client.send("GET / HTTP/1.1\r\n")
      try await Self.expectLate(client, served)
    }
  }

  @Test(arguments: ["Content-Length: 10\r\n\r\nabc", "Transfer-Encoding: chunked\r\n\r\na\r\nabc"])
  func `answers 408 to a body that does not arrive`(rest: String) async throws {
    try await Self.served({ $0.transfer = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\n\(rest)")
      try await Self.expectLate(client, served)
    }
  }

  @Test func `answers 408 to a body that arrives too slowly, even if steadily`() async throws {
    try await Self.served({ $0.transfer = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
      try await eventually("it is answered") {
        await served.pass(.milliseconds(20))
        return !client.send("x") || client.hasInput
      }
      try await Self.expectLate(client, served)
    }
  }

  @Test func `answers 408 over TLS`() async throws {
    var limits = ServerConfiguration.Limits()
    limits.transfer = .milliseconds(50)
    try await TestServer.with(
      { _ in .collectingBody(limit: 1000, deadline: .seconds(60)) { _ in .empty(204) } },
      limits: limits, tls: try TestIdentities.one(), clock: ManualClock()
    ) { served in
      let client = try #require(RawClient(served.port, tls: "NORMAL"))
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
      try await Self.expectLate(client, served)
    }
  }

  /// The client gets a 408, and then the end of the connection, not a reset.
  private static func expectLate(
    _ client: RawClient, _ served: TestServer, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    try await served.timesOut(client)
    let reply = client.reply()
    #expect(reply.status == 408, sourceLocation: sourceLocation)
    #expect(reply.fields["connection"] == "close", sourceLocation: sourceLocation)
    #expect(reply.text.contains("request-timeout"), sourceLocation: sourceLocation)
    #expect(client.isClosed() && !client.wasReset, sourceLocation: sourceLocation)
  }

  @Test func `closes a connection that does not read its response`() async throws {
    try await Self.served({
      $0.transfer = .milliseconds(50)
    }) { served in
      let client = RawClient(served.port)
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      try await eventually("it is closed") {
        await served.pass(.milliseconds(20))
        return client.isHungUp && served.server.openConnections == 0
      }
      #expect(client.reply().body.count < 30_000_000)
    }
  }

  @Test func `closes a connection that is idle after a response`() async throws {
    try await Self.served({ $0.idle = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      #expect(client.ask("POST", "/", body: "x").status == 204)
      client.acknowledge()
      try await served.timesOut(client)
      #expect(client.isClosed() && !client.wasReset)
    }
  }

  @Test func `limits the connections from one address`() async throws {
    try await Self.served({ $0.connectionsPerAddress = 2 }) { served in
      try await Self.fill(served, andThen: 0)
    }
  }

  @Test(arguments: [1, 2, 8])
  func `answers 503 at its limit of connections, and accepts again when one has closed`(
    threads: Int
  ) async throws {
    try await Self.served({ $0.connections = 2 }, threads: threads) { served in
      try await Self.fill(served, andThen: 503)
    }
  }

  @Test func `has no more connections than descriptors`() {
    #expect(DescriptorLimit.connections(20_000, descriptors: 1 << 20) == 20_000)
    #expect(DescriptorLimit.connections(20_000, descriptors: 4096) == 2880)
    #expect(DescriptorLimit.connections(20_000, descriptors: 64) == 30)
  }

  @Test func `says how many connections the descriptors allow, with grouped digits`() {
    let written = [30: "30", 100: "100", 2880: "2,880", 16_440: "16,440", 1_000_000: "1,000,000"]
    for (count, text) in written {
      #expect(
        DescriptorLimit.notice(ofConnections: count)
          == "limited to \(text) connections by the open-file limit (ulimit -n)")
    }
  }

  /// Two connections are taken, a third gets the status, and its successor is taken again.
  private static func fill(_ served: TestServer, andThen status: Int) async throws {
    let first = RawClient(served.port)
    do {
      let second = RawClient(served.port)
      #expect(first.ask("POST", "/", body: "x").status == 204)
      #expect(second.ask("POST", "/", body: "x").status == 204)
      let third = RawClient(served.port)
      #expect(third.ask("POST", "/", body: "x").status == status)
      #expect(third.isClosed())
      #expect(first.ask("POST", "/", body: "x").status == 204)
    }
    try await eventually("the second has left") { served.server.openConnections == 1 }
    #expect(RawClient(served.port).ask("POST", "/", body: "x").status == 204)
  }
}
