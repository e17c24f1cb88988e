import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery

/// What the operator hears of devices that no push service sends to.
@Suite(.timeLimit(.minutes(1))) struct UnreachedDevicesTests {
  private final class Clock: Sendable {
    private let time = Mutex(ContinuousClock.now)
    var now: ContinuousClock.Instant { time.withLock { $0 } }
    func pass(_ duration: Duration) { time.withLock { $0 += duration } }
  }

  @Test func `one line in the log for each platform and hour, and none for those that are reached`()
    throws
  {
    let clock = Clock()
    let lines = LogLines()
    let devices = UnreachedDevices(
      lanes: try PlatformLanes("embedded,apns"), log: lines.log, now: { clock.now })
    for _ in 0..<3 { for platform in ["apns", "gcm", "wns"] { devices.registered(platform) } }
    let first = lines.take()
    try #require(first.count == 2)
    #expect(first[0].contains("gcm") && first[1].contains("wns"))
    clock.pass(.seconds(3599))
    devices.registered("gcm")
    #expect(lines.take().isEmpty)
    clock.pass(.seconds(1))
    for _ in 0..<2 { devices.registered("gcm") }
    #expect(lines.take().count == 1)
  }

  @Test func `counts the devices of the platforms that no service sends to`() async throws {
    let delivery = try await DeliveryFixture(push: "apns")
    try await delivery.register("AA", of: "alice")
    for handle in ["g1", "g2"] { try await delivery.register(handle, of: "bob", platform: "gcm") }
    let counts = try await UnreachedDevices(lanes: delivery.lanes, log: delivery.log.log)
      .counts(in: delivery.store)
    #expect(counts.map(\.platform) == ["gcm", "wns", "mpns", "fcm", "webpush"])
    #expect(counts.map(\.count) == [2, 0, 0, 0, 0])
  }
}
