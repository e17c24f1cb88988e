import Testing
import Waiting

@testable import HTTP

/// Clients that send or read too slowly, and those that are just fast enough; time passes only between their steps.
@Suite(.timeLimit(.minutes(1))) struct TransferTests {
  /// Answers GET with so many bytes as the target says, and saves what is posted.
  private static func served(
    isSecure: Bool, _ change: (inout ServerConfiguration.Limits) -> Void = { _ in },
    test: (TestServer) async throws -> Void
  ) async throws {
    var limits = ServerConfiguration.Limits()
    (limits.transfer, limits.transferBytes) = (.milliseconds(60), 1_000_000)
    change(&limits)
    try await TestServer.with(
      { request in
        let size = Int(request.segments.first ?? "") ?? 0
        return request.body == .none
          ? .immediate(.bytes(200, [UInt8](repeating: 1, count: size), type: "a/b"))
          : .savingBody(limit: 1 << 31, folder: "/tmp", deadline: .seconds(60)) { body in
            .text(200, "\(body.size)")
          }
      }, limits: limits, tls: isSecure ? try TestIdentities.one() : nil, clock: ManualClock(),
      test: test)
  }

  private static func client(
    _ served: TestServer, isSecure: Bool, keeping: Int32? = nil
  ) throws -> RawClient {
    guard isSecure else { return RawClient(served.port, keeping: keeping) }
    return try #require(RawClient(served.port, tls: "NORMAL", keeping: keeping))
  }

  /// The time between two steps of a client.
  private static let pause = Duration.milliseconds(10)

  /// Limits that a peer keeps which transfers 10 kB in each step.
  private static func slowly(_ limits: inout ServerConfiguration.Limits) {
    (limits.transfer, limits.transferBytes) = (.milliseconds(150), 20_000)
  }

  /// Acts in steps until the server has closed the connection.
  private static func waitForClose(
    _ served: TestServer, _ client: RawClient, _ act: () -> Void = {}
  ) async throws {
    try await eventually("it is closed") {
      act()
      // What the server has closed lingers until the client has closed it too, or two seconds have passed.
      await served.pass(client.isHungUp ? .seconds(1) : Self.pause * 3)
      return client.isHungUp && served.server.openConnections == 0
    }
  }

  // MARK: - Bodies

  @Test(arguments: [false, true])
  func `answers 408 and closes if a declared body does not arrive`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: \(1 << 30)\r\n\r\n")
      try await served.timesOut(client)
      #expect(client.reply().status == 408 && client.isClosed())
    }
  }

  @Test(arguments: [false, true], ["Content-Length: 1000000", "Transfer-Encoding: chunked"])
  func `closes if a body arrives byte by byte`(isSecure: Bool, field: String) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\n\(field)\r\n\r\n")
      try await Self.waitForClose(served, client) { client.send("1\r\nx\r\n") }
    }
  }

  @Test(arguments: [false, true])
  func `answers 408 and closes if the last byte of a body is missing`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 3000000\r\n\r\n")
      client.send([UInt8](repeating: 7, count: 2_999_999))
      try await served.timesOut(client)
      #expect(client.reply().status == 408 && client.isClosed())
    }
  }

  @Test(arguments: [false, true])
  func `reads a slow body to its end`(isSecure: Bool) async throws {
    try await Self.served(isSecure: isSecure, Self.slowly) { served in
      let client = try Self.client(served, isSecure: isSecure)
      client.send("PUT / HTTP/1.1\r\nHost: x\r\nContent-Length: 600001\r\n\r\n")
      for _ in 0..<60 {
        try #require(client.send([UInt8](repeating: 7, count: 10_000)))
        await served.pass(Self.pause)
      }
      client.send("x")
      #expect(client.reply().text == "600001")
    }
  }

  @Test func `a body may wait as long as the server does not read it`() async throws {
    var limits = ServerConfiguration.Limits()
    limits.transfer = .milliseconds(60)
    let (gate, opener) = AsyncStream<Void>.makeStream()
    try await TestServer.with(
      { request in
        request.segments == ["slow"]
          ? .asynchronous(deadline: .seconds(60)) {
            for await _ in gate {}
            return .text(200, "slow")
          }
          : .collectingBody(limit: 1 << 20, deadline: .seconds(60)) { .text(200, "\($0.count)") }
      }, limits: limits, clock: ManualClock()
    ) { served in
      let client = RawClient(served.port)
      client.send("GET /slow HTTP/1.1\r\nHost: x\r\n\r\n")
      client.send("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1000\r\n\r\n")
      client.send([UInt8](repeating: 7, count: 1000))
      for _ in 0..<25 { await served.pass(Self.pause) }
      opener.finish()
      #expect(client.reply().text == "slow")
      #expect(client.reply().text == "1000")
    }
  }

  // MARK: - Answers

  /// The first is more than the kernel takes at once, the second less: then the server has nothing
  /// left to send, and the client still does not read.
  @Test(arguments: [false, true], [20_000_000, 500_000])
  func `closes if a response is not read`(isSecure: Bool, size: Int) async throws {
    try await Self.served(isSecure: isSecure) { served in
      for end in ["keep-alive", "close"] {
        let client = try Self.client(served, isSecure: isSecure, keeping: 8192)
        client.send("GET /\(size) HTTP/1.1\r\nHost: x\r\nConnection: \(end)\r\n\r\n")
        try await Self.waitForClose(served, client)
        #expect(client.reply().body.count < size)
      }
    }
  }

  @Test(arguments: [20_000_000, 500_000])
  func `closes if a client that has finished sending reads a response byte by byte`(
    size: Int
  ) async throws {
    try await Self.served(isSecure: false) { served in
      let client = try Self.client(served, isSecure: false, keeping: 8192)
      client.send("GET /\(size) HTTP/1.1\r\nHost: x\r\n\r\n")
      client.finish()
      try await Self.waitForClose(served, client) { _ = client.read(1) }
      #expect(client.rest().count < size)
    }
  }

  @Test(arguments: [false, true], ["keep-alive", "close"])
  func `a slow reader receives the whole response`(isSecure: Bool, end: String) async throws {
    try await Self.served(isSecure: isSecure, Self.slowly) { served in
      let client = try Self.client(served, isSecure: isSecure, keeping: 65_536)
      client.send("GET /1000000 HTTP/1.1\r\nHost: x\r\nConnection: \(end)\r\n\r\n")
      #expect(client.reply(hasBody: false).status == 200)
      var count = 0
      while count < 1_000_000 {
        let read = client.read(min(60_000, 1_000_000 - count))
        try #require(read > 0)
        count += read
        client.acknowledge()
        await served.pass(Self.pause)
      }
      #expect(end == "keep-alive" || client.isClosed() && !client.wasReset)
    }
  }

  @Test func `the idle timeout applies after a response was read`() async throws {
    try await Self.served(isSecure: false) { served in
      let client = try Self.client(served, isSecure: false)
      for _ in 0..<2 {
        #expect(client.ask("GET", "/100000").body.count == 100_000)
        client.acknowledge()
        for _ in 0..<25 { await served.pass(Self.pause) }
      }
      #expect(client.ask("GET", "/1").status == 200)
    }
  }
}
