import FoundationEssentials
import Testing

@testable import Store

/// What senders see: lists with counts that cost the same for one recipient and for a hundred thousand.
@Suite(.timeLimit(.minutes(2))) struct SentTests {
  private let scratch = Scratch()

  private func insert(_ users: UserID..., from sender: UserID = shop) -> NotificationInsert {
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.recipients) = (sender, users)
    return new
  }

  private func push(to registrations: [String]) -> PushInsert {
    PushInsert(lane: "apns", target: .devices(RegistrationIDs(registrations)), kind: "alert")
  }

  private func counts(_ store: Store, _ id: Int = 0) async throws -> [Int] {
    let found = try #require(try await store.sent.counts(of: id))
    return [found.recipients, found.queued, found.sent, found.failed, found.fetched, found.read]
  }

  @Test func `a sender finds its notifications newest first, page by page`() async throws {
    let store = try scratch.open()
    for number in 0..<5 {
      _ = try await store.notifications.create(insert(alice, from: number == 2 ? news : shop))
    }
    let first = try await store.sent.sent(by: shop, before: nil, limit: 3)
    #expect(first.map(\.notification.id) == [4, 3, 1])
    #expect(first.map(\.sender) == ["shop", "shop", "shop"])
    #expect(try await store.sent.sent(by: shop, before: 1, limit: 3).map(\.notification.id) == [0])
    #expect(try await store.sent.sent(by: nil, before: nil, limit: 9).count == 5)
    #expect(try await store.notifications.withdraw(3))
    let withdrawn = try await store.sent.sent(by: shop, before: 4, limit: 1)
    #expect(withdrawn.map(\.withdrawn) == [scratch.now])
  }

  @Test func `without a push service, a user is queued until something has reached it`()
    async throws
  {
    let store = try scratch.open()
    _ = try await store.notifications.create(insert(alice, bob, carol))
    #expect(try await counts(store) == [3, 3, 0, 0, 0, 0])
    store.notifications.recordSent([0], user: alice)
    store.notifications.recordSent([0], user: alice)
    try await store.probe()
    #expect(try await counts(store) == [3, 2, 1, 0, 0, 0])
    for user in [alice, alice, bob, shop] { store.notifications.recordFetched(0, user: user) }
    try await store.probe()
    #expect(try await counts(store) == [3, 1, 1, 0, 2, 0])
    for _ in 0..<2 { #expect(try await store.notifications.markRead(0, user: alice)) }
    #expect(try await counts(store) == [3, 1, 1, 0, 2, 1])
  }

  @Test func `pushes are counted in the state that they have`() async throws {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", bob), ("c", carol), ("d", carol)] {
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: id, tags: [])
    }
    var new = insert(alice, bob, carol)
    new.event = nil
    new.pushes = [push(to: ["a", "b", "c", "d"])]
    _ = try await store.notifications.create(new)
    #expect(try await counts(store) == [3, 4, 0, 0, 0, 0])
    func lease() async throws -> [LeasedJob] {
      try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60)
    }
    let jobs = try await lease()
    #expect(jobs.count == 4)
    // One is cancelled while it is sent, and arrives all the same.
    #expect(try await store.outbox.cancel(job: jobs[0].id))
    #expect(try await counts(store) == [3, 3, 0, 0, 0, 0])
    _ = try await store.outbox.settleAndLease(
      [
        (jobs[0].id, .delivered(as: "alert", reference: nil, note: nil)),
        (jobs[1].id, .delivered(as: "alert", reference: nil, note: nil)),
        (jobs[2].id, .rejected(reason: "no")), (jobs[3].id, .expired),
      ], lane: "apns", limit: 0, until: scratch.now)
    #expect(try await counts(store) == [3, 0, 2, 2, 0, 0])
    #expect(try await store.outbox.replay(jobs[2].id) == 1)
    #expect(try await counts(store) == [3, 1, 2, 1, 0, 0])
    #expect(try await store.notifications.withdraw(0))
    #expect(try await counts(store) == [3, 0, 2, 1, 0, 0])
    // They equal what is there.
    let states = try await store.outbox.deliveries(of: 0).map(\.state.rawValue)
    #expect(states.sorted() == ["cancelled", "expired", "sent", "sent"])
  }

  @Test func `receipts and deliveries are read page by page, in any state or in one`() async throws
  {
    let store = try scratch.open()
    for (id, user) in [("a", alice), ("b", bob), ("c", carol), ("d", carol)] {
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: id, tags: [])
    }
    var new = insert(carol, alice, bob)
    new.pushes = [push(to: ["a", "b", "c"]), push(to: ["d"])]
    new.pushes[1].lane = "other"
    _ = try await store.notifications.create(new)
    store.notifications.recordFetched(0, user: carol, device: "d")
    try await store.probe()
    func users(_ state: ReceiptState?, after: Int = 0) async throws -> [UserID] {
      try await store.notifications.receipts(of: 0, in: state, after: after, limit: 2).map(\.userID)
    }
    #expect(try await users(nil) == [alice, bob])
    #expect(try await users(nil, after: bob.rawValue) == [carol])
    #expect(try await users(.queued) == [alice, bob])
    #expect(try await users(.fetched) == [carol])
    #expect(try await store.notifications.markRead(0, user: carol))
    #expect(try await users(.fetched).isEmpty)
    #expect(try await users(.read) == [carol])
    let own = try await store.notifications.receipts(of: 0, users: [bob, shop])
    #expect(own.map(\.user) == ["bob"])
    let devices = try await store.notifications.deviceReceipts(of: 0, users: [alice, carol])
    #expect(devices.map(\.registration) == ["d"])

    func jobs(
      _ state: JobState?, lane: String? = nil, after: Int = 0
    ) async throws -> [String?] {
      try await store.outbox.deliveries(of: 0, in: state, lane: lane, after: after, limit: 3)
        .map(\.registration)
    }
    #expect(try await jobs(nil) == ["a", "b", "c"])
    let all = try await store.outbox.deliveries(of: 0)
    #expect(all.map(\.userID) == [alice, bob, carol, carol])
    #expect(try await jobs(nil, after: all[2].job) == ["d"])
    #expect(try await store.outbox.cancel(job: all[1].job))
    #expect(try await jobs(.queued) == ["a", "c", "d"])
    #expect(try await jobs(.cancelled) == ["b"])
    #expect(try await jobs(.cancelled, lane: "other").isEmpty)
    #expect(try await jobs(nil, lane: "other") == ["d"])
  }

  @Test func `when it was first sent, fetched and read is kept`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "a", user: alice, platform: "apns", handle: "a", tags: [])
    var new = insert(alice, bob)
    new.pushes = [push(to: ["a"])]
    _ = try await store.notifications.create(new)
    func first() async throws -> [Date?] {
      let found = try #require(try await store.sent.counts(of: 0))
      return [found.firstSent, found.firstFetched, found.firstRead]
    }
    #expect(try await first() == [nil, nil, nil])
    let start = scratch.now
    let jobs = try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60)
    _ = try await store.outbox.settleAndLease(
      jobs.map { ($0.id, .delivered(as: "alert", reference: nil, note: nil)) }, lane: "apns",
      limit: 0, until: scratch.now)
    for user in [alice, bob] {
      scratch.pass(5)
      store.notifications.recordSent([0], user: user)
      store.notifications.recordFetched(0, user: user)
      #expect(try await store.notifications.markRead(0, user: user))
    }
    #expect(try await first() == [start, start + 5, start + 5])
  }

  @Test func `changes tell the counts once for many receipts, and other events as they are`()
    async throws
  {
    let store = try scratch.open()
    _ = try await store.notifications.create(insert(alice, bob))
    _ = try await store.notifications.create(insert(alice, from: news))
    let all = try await store.sent.changes(after: 0, for: nil)
    #expect(all.counts.keys.sorted() == [0, 1] && all.others.isEmpty)
    let own = try await store.sent.changes(after: 0, for: shop)
    #expect(own.counts.keys.sorted() == [0] && own.counts[0]?.recipients == 2)
    let last = try #require(all.last)
    #expect(try await store.sent.changes(after: last, for: shop).last == nil)
    store.notifications.recordFetched(0, user: alice)
    try await store.probe()
    let later = try await store.sent.changes(after: last, for: shop)
    #expect(later.counts[0]?.fetched == 1)
    #expect(try await store.sent.changes(after: last, for: news).last == nil)
  }

  @Test(.sqlite)
  func `lists and counts use indexes, and take no time in proportion to a hundred thousand rows`()
    async throws
  {
    let store = try scratch.open()
    try await store.database.write { connection in
      try connection.script(
        """
        WITH RECURSIVE n(i) AS (SELECT 0 UNION ALL SELECT i + 1 FROM n WHERE i < 99999)
        INSERT INTO notification(id, message, rich_type, payload, sender, audience, created)
          SELECT i, 'm', 'img', 'p', 4 + i % 2, '[]', 0 FROM n;
        INSERT INTO notification_count(notification, recipients) SELECT id, 1 FROM notification;
        INSERT INTO recipient(user_id, notification, fetched, read)
          SELECT id + 10, 7, iif(id % 3 = 0, 1, NULL), iif(id >= 99960, 1, NULL) FROM notification;
        INSERT INTO event(type, publisher, user_id, notification, data, created)
          SELECT 'receipt', 4, id, 7, json_object('notification', 7), 0 FROM notification;
        INSERT INTO asset(rich_type, name, state, bytes, stamp, modified, updated)
          SELECT 'img', printf('%06d.png', id), 'ready', 1, '', 0, 0 FROM notification;
        INSERT INTO push(id, notification, lane, kind) VALUES (1, 7, 'a', 'alert');
        INSERT INTO job(push, lane, token, state, due, updated)
          SELECT 1, iif(id % 1000 = 0, 'b', 'a'), '',
            iif(id >= 99950, 'expired', iif(id % 3 = 0, 'failed', 'queued')), 0, 0
          FROM notification;
        INSERT INTO users(name, role, created) SELECT printf('u%06d', id), 'device', 0
          FROM notification;
        """)
    }
    /// The fastest of five: other tests share the processors.
    func seconds(_ work: () async throws -> Int) async throws -> (seconds: Double, rows: Int) {
      var (times, rows) = ([Double](), 0)
      for _ in 0..<5 {
        let start = ContinuousClock.now
        rows = try await work()
        times.append((ContinuousClock.now - start) / .seconds(1))
      }
      return (times.min() ?? .infinity, rows)
    }
    let figures = [
      "sent": try await seconds {
        try await store.sent.sent(by: shop, before: 50_000, limit: 50).count
      },
      "sent by all": try await seconds {
        try await store.sent.sent(by: nil, before: 50_000, limit: 50).count
      },
      "counts": try await seconds { try await store.sent.counts(of: 7) == nil ? 0 : 50 },
      "assets": try await seconds {
        try await store.assets.assets(
          AssetFilter(richType: "img"), order: nil, limit: 50,
          after: AssetPosition(richType: "img", name: "050000.png")
        ).count
      },
      "jobs in a state": try await seconds {
        try await store.administration.jobs(in: .failed, lane: nil, before: 50_000, limit: 50).count
      },
      "jobs of a lane": try await seconds {
        try await store.administration.jobs(in: nil, lane: "b", before: 60_000, limit: 50).count
      },
      "receipts": try await seconds {
        try await store.notifications.receipts(of: 7, in: nil, after: 50_000, limit: 50).count
      },
      "receipts in a rare state": try await seconds {
        try await store.notifications.receipts(of: 7, in: .read, after: 0, limit: 50).count + 10
      },
      "deliveries": try await seconds {
        try await store.outbox.deliveries(of: 7, in: nil, lane: nil, after: 50_000, limit: 50).count
      },
      "deliveries in a rare state": try await seconds {
        try await store.outbox.deliveries(of: 7, in: .expired, lane: "a", after: 0, limit: 50).count
      },
      "lanes": try await seconds { try await store.administration.laneQueues().count * 25 },
      "users": try await seconds {
        try await store.administration.users(after: "u05", includingPasswordless: true, limit: 50)
          .count
      },
    ]
    let scan = try await seconds {
      try store.database.value("SELECT count(*) FROM job WHERE id || state || lane = ''") ?? 0
    }
    // These count all rows by an index.
    let counts = ["assets", "lanes"]
    for (what, figure) in figures.sorted(by: { $0.key < $1.key }) {
      print("SentTests: \(what): \(figure.seconds / scan.seconds) of a scan")
      let limit = counts.contains(what) ? 5 * scan.seconds : scan.seconds / 2
      #expect(figure.seconds < limit && figure.rows == 50, "\(what): \(figure), scan: \(scan)")
    }
    for query in [
      "SELECT id FROM notification WHERE sender = 4 AND id < 50000 ORDER BY id DESC LIMIT 50",
      "SELECT id FROM notification WHERE id < 50000 ORDER BY id DESC LIMIT 50",
      "SELECT * FROM notification_count WHERE notification = 7",
      "SELECT * FROM session WHERE hash = 'x'",
      "SELECT * FROM session WHERE user_id = 1 ORDER BY id",
      "SELECT id FROM job WHERE state = 'failed' AND lane = 'b' AND id < 9 ORDER BY id DESC LIMIT 50",
      "SELECT min(lane) FROM job WHERE state = 'failed' AND lane > 'a'",
      "SELECT user_id FROM recipient WHERE notification = 7 AND progress = 3 AND user_id > 9 ORDER BY user_id",
      "SELECT id FROM job WHERE push = 1 AND state = 'failed' AND id > 9 ORDER BY id LIMIT 50",
    ] {
      let plan = try store.database.all("EXPLAIN QUERY PLAN " + query) { row in
        for _ in 0..<3 { _ = try row.next(Int.self) }
        return try row.next(String.self)
      }
      #expect(plan.allSatisfy { $0.hasPrefix("SEARCH") }, "\(query): \(plan)")
    }
  }
}
