import FoundationEssentials
import Testing

@testable import Store

/// What users change in their own inboxes.
@Suite(.timeLimit(.minutes(2))) struct OwnInboxTests {
  private let scratch = Scratch()

  private func listed(_ store: Store) async throws -> [Int] {
    try await store.notifications.inbox(of: alice, limit: 99).map(\.notification.id)
  }

  @Test func `what is hidden is in no page and in no count, until it is brought back`() async throws
  {
    let store = try scratch.open()
    for _ in 0..<3 { _ = try await store.notifications.create(.any(to: alice, bob)) }
    #expect(try await store.notifications.setHidden(true, 1, user: alice))
    #expect(try await listed(store) == [2, 0])
    #expect(try await store.notifications.unreadCount(of: alice) == 2)
    #expect(try await store.notifications.unreadCounts(of: [alice, bob]) == [alice: 2, bob: 3])
    #expect(try await store.notifications.inbox(of: bob, limit: 9).count == 3)
    #expect(try await store.notifications.notification(1) != nil, "it can still be fetched")
    #expect(try await store.notifications.markRead(1, user: alice))
    for _ in 0..<2 { #expect(try await store.notifications.setHidden(false, 1, user: alice)) }
    #expect(try await listed(store) == [2, 1, 0])
    #expect(try await !store.notifications.setHidden(true, 1, user: carol))
    #expect(try await !store.notifications.setHidden(true, 9, user: alice))
    #expect(try await store.count("recipient") == 6)
  }

  @Test func `what a large audience has can be hidden before its users are written`() async throws {
    let store = try scratch.open()
    let users = try await store.crowd()
    var new = NotificationInsert.any(to: alice)
    new.recipients = users
    for _ in 0..<2 { _ = try await store.notifications.create(new) }
    let last = try #require(users.last)
    #expect(try await store.notifications.setHidden(true, 0, user: last))
    try await store.notifications.markRead(upTo: 1, user: last, device: nil)
    while try await store.notifications.writeNextParts(within: .zero) {}
    let inbox = try await store.notifications.inbox(of: last, limit: 9)
    #expect(inbox.map(\.notification.id) == [1] && inbox.map(\.isRead) == [true])
    #expect(try await store.sent.counts(of: 0)?.read == 0)
    #expect(try await store.sent.counts(of: 1)?.read == 1)
    #expect(try await store.notifications.inbox(of: users[0], limit: 9).count == 2)
  }

  @Test func `all up to one are marked read as if each was`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "phone", user: alice, platform: "apns", handle: "AA")
    for _ in 0..<6 {
      var new = NotificationInsert.any(to: alice, bob)
      new.sender = shop
      _ = try await store.notifications.create(new)
    }
    var later = NotificationInsert.any(to: alice)
    later.notBefore = scratch.now + 60
    _ = try await store.notifications.create(later)
    _ = try await store.notifications.create(.any(to: bob))
    #expect(try await store.notifications.markRead(1, user: alice))
    #expect(try await store.notifications.withdraw(2))
    #expect(try await store.notifications.setHidden(true, 3, user: alice))
    let before = try await store.events.latestEvent()
    scratch.pass(1)
    for _ in 0..<2 {
      try await store.notifications.markRead(upTo: 4, user: alice, device: "phone")
    }
    let events = try await store.events.events(after: before, for: shop, limit: 99)
    #expect(
      events.map(\.data)
        == [0, 4].map {
          #"{"notification":\#($0),"user":"alice","device":"phone","state":"read"}"#
        })
    #expect(try await store.notifications.unreadCount(of: alice) == 1)
    for id in [0, 4] {
      #expect(try await store.sent.counts(of: id)?.read == 1)
      let receipt = try #require(
        try await store.notifications.receipts(of: id, users: [alice]).first)
      #expect(receipt.read == scratch.now)
      #expect(
        try await store.notifications.deviceReceipts(of: id, users: [alice]).map(\.read)
          == [scratch.now])
    }
    try await store.notifications.markRead(upTo: .max, user: alice, device: nil)
    #expect(try await store.notifications.unreadCount(of: alice) == 0)
    scratch.pass(60)
    #expect(try await store.notifications.unreadCount(of: alice) == 1, "it was not known yet")
    #expect(try await store.notifications.unreadCount(of: bob) == 6)
  }

  @Test func `more are marked read than one commit takes`() async throws {
    let store = try scratch.open()
    for _ in 0..<1201 { _ = try await store.notifications.create(.any(to: alice)) }
    try await store.notifications.markRead(upTo: 1200, user: alice, device: nil)
    #expect(try await store.notifications.unreadCount(of: alice) == 0)
    #expect(try await store.sent.counts(of: 1200)?.read == 1)
  }
}
