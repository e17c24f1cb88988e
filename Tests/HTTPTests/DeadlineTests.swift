import Testing

@testable import HTTP

@Suite struct DeadlineTests {
  private static func served(
    _ change: (inout ServerConfiguration.Limits) -> Void, threads: Int = 2,
    test: (Served) async throws -> Void
  ) async throws {
    var limits = ServerConfiguration.Limits()
    change(&limits)
    try await Served.with(
      { request in
        request.body == .none
          ? .now(.bytes(200, [UInt8](repeating: 1, count: 30_000_000), type: "a/b"))
          : .reading(limit: 1000, deadline: .seconds(60)) { _ in .empty(204) }
      }, limits: limits, threads: threads, test: test)
  }

  @Test func `closes a connection that never says anything`() async throws {
    try await Self.served({ $0.head = .milliseconds(50) }) { served in
      #expect(RawClient(served.port).isClosed())
    }
  }

  @Test func `closes a connection whose head drips in, however steadily`() async throws {
    try await Self.served({ $0.head = .milliseconds(300) }) { served in
      let client = RawClient(served.port)
      client.send("GET / HTTP/1.1\r\n")
      var drops = 0
      while drops < 200, client.send("X") {
        drops += 1
        try await Task.sleep(for: .milliseconds(20))
      }
      #expect(drops < 200)
    }
  }

  @Test func `closes a connection whose body does not come`() async throws {
    try await Self.served({
      $0.transfer = .milliseconds(50)
    }) { served in
      let client = RawClient(served.port)
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\nabc")
      #expect(client.isClosed())
    }
  }

  @Test func `closes a connection that does not read its answer`() async throws {
    try await Self.served({
      $0.transfer = .milliseconds(50)
    }) { served in
      let client = RawClient(served.port)
      client.send("GET / HTTP/1.1\r\nHost: x\r\n\r\n")
      while served.server.openConnections == 0 { await Task.yield() }
      while served.server.openConnections > 0 { await Task.yield() }
      #expect(client.reply().body.count < 30_000_000)
    }
  }

  @Test func `closes a connection that stays idle after an answer`() async throws {
    try await Self.served({ $0.idle = .milliseconds(50) }) { served in
      let client = RawClient(served.port)
      #expect(client.ask("POST", "/", body: "x").status == 204)
      #expect(client.isClosed())
    }
  }

  @Test func `admits so many connections from one address`() async throws {
    try await Self.served({ $0.connectionsPerAddress = 2 }) { served in
      try await Self.fill(served, andThen: 0)
    }
  }

  @Test(arguments: [1, 2, 8])
  func `says at once that it is full, and takes the next when one has left`(
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

  /// Two connections are taken, a third gets the status, and its successor is taken again.
  private static func fill(_ served: Served, andThen status: Int) async throws {
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
    while served.server.openConnections > 1 { await Task.yield() }
    #expect(RawClient(served.port).ask("POST", "/", body: "x").status == 204)
  }
}
