import Testing

@testable import HTTP

/// What is too slow by the default limits, on the test's own clock.
@Suite(.timeLimit(.minutes(1))) struct TransferMonitorTests {
  private static let limits = ServerConfiguration.Limits()
  private static let timeouts = Timeouts(limits)
  private static let kib = 1 << 10

  /// After how many seconds a transfer is ended; nil when it goes on for an hour.
  ///
  /// It is looked at as the event loop does, up to a tick late.
  ///
  /// - Parameter moved: how much has moved by a millisecond.
  /// - Returns: the seconds.
  private static func end(_ moved: (Int) -> Int) -> Double? {
    var monitor = TransferMonitor(now: 0)
    for look in 1... {
      let now = look * (timeouts.checkInterval + 100)
      if now > 3_600_000 { return nil }
      if !monitor.isFastEnough(
        moved(now), minimum: limits.transferBytes, now: now, timeouts: timeouts)
      {
        return Double(now) / 1000
      }
    }
    return nil
  }

  @Test(arguments: [0, 1, 100, 1024, 2048, 3072])
  func `a transfer of so few bytes per second ends after 30 s`(rate: Int) throws {
    let end = try #require(Self.end { $0 * rate / 1000 })
    #expect((30...32).contains(end))
  }

  @Test func `a fast beginning does not count for later windows`() throws {
    let end = try #require(Self.end { min($0, 60_000) * 100 })
    #expect((90...94).contains(end))
    #expect((30...34).contains(try #require(Self.end { _ in 1 << 30 })))
  }

  @Test(arguments: [1, 4, 16, 64, 120])
  func `4 KiB per second pass, in pieces of any size`(kib: Int) {
    #expect(Self.end { (1 + $0 * 4096 / 1000 / (kib << 10)) * (kib << 10) } == nil)
  }

  @Test func `bytes of a previous response do not count against this one`() {
    #expect(Self.end { -2_000_000 + $0 * 4096 / 1000 } == nil)
  }

  @Test func `time in which the server was held up does not count`() {
    var monitor = TransferMonitor(now: 0)
    for minute in 1...10 {
      let isFastEnough = monitor.isFastEnough(
        0, minimum: Self.limits.transferBytes, now: minute * 60_000, timeouts: Self.timeouts)
      #expect(isFastEnough)
    }
  }
}
