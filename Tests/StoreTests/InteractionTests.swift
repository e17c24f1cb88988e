import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// What people do with a notification, as their devices tell.
@Suite(.timeLimit(.minutes(2))) struct InteractionTests {
  private let scratch = Scratch()

  private func open() async throws -> Store {
    let store = try scratch.open()
    for (id, user) in [("phone", alice), ("tablet", alice), ("other", bob)] {
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: "token \(id)", tags: [])
    }
    var new = NotificationInsert.any(to: alice, bob)
    (new.sender, new.event) = (shop, nil)
    _ = try await store.notifications.create(new)
    return store
  }

  private func action(
    _ id: String = "yes", of user: UserID = alice, device: String? = "phone"
  ) -> InteractionInsert {
    InteractionInsert(action: id, of: 0, user: user, device: device)
  }

  private func reply(
    _ text: String = "hi", key: String, of user: UserID = alice, device: String? = "phone"
  ) -> InteractionInsert {
    InteractionInsert(reply: text, key: key, to: "answer", of: 0, user: user, device: device)
  }

  private func told(_ store: Store) async throws -> [String] {
    try await store.events.events(after: 0, for: shop, limit: 99).map(\.data)
  }

  @Test func `what is displayed, opened and dismissed counts once for a device and its user`()
    async throws
  {
    let store = try await open()
    let start = scratch.now
    for device in ["phone", "phone", "tablet", "other", nil] {
      for event in ReportedEvent.allCases {
        #expect(
          try await store.notifications.record(event, of: 0, user: alice, device: device))
      }
      try await store.probe()
      scratch.pass(1)
    }
    let receipts = try await store.notifications.receipts(of: 0)
    #expect(receipts.map(\.displayed) == [start, nil])
    #expect(receipts.map(\.opened) == [start, nil])
    #expect(receipts.map(\.dismissed) == [start, nil])
    let devices = try await store.notifications.deviceReceipts(of: 0, users: [alice, bob])
    #expect(devices.map(\.registration) == ["phone", "tablet"])
    #expect(devices.map(\.displayed) == [start, start + 2])
    #expect(devices.map(\.opened) == [start, start + 2])
    let expected = ["phone", "tablet"].flatMap { device in
      ["displayed", "opened", "dismissed"].map {
        #"{"notification":0,"user":"alice","device":"\#(device)","state":"\#($0)"}"#
      }
    }
    #expect(try await told(store).sorted() == expected.sorted())
    let counts = try #require(try await store.sent.counts(of: 0))
    #expect([counts.displayed, counts.opened, counts.dismissed, counts.read] == [1, 1, 1, 0])
    #expect(counts.queued == 1, "bob alone is waited for")
    #expect(counts.firstDisplayed == start && counts.firstOpened == start)
  }

  @Test func `the state of a receipt is the furthest, and finds it`() async throws {
    let store = try await open()
    func found(_ state: ReceiptState) async throws -> [UserID] {
      try await store.notifications.receipts(of: 0, in: state, after: 0, limit: 9).map(\.userID)
    }
    #expect(try await found(.queued) == [alice, bob])
    #expect(try await store.notifications.record(.displayed, of: 0, user: alice, device: nil))
    try await store.probe()
    #expect(try await found(.displayed) == [alice])
    #expect(try await store.notifications.record(.opened, of: 0, user: alice, device: nil))
    store.notifications.recordFetched(0, user: alice)
    try await store.probe()
    #expect(try await found(.opened) == [alice])
    #expect(try await store.notifications.markRead(0, user: alice))
    #expect(try await found(.read) == [alice])
    #expect(try await found(.queued) == [bob])
    let all = try await store.notifications.receipts(of: 0, in: nil, after: 0, limit: 9)
    #expect(all.map(\.userID) == [alice, bob])
  }

  @Test func `two replies are two, and one that is repeated is one`() async throws {
    let store = try await open()
    let keys = ["a", "a", "b", "a"]
    var results: [InteractionResult] = []
    for key in keys { results.append(try await store.interactions.add(reply(key: key))) }
    #expect(results == [.added, .repeated, .added, .repeated])
    // The same key of another device is another reply.
    #expect(try await store.interactions.add(reply(key: "a", device: "tablet")) == .added)
    #expect(try await store.interactions.add(reply(key: "a", device: nil)) == .added)
    #expect(try await store.interactions.add(reply(key: "a", of: bob, device: "other")) == .added)
    let found = try await store.interactions.interactions(of: 0, after: 0, limit: 9)
    #expect(found.map(\.user) == ["alice", "alice", "alice", "alice", "bob"])
    #expect(found.map(\.device) == ["phone", "phone", "tablet", "", "other"])
    #expect(found.allSatisfy { $0.text == "hi" && $0.event == "reply" && $0.action == "answer" })
    let next = try await store.interactions.interactions(of: 0, after: found[1].id, limit: 1)
    #expect(next == [found[2]])
    #expect(try await store.sent.counts(of: 0)?.replies == 5)
    #expect(try await told(store).count == 5)
  }

  @Test func `another text with the key of an earlier reply is refused, and the first one stays`()
    async throws
  {
    let store = try await open()
    _ = try await store.interactions.add(reply("first", key: "a"))
    let refusal = await #expect(throws: StoreError.self) {
      try await store.interactions.add(reply("second", key: "a"))
    }
    #expect(refusal?.code == .conflict)
    let found = try await store.interactions.interactions(of: 0, after: 0, limit: 9)
    #expect(found.map(\.text) == ["first"])
  }

  @Test func `a button counts once for each device`() async throws {
    let store = try await open()
    var results: [InteractionResult] = []
    for (button, device) in [
      ("yes", "phone"), ("yes", "phone"), ("no", "phone"), ("yes", "tablet"),
    ] {
      results.append(try await store.interactions.add(action(button, device: device)))
    }
    #expect(results == [.added, .repeated, .added, .added])
    #expect(try await store.sent.counts(of: 0)?.actions == 3)
    #expect(
      try await told(store).first
        == #"{"notification":0,"user":"alice","device":"phone","event":"action","action":"yes"}"#)
  }

  @Test func `many at the same moment, of one reply and of others, are each stored once`()
    async throws
  {
    let store = try await open()
    let added = try await withThrowingTaskGroup(of: InteractionResult.self) { group in
      for number in 0..<40 {
        group.addTask { try await store.interactions.add(self.reply(key: "\(number % 10)")) }
      }
      return try await group.reduce(into: 0) { $0 += $1 == .added ? 1 : 0 }
    }
    #expect(added == 10)
    #expect(try await store.sent.counts(of: 0)?.replies == 10)
  }

  @Test func `a device replies to a notification only so often`() async throws {
    let store = try await open()
    for number in 0..<UserQuota.replies {
      #expect(try await store.interactions.add(reply(key: "\(number)")) == .added)
    }
    let refusal = await #expect(throws: StoreError.self) {
      try await store.interactions.add(reply(key: "one more"))
    }
    #expect(refusal?.code == .conflict)
    // What is stored is still a repetition, and others may reply.
    #expect(try await store.interactions.add(reply(key: "0")) == .repeated)
    #expect(try await store.interactions.add(reply(key: "0", device: "tablet")) == .added)
  }

  @Test func `nobody reports of what is not theirs, is over, or has not begun`() async throws {
    let store = try await open()
    var later = NotificationInsert.any(to: alice)
    (later.sender, later.notBefore) = (shop, scratch.now + 60)
    _ = try await store.notifications.create(later)
    func isTaken(_ id: Int, _ user: UserID) async throws -> Bool {
      let new = InteractionInsert(action: "yes", of: id, user: user, device: nil)
      var taken: Set<Bool> = [try await store.interactions.add(new) != .notFound]
      for event in ReportedEvent.allCases {
        taken.insert(
          try await store.notifications.record(event, of: id, user: user, device: nil))
      }
      #expect(taken.count == 1)
      return taken.contains(true)
    }
    #expect(try await !isTaken(0, carol))
    #expect(try await !isTaken(1, alice))
    #expect(try await !isTaken(9, alice))
    #expect(try await isTaken(0, alice))
    _ = try await store.notifications.withdraw(0)
    #expect(try await !isTaken(0, bob))
    #expect(try await store.accounts.removeUser("alice"))
    scratch.pass(61)
    let removed = InteractionInsert(action: "yes", of: 1, user: alice, device: nil)
    #expect(try await store.interactions.add(removed) == .notFound)
  }

  @Test func `replies go with their user, also those that nobody has heard of yet`() async throws {
    let store = try await open()
    _ = try await store.interactions.add(reply("from alice", key: "a"))
    _ = try await store.interactions.add(action())
    _ = try await store.interactions.add(reply("from bob", key: "a", of: bob, device: "other"))
    #expect(try await store.accounts.removeUser("alice"))
    let found = try await store.interactions.interactions(of: 0, after: 0, limit: 9)
    #expect(found.map(\.text) == ["from bob"])
    #expect(try await store.count("interaction") == 1)
    #expect(try await told(store).count == 1)
    #expect(try await told(store).allSatisfy { $0.contains("from bob") })
    // The counts of receipts keep those of removed users, too.
    #expect(try await store.sent.counts(of: 0)?.replies == 2)
  }

  @Test func `replies are kept as long as their notification, when it has ended, too`() async throws
  {
    let store = try await open()
    var new = NotificationInsert.any(to: alice)
    (new.sender, new.event, new.expires) = (shop, nil, scratch.now + 60)
    _ = try await store.notifications.create(new)
    for id in [0, 1] {
      _ = try await store.interactions.add(
        InteractionInsert(
          reply: "hi", key: "a", to: "answer", of: id, user: alice, device: "phone"))
    }
    #expect(try await store.notifications.withdraw(0))
    scratch.pass(61)
    _ = try await store.collect(Retention())
    #expect(try await store.count("interaction") == 2)
    #expect(try await store.interactions.interactions(of: 0, after: 0, limit: 9).count == 1)
    #expect(try await told(store).count == 2)
    scratch.pass(Retention().historyAge)
    _ = try await store.collect(Retention())
    #expect(try await store.count("interaction") == 0)
  }

  @Test func `who is still in a part of an audience may report at once`() async throws {
    let store = try scratch.open()
    let users = try await store.crowd()
    _ = try await store.notifications.create(.any(to: users))
    let last = try #require(users.last)
    #expect(try await store.notifications.record(.displayed, of: 0, user: last, device: nil))
    let reply = InteractionInsert(
      reply: "hi", key: "a", to: "answer", of: 0, user: last, device: nil)
    #expect(try await store.interactions.add(reply) == .added)
    while try await store.notifications.writeNextParts(within: .zero) {}
    let receipts = try await store.notifications.receipts(of: 0, users: [last])
    #expect(receipts.map { $0.displayed != nil } == [true])
    #expect(try await store.sent.counts(of: 0)?.recipients == users.count)
  }

  @Test func `a publisher that counts hears of answers by their numbers`() async throws {
    let store = try await open()
    _ = try await store.interactions.add(reply(key: "a"))
    _ = try await store.interactions.add(action())
    let changes = try await store.sent.changes(after: 0, for: shop)
    #expect(changes.others.isEmpty)
    #expect(changes.counts[0]?.replies == 1 && changes.counts[0]?.actions == 1)
  }

  @Test func `a job tells whose it is, and whether the device is still registered`() async throws {
    let store = try scratch.open()
    try await store.register("phone", of: alice)
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "fcm", target: .devices(["phone"]), kind: "alert")]
    _ = try await store.notifications.create(new)
    let job = try #require(
      try await store.outbox.lease(lane: "fcm", limit: 9, until: scratch.now).first)
    let found = try #require(try await store.outbox.addressee(of: job.id))
    #expect(found.token == job.token && found.notification == 0)
    #expect(found.user == alice && found.name == "alice" && found.registration == "phone")
    #expect(found.isRegistered)
    // The phone is another user's now.
    _ = try await store.accounts.removeRegistration("phone", user: alice)
    try await store.register("phone", of: bob)
    #expect(try await store.outbox.addressee(of: job.id)?.isRegistered == false)
    #expect(try await store.outbox.addressee(of: job.id + 1) == nil)
    #expect(try await store.accounts.removeUser("alice"))
    #expect(try await store.outbox.addressee(of: job.id) == nil)
  }
}
