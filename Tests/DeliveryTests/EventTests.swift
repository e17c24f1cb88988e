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

@Suite(.timeLimit(.minutes(1))) struct EventFeedTests {
  @Test func `a device gets its own pushes, after the one it saw last, with the unread count`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let feed = EventFeed.pushes(delivery.store, delivery.payloads)
    #expect(try await feed.latest() == 0)
    for to in ["alice", "bob", "alice"] {
      try await delivery.publish(
        delivery.draft(#","form":"alert","badge":true"#, to: #"["username:\#(to)"]"#))
    }
    let alice = try await delivery.id("alice")
    func events(after: Int, limit: Int = 10) async throws -> [FeedEvent] {
      try await feed.events(for: alice, role: .device, after: after, limit: limit)
    }
    #expect(try await events(after: 0).map(\.notificationID) == [0, 2])
    #expect(try await events(after: 1).map(\.sequence) == [3])
    #expect(try await feed.latest() == 3)
    #expect(try await events(after: 0, limit: 1).count == 1)
    #expect(
      try await events(after: 0).allSatisfy { $0.name == "push" && $0.data.contains(#""badge":2"#) }
    )
    feed.recordSent([(alice, try await events(after: 0))])
    try await eventually("the receipts say so") {
      try await delivery.store.notifications.receipts(of: 0).first?.sent != nil
    }
    #expect(try await delivery.store.notifications.receipts(of: 1).first?.sent == nil)
  }

  @Test func `the pushes of several users are read together, each after their last one`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let feed = EventFeed.pushes(delivery.store, delivery.payloads)
    for to in ["alice", "bob", "alice", "shop"] {
      try await delivery.publish(
        delivery.draft(#","form":"alert","badge":true"#, to: #"["username:\#(to)"]"#))
    }
    let (alice, bob) = (try await delivery.id("alice"), try await delivery.id("bob"))
    let found = try #require(try await feed.events(after: [alice: 1, bob: 0], limit: 2))
    #expect(found.mapValues { $0.map(\.sequence) } == [alice: [3], bob: [2]])
    #expect(found[alice]?.first?.data.contains(#""badge":2"#) == true)
    #expect(found[bob]?.first?.data.contains(#""badge":1"#) == true)
    #expect(try await feed.events(after: [alice: 0, bob: 0], limit: 2) == nil, "they are three")
    #expect(try await feed.events(after: [alice: 3, bob: 2], limit: 2)?.isEmpty == true)
  }

  @Test func `a publisher gets the receipts of its own notifications, an admin everybody's`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    try await delivery.publish(delivery.draft())
    delivery.store.notifications.recordFetched(0, user: try await delivery.id("alice"), device: nil)
    let feed = EventFeed.publishing(delivery.store)
    let shop = try await delivery.id("shop")
    try await eventually("the receipt") {
      try await feed.events(for: shop, role: .publisher, after: 0, limit: 9)
        .contains { $0.data.contains("fetched") }
    }
    // One says that the push is queued, the next that it is fetched.
    let events = try await feed.events(for: shop, role: .publisher, after: 0, limit: 9)
    #expect(Set(events.map(\.name)) == ["receipt"])
    let last = try #require(events.last)
    let json = try JSONSerialization.jsonObject(with: Data(last.data.utf8)) as? [String: Any]
    #expect(json?["type"] as? String == "receipt" && json?["user"] as? String == "alice")
    #expect(json?["time"] as? String == delivery.clock.date.formatted(.iso8601))
    let other = try await delivery.id("bob")
    #expect(try await feed.events(for: other, role: .publisher, after: 0, limit: 9).isEmpty)
    #expect(
      try await feed.events(for: other, role: .admin, after: 0, limit: 9).count == events.count)
  }
}

@Suite(.timeLimit(.minutes(1))) struct WebhookDeliveryTests {
  /// Runs a test with a receiver that listens, and what delivers to it.
  private func withReceiver(
    _ test: (DeliveryFixture, WebhookReceiver, WebhookDelivery) async throws -> Void
  ) async throws {
    let delivery = try await DeliveryFixture()
    try await WebhookReceiver.test { receiver, url in
      let webhook = try Webhook(url: url, secret: WebhookSecret(WebhookReceiver.secret))
      try await test(
        delivery, receiver,
        WebhookDelivery(
          store: delivery.store, webhook: webhook, log: delivery.log.log,
          now: { [clock = delivery.clock] in clock.date }))
    }
  }

  /// Adds events, each about an asset of this name.
  private func add(_ names: String..., to store: Store) async throws {
    for name in names {
      let asset = AssetRecord(
        richType: "note", name: name, state: .ready, bytes: 0, modified: Date(), stamp: name)
      try await store.assets.putAsset(
        asset, event: #"{"name":"\#(name)"}"#, audit: nil, by: nil, expectedBatch: 1)
    }
  }

  @Test func `posts each event once, from the webhook's first day on`() async throws {
    try await withReceiver { delivery, receiver, webhook in
      try await add("a", "b", to: delivery.store)
      #expect(await webhook.deliver() == nil)
      #expect(await webhook.deliver() == nil)
      #expect(receiver.bodies.count == 2 && Set(receiver.ids).count == 2)
      #expect(receiver.bodies.contains { $0.contains(#""name":"a""#) })
      try await add("c", to: delivery.store)
      #expect(await webhook.deliver() == nil)
      #expect(receiver.bodies.last?.contains(#""name":"c""#) == true)
      // The place is kept for the next start.
      #expect(try await delivery.store.events.cursor(of: "webhook") == 3)
    }
  }

  @Test func `posts an event again that was not accepted, with the same ID, after a pause`()
    async throws
  {
    try await withReceiver { delivery, receiver, webhook in
      receiver.answer([503])
      try await add("a", to: delivery.store)
      let pause = await webhook.deliver()
      #expect(receiver.ids.count == 1 && delivery.log.contain("503"))
      #expect(try await delivery.store.events.cursor(of: "webhook") == 0, "it is not done")
      try await add("b", to: delivery.store)
      #expect(await webhook.deliver() == pause && receiver.ids.count == 1, "it waits")
      delivery.clock.advance(
        by: .seconds(try #require(pause).timeIntervalSince(delivery.clock.date)))
      #expect(await webhook.deliver() == nil)
      try #require(receiver.ids.count == 3)
      #expect(receiver.ids[0] == receiver.ids[1] && receiver.ids[2] != receiver.ids[1])
      #expect(try await delivery.store.events.cursor(of: "webhook") == 2)
    }
  }

  @Test func `waits as long as the webhook asks`() async throws {
    try await withReceiver { delivery, receiver, webhook in
      receiver.answer([503], retryAfter: 60)
      try await add("a", to: delivery.store)
      let pause = try #require(await webhook.deliver())
      #expect((60...61).contains(pause.timeIntervalSince(delivery.clock.date)))
    }
  }

  @Test func `posts again at once when the clock was set back`() async throws {
    try await withReceiver { delivery, receiver, webhook in
      receiver.answer([503], retryAfter: 60)
      try await add("a", to: delivery.store)
      #expect(await webhook.deliver() != nil)
      delivery.clock.advance(by: .seconds(-86_400))
      #expect(await webhook.deliver() == nil && receiver.ids.count == 2)
    }
  }

  @Test func `gives up an event that the webhook rejects, and goes on`() async throws {
    try await withReceiver { delivery, receiver, webhook in
      receiver.answer([422])
      try await add("a", to: delivery.store)
      #expect(await webhook.deliver() == nil)
      #expect(delivery.log.contain("was dropped") && receiver.ids.count == 1)
      try await add("b", to: delivery.store)
      #expect(await webhook.deliver() == nil && receiver.ids.count == 2)
    }
  }

  @Test func `drops what was not accepted within a week, and goes on`() async throws {
    try await withReceiver { delivery, receiver, webhook in
      try await add("old", to: delivery.store)
      delivery.clock.advance(by: .seconds(8 * 86400))
      receiver.answer([503])
      #expect(await webhook.deliver() == nil && receiver.ids.count == 1)
      #expect(try await delivery.store.events.cursor(of: "webhook") == 1)
      try await add("new", to: delivery.store)
      #expect(await webhook.deliver() == nil)
      #expect(receiver.bodies.last?.contains(#""name":"new""#) == true && receiver.ids.count == 2)
    }
  }

  @Test func `a node that delivers again begins where another has stopped`() async throws {
    let delivery = try await DeliveryFixture()
    try await WebhookReceiver.test { receiver, url in
      let webhook = try Webhook(url: url, secret: WebhookSecret(WebhookReceiver.secret))
      let (first, second) = (
        WebhookDelivery(store: delivery.store, webhook: webhook, log: delivery.log.log),
        WebhookDelivery(store: delivery.store, webhook: webhook, log: delivery.log.log)
      )
      for (name, node) in [("a", first), ("b", second), ("c", first), ("d", second)] {
        try await add(name, to: delivery.store)
        #expect(await node.deliver() == nil)
        await node.passOn()
      }
      #expect(receiver.ids.count == 4 && Set(receiver.ids).count == 4)
      // What it has not delivered, another does.
      receiver.answer([503])
      try await add("e", to: delivery.store)
      #expect(await first.deliver() != nil)
      await first.passOn()
      #expect(await second.deliver() == nil)
      #expect(receiver.bodies.count == 6 && Set(receiver.ids).count == 5)
    }
  }

  @Test func `without a webhook nothing is kept for one`() async throws {
    let delivery = try await DeliveryFixture()
    delivery.store.events.createCursor(of: "webhook")
    let none = WebhookDelivery(store: delivery.store, webhook: nil, log: delivery.log.log)
    #expect(await none.deliver() == nil)
    #expect(try await delivery.store.events.cursor(of: "webhook") == nil)
  }
}

@Suite(.timeLimit(.minutes(1))) struct CommitWorkersTests {
  @Test func `announces what is due, and looks for events after every commit`() async throws {
    let delivery = try await DeliveryFixture()
    let commits = LogLines()
    let log = commits.record
    let workers = CommitWorkers(
      store: delivery.store, publisher: delivery.publisher,
      webhook: WebhookDelivery(store: delivery.store, webhook: nil, log: delivery.log.log),
      log: delivery.log.log
    ) { log("commit") }
    workers.start()
    let due = (delivery.clock.date + 600).formatted(.iso8601)
    try await delivery.publish(delivery.draft(#","notBefore":"\#(due)""#))
    try await eventually("listeners are notified") { !commits.all.isEmpty }
    #expect(try await delivery.pushEvents(for: "alice").isEmpty)
    delivery.clock.advance(by: .seconds(600))
    // Any commit makes it look, long before the next poll.
    try await delivery.store.accounts.addUser("carol", hash: "", role: .device)
    try await eventually("it is announced") {
      try await delivery.pushEvents(for: "alice").count == 1
    }
    workers.stop()
  }
}
