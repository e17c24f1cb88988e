import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct CollectTests {
  private let scratch = Scratch()
  private let retention = Retention()

  @Test(arguments: [true, false])
  func `what has ended stays listed for a month, with its numbers alone`(
    isWithdrawn: Bool
  ) async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "1", user: alice, platform: "apns", handle: "AA", tags: [])
    var new = NotificationInsert.any(to: alice)
    new.sender = shop
    new.blob = try await store.blobs.add(bytes: [1])
    new.details = "{}"
    new.expires = scratch.now + 7200
    new.idempotencyKey = IdempotencyKey("k", request: [])
    new.pushes = [PushInsert(lane: "apns", target: .devices(["1"]), kind: "alert")]
    _ = try await store.notifications.create(new)
    _ = try await store.notifications.create(.any(to: alice))
    scratch.pass(7199)
    #expect(try await store.collect(retention).notifications == 0)
    #expect(try await store.notifications.receipts(of: 0).count == 1)
    if isWithdrawn { #expect(try await store.notifications.withdraw(0)) }
    scratch.pass(1)
    let collection = try await store.collect(retention)
    #expect(collection.notifications == 0 && collection.blobs == 1)

    let kept = try #require(try await store.sent.sent(by: shop, before: nil, limit: 9).last)
    #expect((kept.withdrawn != nil) == isWithdrawn && kept.notification.blob == nil)
    #expect(kept.notification.message == new.message && kept.notification.details == nil)
    #expect(kept.counts.recipients == 1)
    #expect(try await store.notifications.notification(0) == nil)
    #expect(try await store.notifications.inbox(of: alice, limit: 9).map(\.notification.id) == [1])
    #expect(try await store.notifications.receipts(of: 0).isEmpty)
    #expect(try await store.outbox.deliveries(of: 0).isEmpty)
    new.blob = nil
    #expect(try await !store.notifications.create(new).isNew)

    scratch.pass(retention.historyAge)
    #expect(try await store.collect(retention).notifications == 1)
    #expect(try await store.sent.sent(by: shop, before: nil, limit: 9).isEmpty)
    #expect(try await store.notifications.create(new).isNew)
  }

  @Test func `removes content only when nobody refers to it and its grace is over`() async throws {
    let store = try scratch.open()
    let pinned = try await store.blobs.add(bytes: [1])
    let named = try await store.blobs.add(bytes: [2])
    let loose = try await store.blobs.add(bytes: [3, 3])
    var new = NotificationInsert.any(to: alice)
    new.blob = pinned
    _ = try await store.notifications.create(new)
    var asset = AssetRecord(
      richType: "img", name: "a", state: .ready, bytes: 1, modified: scratch.now, stamp: "")
    asset.blob = named.digest
    try await store.assets.putAsset(asset)

    #expect(try await store.collect(retention).blobs == 0)
    scratch.pass(3601)
    let collection = try await store.collect(retention)
    #expect(collection.blobs == 1 && collection.blobBytes == 2)
    #expect(store.blobs.size(of: loose.digest) == nil)
    #expect(store.blobs.size(of: pinned.digest) == 1 && store.blobs.size(of: named.digest) == 1)
  }

  @Test func `keeps content that was added again`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: [1])
    scratch.pass(3601)
    _ = try await store.blobs.add(bytes: [1])
    #expect(try await store.collect(retention).blobs == 0)
    #expect(store.blobs.size(of: blob.digest) == 1)
  }

  @Test func `never takes content away from those who add it meanwhile`() async throws {
    let store = try scratch.open()
    var eager = retention
    eager.blobGrace = 0
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask { [eager] in
        for _ in 0..<30 {
          // Everything that was added before now is too old.
          self.scratch.pass(1)
          _ = try await store.collect(eager)
        }
      }
      for writer in 0..<4 {
        group.addTask {
          for round in 0..<30 {
            var new = NotificationInsert.any(to: alice)
            new.blob = try await store.blobs.add(bytes: [UInt8(round % 7), UInt8(writer % 2)])
            // Gone before it was referred to is an honest answer with a grace of nothing.
            guard let created = try? await store.notifications.create(new) else { continue }
            let blob = try #require(created.notification.blob)
            #expect(store.blobs.size(of: blob.digest) == 2)
          }
        }
      }
      try await group.waitForAll()
    }
    #expect(try await store.check().findings.isEmpty)
  }

  @Test func `removes the coldest renditions until the rest fits`() async throws {
    let store = try scratch.open()
    let keys = (0..<4).map { Digest(of: "\($0)") }
    for key in keys {
      _ = try await store.renditions.store(
        key, bytes: [UInt8](repeating: 0, count: 10_000), contentType: "image/png")
      scratch.pass(1000)
    }
    #expect((40_000..<41_000).contains(store.renditions.size))
    scratch.pass(4000)
    _ = store.renditions.rendition(keys[0])
    var tight = retention
    tight.renditionBytes = store.renditions.size
    #expect(try await store.collect(tight).renditions == 0)
    tight.renditionBytes = 21_000
    #expect(try await store.collect(tight).renditions == 2)
    #expect((20_000..<21_000).contains(store.renditions.size))
    #expect(keys.map { store.renditions.rendition($0) != nil } == [true, false, false, true])
    tight.renditionBytes = 0
    #expect(try await store.collect(tight).renditions == 0)
  }

  @Test func `forgets events, settled jobs and keys when they are old`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.idempotencyKey = IdempotencyKey("k", request: [])
    new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
    _ = try await store.notifications.create(new)
    let jobs = try await store.outbox.lease(lane: "azure", limit: 1, until: scratch.now)
    let job = try #require(jobs.first).id
    try await store.outbox.settle([(job, .rejected(reason: "no"))])
    scratch.pass(retention.historyAge + 1)
    _ = try await store.notifications.create(.any(to: alice))
    _ = try await store.collect(retention)
    #expect(
      try await store.events.pushEvents(for: alice, after: 0, limit: 9).map(\.notificationID) == [1]
    )
    #expect(try await store.outbox.deliveries(of: 0).isEmpty)
    #expect(try await store.count("push") == 0)
    #expect(try await store.notifications.create(new).isNew)
    #expect(try await store.notifications.inbox(of: alice, limit: 9).count == 3)
  }

  @Test func `keeps keys until there is a younger notification, which may be created meanwhile`()
    async throws
  {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.idempotencyKey = IdempotencyKey("k", request: [])
    _ = try await store.notifications.create(new)
    scratch.pass(retention.historyAge + 1)
    _ = try await store.collect(retention)
    #expect(try await !store.notifications.create(new).isNew)
    _ = try await store.notifications.create(.any(to: alice))
    _ = try await store.collect(retention)
    #expect(try await store.notifications.create(new).isNew)
  }

  @Test func `keeps a push that waits, however long`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
    _ = try await store.notifications.create(new)
    scratch.pass(2 * retention.historyAge)
    _ = try await store.collect(retention)
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.queued])
    let jobs = try await store.outbox.lease(lane: "azure", until: scratch.now)
    #expect(jobs.map(\.notificationID) == [0])
  }

  @Test func `keeps the devices of a large audience until it is approved`() async throws {
    let store = try scratch.open()
    let crowd = try await store.crowd()
    for user in crowd.prefix(1050) { try await store.register("of \(user.rawValue)", of: user) }
    var new = NotificationInsert.any(to: crowd)
    (new.sender, new.approvalAbove) = (shop, 1000)
    new.pushes = [
      PushInsert(
        lane: "fcm",
        target: .devices(RegistrationIDs(crowd.prefix(1050).map { "of \($0.rawValue)" })),
        kind: "alert")
    ]
    let waiting = try await store.notifications.create(new).notification
    #expect(waiting.awaitsApproval)
    _ = try await store.collect(retention)
    scratch.pass(2 * retention.historyAge)
    _ = try await store.collect(retention)
    let result = try await store.approvals.decide(
      waiting.id, .approve(version: waiting.contentVersion), by: news, isAdmin: false)
    guard case .decided = result else { throw StoreError(.failed, "\(result)") }
    try await store.notifications.completeAudience(of: waiting.id)
    #expect(try await store.count("job") == 1050)
  }

  @Test func `removes a push without devices only when it is old`() async throws {
    let store = try scratch.open()
    func send() async throws {
      var new = NotificationInsert.any(to: alice)
      new.pushes = [PushInsert(lane: "fcm", target: .devices(["gone"]), kind: "alert")]
      _ = try await store.notifications.create(new)
    }
    try await send()
    scratch.pass(retention.historyAge + 1)
    try await send()
    _ = try await store.collect(retention)
    #expect(try await store.count("push") == 1)
  }

  @Test func `removes what was sent long ago behind any number of pushes that wait`() async throws {
    let store = try scratch.open()
    func send(by lane: String, isSettled: Bool) async throws {
      var new = NotificationInsert.any(to: alice)
      new.pushes = (0..<40).map { number in
        PushInsert(lane: lane, target: .audience("tag\(number)"), kind: "alert")
      }
      _ = try await store.notifications.create(new)
      guard isSettled else { return }
      let jobs = try await store.outbox.lease(lane: lane, limit: 99, until: scratch.now + 60)
      _ = try await store.outbox.settleAndLease(
        jobs.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) }, lane: lane,
        limit: 0, until: scratch.now)
    }
    for _ in 0..<30 { try await send(by: "dead", isSettled: false) }
    try await send(by: "living", isSettled: true)
    scratch.pass(2 * retention.historyAge)
    try await send(by: "living", isSettled: true)
    _ = try await store.collect(retention)
    #expect(try await store.outbox.jobs(in: .queued, limit: 9999).count == 1200)
    #expect(try await store.outbox.jobs(in: .sent, limit: 9999).count == 40)
    let deliveries = try await store.outbox.deliveries(of: 30)
    #expect(deliveries.isEmpty)
  }

  @Test func `what is known of recipients goes with them when a notification expires`()
    async throws
  {
    let store = try scratch.open()
    let crowd = try await store.crowd()
    var new = NotificationInsert.any(to: crowd)
    new.expires = scratch.now + 10
    new.values = RecipientValues(["name"])
    for user in crowd { new.values?.set("name", of: user, to: "x") }
    let written = try await store.notifications.create(new).notification.id
    try await store.notifications.completeAudience(of: written)
    // Of this one the parts are left.
    _ = try await store.notifications.create(new)
    scratch.pass(11)
    _ = try await store.collect(retention)
    for table in ["recipient", "recipient_values", "audience_part", "push_event"] {
      #expect(try await store.count(table) == 0, "\(table)")
    }
    #expect(try await store.count("notification") == 2)
  }

  @Test func `keeps a notification for as long after its last recipient got it`() async throws {
    let store = try scratch.open()
    try await store.register("phone", of: bob)
    let (first, last) = (scratch.now + 60, scratch.now + 7200)
    var new = NotificationInsert.any(to: [alice, bob])
    (new.localTime, new.notBefore) = ("2027-01-15T09:00 Europe/Zurich", first)
    new.times = [first: [alice], last: [bob]]
    _ = try await store.notifications.create(new)
    var retention = retention
    (retention.notificationAge, retention.receiptAge) = (3600, 3600)
    func collect(until time: Date) async throws -> Int {
      scratch.pass(time.timeIntervalSince(scratch.now))
      let count = try await store.collect(retention).notifications
      while try await store.events.releaseHeldEvents().map({ $0 <= scratch.now }) == true {}
      return count
    }
    // Its event is still held back.
    #expect(try await collect(until: last - 1) == 0)
    #expect(try await collect(until: last) == 0)
    #expect(try await store.notifications.inbox(of: bob, limit: 9).count == 1)
    _ = try await store.notifications.markRead(0, user: bob, device: "phone")
    #expect(try await collect(until: last + 3600) == 0)
    #expect(try await store.count("device_receipt") == 1)
    #expect(try await collect(until: last + 3601) == 1)
  }

  @Test func `a step that fails keeps none of the others from running`() async throws {
    let store = try scratch.open()
    try await store.addPairing("kept", of: alice)
    try await store.run("CREATE TABLE keeper(pairing bigint REFERENCES pairing)")
    try await store.run("INSERT INTO keeper SELECT id FROM pairing")
    try await store.record("asset", "{}")
    scratch.pass(retention.historyAge + 1)
    await #expect(throws: (any Error).self) { try await store.collect(retention) }
    #expect(try await store.count("pairing") == 1)
    #expect(try await store.events.events(after: 0, limit: 9).isEmpty)
  }

  @Test func `keeps everything that is younger than its age`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.sender = shop
    new.idempotencyKey = IdempotencyKey("k", request: [])
    new.expires = scratch.now.addingTimeInterval(retention.historyAge)
    new.pushes = [PushInsert(lane: "azure", target: .audience("a"), kind: "alert")]
    let blob = try await store.blobs.add(bytes: [1])
    _ = try await store.notifications.create(new)
    let jobs = try await store.outbox.lease(lane: "azure", until: scratch.now)
    try await store.outbox.settle(jobs.map { ($0.id, .rejected(reason: "no")) })
    scratch.pass(retention.blobGrace - 1)
    _ = try await store.collect(retention)
    #expect(store.blobs.size(of: blob.digest) == 1)
    scratch.pass(retention.eventAge - retention.blobGrace - 1)
    _ = try await store.collect(retention)
    #expect(try await store.events.events(after: 0, limit: 9).count == 3)
    scratch.pass(retention.historyAge - retention.eventAge)
    _ = try await store.collect(retention)
    #expect(try await store.notifications.notification(0) != nil)
    #expect(try await store.events.events(after: 0, limit: 9).isEmpty)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 1)
    #expect(try await store.outbox.deliveries(of: 0).map(\.state) == [.failed])
    #expect(try await !store.notifications.create(new).isNew)
  }

  @Test func `removes more than one commit's worth`() async throws {
    let store = try scratch.open()
    for _ in 0..<250 {
      var new = NotificationInsert.any(to: alice)
      new.expires = scratch.now.addingTimeInterval(1)
      _ = try await store.notifications.create(new)
    }
    try await store.events.push("{}", to: [alice])
    for _ in 0..<1100 { try await store.record("asset", "{}") }
    scratch.pass(retention.historyAge + 1)
    #expect(try await store.collect(retention).notifications == 250)
    #expect(try await store.events.events(after: 0, limit: 9999).isEmpty)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).isEmpty)
  }

  @Test func `keeps a rendition that was used within the grace, whatever the limit`() async throws {
    let store = try scratch.open()
    let key = Digest(of: "key")
    _ = try await store.renditions.store(key, bytes: [1], contentType: "image/png")
    var tight = retention
    tight.renditionBytes = 0
    scratch.pass(tight.renditionGrace - 1)
    #expect(await store.collectRenditions(tight).count == 0)
    #expect(!store.renditions.remove(key, ifUnusedSince: scratch.now.addingTimeInterval(-100)))
    #expect(scratch.files(in: "renditions").count == 2)
    scratch.pass(2)
    #expect(await store.collectRenditions(tight) == (1, 1))
    #expect(store.renditions.rendition(key) == nil)
  }
}
