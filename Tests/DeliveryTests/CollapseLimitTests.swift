import Foundation
import Push
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// Push services that hold only a few collapse IDs for each device.
@Suite(.timeLimit(.minutes(1))) struct CollapseLimitTests {
  @Test func `any lane's limit counts the collapse IDs of its own pushes to the device`()
    async throws
  {
    let delivery = try await DeliveryFixture(push: "apns,webhook")
    try await delivery.register("phone", of: "alice", platform: "wns")
    var traits = WebhookProvider.traits
    traits.collapseLimit = FCMProvider.traits.collapseLimit
    let webhook = PushLane(
      name: WebhookProvider.name, settings: "", traits: traits, payload: WebhookProvider.payload)
    func lease(_ settled: [PushJob] = []) async throws -> [PushJob] {
      let sent = settled.map {
        Settlement(job: $0.id, outcome: .delivered(as: .background, reference: nil, note: nil))
      }
      let now = delivery.clock.date
      return try await StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
        .settleAndLease(
          sent, lane: webhook, limit: 100, now: now, until: now + 100
        ).jobs
    }
    for _ in 0..<5 { try await delivery.publish(delivery.draft()) }
    let jobs = try await lease()
    #expect(jobs.map(\.push.isCollapsible) == [true, true, true, true, false])
    _ = try await lease(jobs)
    try await delivery.publish(delivery.draft())
    #expect(try await lease().map(\.push.isCollapsible) == [false])
  }
}
