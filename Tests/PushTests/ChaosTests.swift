import Foundation
import StandIns
import Testing
import Primitives
import Waiting

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct ChaosTests {
  @Test func `delivers every push to a service that fails a tenth of all calls`() async throws {
    let apns = try StandIn("apns")
    let provider = try APNsProvider(
      key: APNsKey(
        pem: String(contentsOfFile: apns.folder + "/key.p8", encoding: .utf8),
        keyID: "ABC123DEFG", teamID: "DEF123GHIJ"),
      topic: "com.example.richpush", endpoints: [apns.url], trustAnchor: apns.certificates,
      timeout: .seconds(2))
    let clock = ManualClock()
    let outbox = MemoryOutbox(now: { clock.date })
    try apns.tell(["do": "chaos", "rate": 0.1, "seed": 6])
    let count = 400
    for number in 0..<count {
      outbox.add(.sample(number, to: String(format: "%04x", number), collapseID: "n\(number)"))
    }
    let lane = Lane(
      provider: provider, outbox: outbox, clock: clock, now: { clock.date }, random: { 0.5 },
      log: .silent)
    let task = Task { await lane.run() }
    try await eventually("all are delivered") {
      // Time flies for the lane's pauses, not for the service.
      clock.advance(by: .seconds(1))
      return lane.status.delivered >= count || lane.status.failed > 0
    }
    lane.stop()
    await task.value
    let pushes = try #require(try apns.tell(["do": "delivered"])["pushes"] as? [[String]])
    #expect(Set(pushes.map(\.[0])).count == count)
    #expect(lane.status.failed == 0)
    #expect(lane.status.retried > 0)
    #expect(lane.status.inFlight == 0)
  }
}
