import Testing

@testable import HTTP

/// Clients that give too few bytes, or take too few, and those that are merely slow.
@Suite(.timeLimit(.minutes(2))) struct TransferTests {
  /// Answers GET with so many bytes as the target says, and saves what is posted.
  private static func served(
    isSecure: Bool, _ change: (inout ServerConfiguration.Limits) -> Void = { _ in },
    test: (Served) async throws -> Void
  ) async throws {
    var limits = ServerConfiguration.Limits()
    (limits.transfer, limits.transferBytes) = (.milliseconds(300), 1_000_000)
    change(&limits)
    try await Served.with(
      { request in
        let size = Int(request.segments.first ?? "") ?? 0
        return request.body == .none
          ? .now(.bytes(200, [UInt8](repeating: 1, count: size), type: "a/b"))
          : .saving(limit: 1 << 31, folder: "/tmp", deadline: .seconds(60)) { body in
            .text(200, "\(body.size)")
          }
      }, limits: limits, tls: isSecure ? try TestIdentities.one() : nil, test: test)
  }

  private static func client(
    _ served: Served, isSecure: Bool, keeping: Int32? = nil
  ) throws -> RawClient {
    guard isSecure else { return RawClient(served.port, keeping: keeping) }
    return try #require(RawClient(served.port, tls: "NORMAL", keeping: keeping))
  }

  private static let pause = Duration.milliseconds(20)

  /// Acts again and again until the server has no connections; whether that was within 30 s.
  private static func isClosed(_ served: Served, _ act: () -> Void = {}) async throws -> Bool {
    while served.server.openConnections == 0 { await Task.yield() }
    let end = ContinuousClock.now + .seconds(30)
    while served.server.openConnections > 0, .now < end {
      act()
      try await Task.sleep(for: pause)
    }
    return served.server.openConnections == 0
  }

  // MARK: - Bodies

  @Test(arguments: [false, true])
  func `a body that is declared and does not come`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 30)\r\n\r\n")
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [false, true], ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
  func `a body that comes byte by byte`(isSecure: Bool, field: String) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")
      #expect(try await Self.isClosed(served) { client.send("1\r\nx\r\n") })
    }
  }

  @Test(arguments: [false, true])
  func `a body that stops at its last byte`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
      client.send([UInt8](repeating: 7, count: 2_999_999))
      #expect(client.isClosed())
    }
  }

  @Test(arguments: [false, true])
  func `a slow body comes to its end`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure, { $0.transferBytes = 20_000 }) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000001\r\n\r\n")
      for _ in 0..<100 {
        #expect(client.send([UInt8](repeating: 7, count: 10_000)))
        try await Task.sleep(for: Self.pause)
      }
      client.send("x")
      #expect(client.reply().text == "1000001")
    }
  }

  @Test func `a body waits as long as the server does not read it`() async throws {
    var limits = ServerConfiguration.Limits()
    limits.transfer = .milliseconds(100)
    let (gate, opener) = AsyncStream<Void>.makeStream()
    try await Served.with(
      { request in
        request.segments == ["slow"]
          ? .later(deadline: .seconds(60)) {
            for await _ in gate {}
            return .text(200, "slow")
          }
          : .reading(limit: 1 << 20, deadline: .seconds(60)) { .text(200, "\($0.count)") }
      }, limits: limits
    ) { served in
      let client = RawClient(served.port)
      client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
      client.send([UInt8](repeating: 7, count: 1000))
      try await Task.sleep(for: .milliseconds(600))
      opener.finish()
      #expect(client.reply().text == "slow")
      #expect(client.reply().text == "1000")
    }
  }

  // MARK: - Answers

  /// The first is more than the kernel takes at once, the second less: then the server has nothing
  /// left to send, and the client still does not read.
  @Test(arguments: [false, true], [20_000_000, 500_000])
  func `an answer that is not read`(isSecure: Bool, size: Int) async throws {
    try await Self.served(isSecure: isSecure) { served in
      for end in ["keep-alive", "close"] {
        let client = try Self.client(served, isSecure: isSecure, keeping: 8192)
        client.send("GET /\(size) HTTP/1.1\r\nHost: x\r\nConnection: \(end)\r\n\r\n")
        #expect(try await Self.isClosed(served))
        #expect(client.reply().body.count < size)
      }
    }
  }

  @Test(arguments: [20_000_000, 500_000])
  func `an answer that is read byte by byte, by one who has ended`(size: Int) async throws {
    try await Self.served(isSecure: false) { served in
      let client = try Self.client(served, isSecure: false, keeping: 8192)
      client.send("GET /\(size) HTTP/1.1\r\nHost: x\r\n\r\n")
      client.finish()
      #expect(try await Self.isClosed(served) { _ = client.read(1) })
      #expect(client.rest().count < size)
    }
  }

  @Test(arguments: [false, true], ["keep-alive", "close"])
  func `a slow reader gets the whole answer`(isSecure: Bool, end: String) async throws {
    try await Self.served(isSecure: isSecure, { $0.transferBytes = 20_000 }) { served in
      let client = try Self.client(served, isSecure: isSecure, keeping: 65_536)
      client.send("GET /4000000 HTTP/1.1\r\nHost: x\r\nConnection: \(end)\r\n\r\n")
      #expect(client.reply(hasBody: false).status == 200)
      var count = 0
      while count < 4_000_000 {
        let read = client.read(min(40_000, 4_000_000 - count))
        count += read
        if read == 0 { break }
        try await Task.sleep(for: Self.pause / 2)
      }
      #expect(count == 4_000_000)
      if end == "close" { #expect(client.isClosed() && !client.wasReset) }
    }
  }

  @Test func `an idle connection keeps its own deadline after it was read`() async throws {
    try await Self.served(isSecure: false) { served in
      let client = try Self.client(served, isSecure: false)
      for _ in 0..<2 {
        #expect(client.ask("GET", "/100000").body.count == 100_000)
        try await Task.sleep(for: .milliseconds(900))
      }
      #expect(client.ask("GET", "/1").status == 200)
    }
  }
}
