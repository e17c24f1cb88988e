import CLinux
import Primitives
import StandIns
import Testing
import Waiting

@testable import HTTP

/// How long a handshake of TLS may take.
@Suite(.timeLimit(.minutes(1))) struct HandshakeTimeTests {
  /// A record that says it is longer than what follows, as the beginning of a hello does.
  private static let beginning: [UInt8] = [22, 3, 1, 2, 0, 1, 0, 1, 252, 3, 3]

  private static func served(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.with(
      { _ in .immediate(.text(200, "here")) }, tls: try TestIdentities.one(),
      clock: ManualClock(), test: test)
  }

  @Test(arguments: [[], beginning]) func `one that falls silent ends after 10 seconds`(
    sent: [UInt8]
  ) async throws {
    try await Self.served { served in
      let client = RawClient(served.port)
      client.send(sent)
      try await eventually("it is taken") { served.server.openConnections == 1 }
      // It may be taken and not yet looked at.
      await served.pass(.zero)
      await served.pass(.seconds(9))
      #expect(!client.isHungUp)
      await served.pass(.milliseconds(1500))
      try await eventually("it is closed") { client.isHungUp }
      try await served.connectionsClosed()
    }
  }

  @Test func `one that goes on for ever, a byte a second, ends after 10 seconds`() async throws {
    try await Self.served { served in
      let client = RawClient(served.port)
      client.send(Self.beginning)
      try await eventually("it is taken") { served.server.openConnections == 1 }
      var seconds = 0
      while !client.isHungUp, seconds < 30 {
        client.send([UInt8(seconds)])
        await served.pass(.seconds(1))
        seconds += 1
        if seconds > 10 { try await eventually("it is closed") { client.isHungUp } }
      }
      #expect((10...12).contains(seconds))
    }
  }

  @Test func `the time in which it waits for others does not count`() throws {
    let clock = ManualClock()
    let start = clock.now
    var configuration = ServerConfiguration()
    configuration.time = { Int((clock.now - start) / .nanoseconds(1)) }
    let context = try EventLoopContext(
      configuration: configuration,
      responder: TestServer.ClosureResponder { _ in .immediate(.text(200, "")) },
      limiter: ConnectionLimiter(configuration), metrics: CacheMetrics(), log: .silent,
      observer: nil)
    let connection = Connection(
      Transport(descriptor: -1, tls: TLSSession(-1, try TestIdentities.one())), context: context,
      peer: "127.0.0.1", isOverflow: false)
    func isLate(after time: Duration) -> Bool {
      clock.advance(by: time)
      context.beginTurn()
      return connection.checkDeadline()
    }
    var waiting = WaitingHandshakes()
    connection.reader.note(events: EPOLLIN.rawValue)
    for _ in 0..<2 {
      waiting.add(connection)
      clock.advance(by: .seconds(20))
      context.beginTurn()
      #expect(waiting.removeFirst() === connection)
      #expect(!isLate(after: .seconds(4)))
    }
    #expect(isLate(after: .seconds(4)))
  }

  @Test func `others are served while many shake hands for ever`() async throws {
    try await Self.served { served in
      let endless = (0..<100).map { _ in RawClient(served.port) }
      for client in endless { client.send(Self.beginning) }
      let client = try #require(RawClient(served.port, tls: "NORMAL"))
      for _ in 0..<20 { #expect(client.ask("GET", "/").text == "here") }
      await served.pass(.seconds(11))
      try await eventually("they are closed") {
        await served.pass(.zero)
        return served.server.openConnections <= 1
      }
      for client in endless { #expect(client.isHungUp) }
    }
  }
}
