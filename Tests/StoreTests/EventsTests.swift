import Synchronization
import Testing

@testable import Store

/// What publishers and the operator hear of.
@Suite(.timeLimit(.minutes(1))) struct EventsTests {
  private let scratch = Scratch()

  @Test func `tell of every change of a receipt, whoever made it, in order`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "phone", user: alice, platform: "apns", handle: "AB", tags: [])
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.event) = (shop, nil)
    new.pushes = [PushInsert(lane: "apns", target: .devices(["phone"]), kind: "alert")]
    _ = try await store.notifications.create(new)
    let jobs = try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now)
    let job = try #require(jobs.first).id
    try await store.outbox.settle([(job, .rejected(reason: "no"))])
    _ = try await store.outbox.replay(job)
    store.notifications.recordFetched(0, user: alice)
    store.notifications.recordFetched(0, user: alice)
    _ = try await store.notifications.markRead(0, user: alice)
    _ = try await store.notifications.markRead(0, user: alice)
    let events = try await store.events.events(after: 0, limit: 99)
    #expect(
      events.map(\.data) == [
        Self.job("queued"), Self.job("failed", reason: #""no""#),
        Self.job("queued", reason: #""no""#),
        #"{"notification":0,"user":"alice","state":"fetched"}"#,
        #"{"notification":0,"user":"alice","state":"read"}"#,
      ])
    #expect(Set(events.map(\.token)).count == 5 && events.allSatisfy { $0.type == "receipt" })
    #expect(try await store.events.latestEvent() == 5)
    #expect(try await store.events.events(after: 4, limit: 9) == events.suffix(1))
  }

  @Test func `tell of each of many devices that fetch in the same moment`() async throws {
    let store = try scratch.open()
    let devices = (0..<120).map { "phone \"\($0)\"" }
    _ = try await store.accounts.setMaxDevices(of: "alice", to: devices.count)
    for (number, device) in (devices + ["bob's"]).enumerated() {
      _ = try await store.accounts.putRegistration(
        device, user: device == "bob's" ? bob : alice, platform: "apns", handle: "\(number)",
        tags: [])
    }
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.event) = (shop, nil)
    for _ in 0..<2 { _ = try await store.notifications.create(new) }
    for device in devices + ["bob's", devices[0]] {
      store.notifications.recordFetched(1, user: alice, device: device)
    }
    for user in [bob, alice] { store.notifications.recordFetched(0, user: user, device: "bob's") }
    try await store.probe()
    let events = try await store.events.events(after: 0, for: shop, limit: 999)
    let ofDevices = devices.indices.map {
      #"{"notification":1,"user":"alice","device":"phone \"\#($0)\"","state":"fetched"}"#
    }
    #expect(
      events.map(\.data).sorted()
        == (ofDevices + [#"{"notification":0,"user":"alice","state":"fetched"}"#]).sorted())
    #expect(Set(events.map(\.token)).count == 121 && events.allSatisfy { $0.time == scratch.now })
    for id in 0...1 { #expect(try await store.sent.counts(of: id)?.fetched == 1) }
  }

  @Test func `are for the notification's publisher, and those of nobody for all`() async throws {
    let store = try scratch.open()
    for sender in [shop, news] {
      var new = NotificationInsert.any(to: alice)
      (new.sender, new.event) = (sender, nil)
      let id = try await store.notifications.create(new).notification.id
      _ = try await store.notifications.markRead(id, user: alice)
    }
    try await store.record("asset", #"{"name":"logo.png"}"#)
    #expect(try await store.events.events(after: 0, for: shop, limit: 9).map(\.sequence) == [1, 3])
    #expect(try await store.events.events(after: 0, for: news, limit: 9).map(\.sequence) == [2, 3])
    #expect(try await store.events.events(after: 0, limit: 9).count == 3)
  }

  @Test func `are forgotten after a week, and when there are too many`() async throws {
    let store = try scratch.open()
    for _ in 0..<5 { try await store.record("asset", "{}") }
    var retention = Retention()
    retention.events = 3
    _ = try await store.collect(retention)
    #expect(try await store.events.events(after: 0, limit: 9).map(\.sequence) == [3, 4, 5])
    scratch.pass(retention.eventAge + 1)
    _ = try await store.collect(retention)
    #expect(try await store.events.events(after: 0, limit: 9).isEmpty)
    #expect(try await store.events.latestEvent() == 5)
  }

  @Test func `are read on from a cursor after a restart`() async throws {
    let cursor = try await {
      let store = try scratch.open()
      #expect(try await store.events.cursor(of: "webhook") == nil)
      try await store.events.setCursor(7, of: "webhook")
      try await store.events.setCursor(8, of: "webhook")
      return try await store.events.cursor(of: "webhook")
    }()
    #expect(cursor == 8)
    let store = try scratch.open()
    #expect(try await store.events.cursor(of: "webhook") == 8)
    try await store.events.setCursor(nil, of: "webhook")
    #expect(try await store.events.cursor(of: "webhook") == nil)
  }

  @Test func `a new reader's cursor is behind the latest event, and stays`() async throws {
    let store = try scratch.open()
    for _ in 0..<3 { try await store.record("asset", "{}") }
    store.events.createCursor(of: "webhook")
    try await store.record("asset", "{}")
    #expect(try await store.events.cursor(of: "webhook") == 3)
    store.events.createCursor(of: "webhook")
    try await store.record("asset", "{}")
    #expect(try await store.events.cursor(of: "webhook") == 3)
  }

  @Test func `tell of the embedded gateway's pushes, too`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    store.notifications.recordSent([0], user: alice)
    store.notifications.recordSent([0], user: alice)
    try await store.events.push("{}", to: [alice])
    #expect(
      try await store.events.events(after: 0, limit: 9).map(\.data)
        == ["queued", "sent"].map {
          #"{"notification":0,"user":"alice","lane":"embedded","state":"\#($0)"}"#
        })
  }

  @Test func `pushes of several users are read together, each after their last one`() async throws {
    let store = try scratch.open()
    for user in [alice, bob, alice, bob] {
      _ = try await store.notifications.create(.any(to: user))
    }
    let events = store.events
    let found = try #require(try await events.pushEvents(after: [alice: 1, bob: 0], limit: 3))
    #expect(found.mapValues { $0.map(\.sequence) } == [alice: [3], bob: [2, 4]])
    #expect(found[alice]?.first?.notificationID == 2)
    #expect(try await events.pushEvents(after: [alice: 0, bob: 0], limit: 3) == nil)
    #expect(try await events.pushEvents(after: [alice: 3, bob: 4], limit: 3) == [:])
    _ = try await store.notifications.withdraw(2)
    #expect(try await events.pushEvents(after: [alice: 0], limit: 3)?[alice]?.count == 1)
    #expect(try await events.pushEvents(after: [:], limit: 3) == [:])
  }

  @Test func `notify the observer of commits`() async throws {
    let store = try scratch.open()
    let commits = Mutex(0)
    store.observers.onCommit.add { commits.withLock { $0 += 1 } }
    try await store.record("asset", "{}")
    _ = try await store.notifications.create(.any(to: alice))
    #expect(commits.withLock { $0 } >= 1)
  }

  private static func job(_ state: String, reason: String = "null") -> String {
    #"{"notification":0,"user":"alice","device":"phone","lane":"apns","job":1,"#
      + #""state":"\#(state)","reason":\#(reason)}"#
  }
}
