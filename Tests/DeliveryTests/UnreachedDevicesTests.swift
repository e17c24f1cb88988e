import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// What the operator hears of devices that no push service sends to.
@Suite(.timeLimit(.minutes(1))) struct UnreachedDevicesTests {
  @Test func `one line in the log for each platform and hour, and none for those that are reached`()
    throws
  {
    let clock = ManualClock()
    let lines = LogLines()
    let devices = UnreachedDevices(
      lanes: try PlatformLanes("embedded,apns"), log: lines.log, clock: clock)
    for _ in 0..<3 { for platform in ["apns", "gcm", "wns"] { devices.registered(platform) } }
    let first = lines.take()
    try #require(first.count == 2)
    #expect(first[0].contains("gcm") && first[1].contains("wns"))
    clock.advance(by: .seconds(3599))
    devices.registered("gcm")
    #expect(lines.take().isEmpty)
    clock.advance(by: .seconds(1))
    for _ in 0..<2 { devices.registered("gcm") }
    #expect(lines.take().count == 1)
  }

  @Test func `counts the devices of the platforms that no service sends to`() async throws {
    let delivery = try await DeliveryFixture(push: "apns")
    try await delivery.register("AA", of: "alice")
    for handle in ["g1", "g2"] { try await delivery.register(handle, of: "bob", platform: "gcm") }
    let counts = try await UnreachedDevices(lanes: delivery.lanes, log: delivery.log.log)
      .counts(in: delivery.store)
    #expect(counts.map(\.platform) == ["gcm", "wns", "mpns", "fcm", "webpush", "ntfy"])
    #expect(counts.map(\.count) == [2, 0, 0, 0, 0, 0])
  }
}
