import Dispatch
import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct InboxTests {
  private let scratch = Scratch()

  @Test func `pages through a user's own notifications from the newest`() async throws {
    let store = try scratch.open()
    for index in 0..<7 {
      _ = try await store.notifications.create(.any(to: index == 3 ? bob : alice))
    }
    let first = try await store.notifications.inbox(of: alice, limit: 4).map(\.notification.id)
    #expect(first == [6, 5, 4, 2])
    let rest = try await store.notifications.inbox(
      of: alice, unreadOnly: false, limit: 4, before: 2)
    #expect(rest.map(\.notification.id) == [1, 0])
  }

  @Test func `leaves out what was read when only the unread is wanted`() async throws {
    let store = try scratch.open()
    for _ in 0..<3 { _ = try await store.notifications.create(.any(to: alice, bob)) }
    #expect(try await store.notifications.markRead(1, user: alice))
    let unread = try await store.notifications.inbox(
      of: alice, unreadOnly: true, limit: 9, before: nil)
    #expect(unread.map(\.notification.id) == [2, 0])
    #expect(
      try await store.notifications.inbox(of: alice, limit: 9).map(\.isRead) == [
        false, true, false,
      ])
    #expect(try await store.notifications.unreadCount(of: alice) == 2)
    #expect(try await store.notifications.unreadCount(of: bob) == 3)
    #expect(
      try await store.notifications.unreadCounts(of: [alice, bob, shop]) == [alice: 2, bob: 3])
  }

  @Test func `tells which of users' notifications were withdrawn or read since a time`()
    async throws
  {
    let store = try scratch.open()
    for _ in 0..<4 { _ = try await store.notifications.create(.any(to: alice, bob)) }
    #expect(try await store.notifications.markRead(0, user: alice))
    scratch.pass(60)
    let since = scratch.now
    #expect(try await store.notifications.markRead(1, user: alice))
    #expect(try await store.notifications.withdraw(2))
    func ended(_ users: UserID..., among id: Int? = nil) async throws -> [String] {
      try await store.notifications.ended(since: since, for: users, among: id).map {
        "\($0.notification.id) \($0.user == alice ? "alice" : "bob") \($0.isWithdrawn)"
      }.sorted()
    }
    #expect(try await ended(alice, bob) == ["1 alice false", "2 alice true", "2 bob true"])
    #expect(try await ended(bob) == ["2 bob true"])
    #expect(try await ended(alice, bob, among: 1) == ["1 alice false"])
    #expect(try await ended(alice, among: 3) == [])
  }

  @Test func `says when push events were committed`() async throws {
    let store = try scratch.open()
    #expect(try await store.events.time(ofPushEvent: 5) == nil)
    try await store.events.push("{}", to: [alice, bob], pushes: [])
    let first = scratch.now
    scratch.pass(60)
    try await store.events.push("{}", to: [alice], pushes: [])
    for (sequence, time) in [(1, first), (2, first), (3, scratch.now), (9, scratch.now)] {
      #expect(try await store.events.time(ofPushEvent: sequence) == time, "\(sequence)")
    }
  }

  @Test func `finds the newest content under a name that a user was sent and may know of`()
    async throws
  {
    let store = try scratch.open()
    func send(_ bytes: String, to user: UserID, notBefore: Double? = nil) async throws {
      var new = NotificationInsert(message: "m", richType: "img", payload: "a.png")
      (new.blob, new.blobType) = (try await store.blobs.add(bytes: Array(bytes.utf8)), "image/png")
      (new.recipients, new.notBefore) = ([user], notBefore.map { scratch.now + $0 })
      _ = try await store.notifications.create(new)
    }
    func found(_ payload: String = "a.png", _ type: String = "img") async throws -> Digest? {
      try await store.notifications.notification(type, payload: payload, sentTo: alice)?.blob?
        .digest
    }
    try await send("bob's", to: bob)
    try await send("later", to: alice, notBefore: 60)
    var text = NotificationInsert(message: "m", richType: "img", payload: "text")
    text.recipients = [alice]
    _ = try await store.notifications.create(text)
    #expect(try await found() == nil)
    #expect(try await found("text") == nil, "it has no content of its own")
    for bytes in ["one", "two"] { try await send(bytes, to: alice) }
    #expect(try await found() == Digest(of: "two"))
    let (inOtherCase, ofOtherType) = (try await found("A.png"), try await found("a.png", "url"))
    #expect(inOtherCase == nil && ofOtherType == nil)
    _ = try await store.notifications.withdraw(4)
    #expect(try await found() == Digest(of: "one"))
    scratch.pass(61)
    _ = try await store.notifications.withdraw(3)
    #expect(try await found() == Digest(of: "later"))
  }

  @Test func `tells by one read whose a token is, and whether its fetch is recorded`() async throws
  {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    let devices = [("phone", alice), ("tablet", alice), ("other", bob)]
    for (id, user) in devices {
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: id, tags: [])
      #expect(try await store.accounts.addToken(Digest(of: id), to: id, user: user))
    }
    func recorded(_ device: String, _ notification: Int?) async throws -> Bool? {
      let found = try #require(
        try await store.accounts.device(withToken: Digest(of: device), fetching: notification))
      #expect(found.registration == device && found.user == (device == "other" ? bob : alice))
      return found.isFetchRecorded
    }
    for id in ["phone", "tablet"] { #expect(try await recorded(id, 0) == false) }
    store.notifications.recordFetched(0, user: alice, device: "phone")
    try await store.probe()
    #expect(try await recorded("phone", 0) == true)
    #expect(try await recorded("tablet", 0) == false)
    #expect(try await recorded("other", 0) == nil)
    for other in [1, nil] { #expect(try await recorded("phone", other) == nil) }
    #expect(try await store.accounts.device(withToken: Digest(of: "?"), fetching: 0) == nil)
  }

  @Test func `lets nobody touch a notification that is not theirs`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    for device in [nil, "1"] {
      #expect(
        try await store.notifications.isFetchRecorded(0, user: alice, device: device) == false)
      #expect(try await store.notifications.isFetchRecorded(0, user: bob, device: device) == nil)
    }
    #expect(try await !store.notifications.markRead(0, user: bob))
    #expect(try await !store.notifications.markRead(1, user: alice))
    _ = try await store.notifications.create(.any(to: alice, bob))
    #expect(try await store.notifications.soleRecipient(of: 0) == alice)
    for id in [1, 2] {
      #expect(try await store.notifications.soleRecipient(of: id) == nil)
    }
  }

  @Test func `keeps the first time of a push, of a fetch and of a reading`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: bob, alice))
    let start = scratch.now
    store.notifications.recordSent([0], user: bob)
    store.notifications.recordFetched(0, user: alice)
    _ = try await store.notifications.markRead(0, user: bob)
    scratch.pass(5)
    store.notifications.recordSent([0], user: bob)
    store.notifications.recordFetched(0, user: alice)
    _ = try await store.notifications.markRead(0, user: bob)
    #expect(
      try await store.notifications.receipts(of: 0) == [
        Receipt(userID: alice, user: "alice", sent: nil, fetched: start, read: nil),
        Receipt(userID: bob, user: "bob", sent: start, fetched: nil, read: start),
      ])
  }

  @Test func `records every one of more fetches than fit into one commit`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    let gate = DispatchSemaphore(value: 0)
    store.holdWriter(until: gate)
    for _ in 0..<2500 { store.notifications.recordFetched(7, user: alice) }
    store.notifications.recordFetched(0, user: alice)
    gate.signal()
    // Each of the commits asks for the next one.
    for _ in 0..<3 { try await store.probe() }
    #expect(try await store.notifications.receipts(of: 0).map(\.fetched) == [scratch.now])
  }

  @Test func `keeps what each device did, when it says which one it is`() async throws {
    let store = try scratch.open()
    for (id, user) in [("a1", alice), ("a2", alice), ("b1", bob)] {
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: "token \(id)", tags: [])
    }
    _ = try await store.notifications.create(.any(to: alice))
    let start = scratch.now
    store.notifications.recordFetched(0, user: alice, device: "a1")
    store.notifications.recordFetched(0, user: alice, device: "b1")
    store.notifications.recordFetched(0, user: bob, device: "b1")
    scratch.pass(5)
    store.notifications.recordFetched(0, user: alice, device: "a1")
    store.notifications.recordFetched(0, user: alice, device: "a2")
    #expect(try await store.notifications.markRead(0, user: alice, device: "a2"))
    #expect(
      try await store.notifications.deviceReceipts(of: 0, users: [alice, bob]) == [
        DeviceReceipt(user: "alice", registration: "a1", fetched: start, read: nil),
        DeviceReceipt(user: "alice", registration: "a2", fetched: start + 5, read: start + 5),
      ])
    #expect(try await store.notifications.receipts(of: 0).map(\.fetched) == [start])
    let told = try await store.events.events(after: 0, limit: 9).map(\.data).filter {
      !$0.contains("lane")
    }
    #expect(
      told
        == [("a1", "fetched"), ("a2", "fetched"), ("a2", "read")].map {
          #"{"notification":0,"user":"alice","device":"\#($0)","state":"\#($1)"}"#
        })
  }
}
