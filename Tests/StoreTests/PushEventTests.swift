import FoundationEssentials
import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct PushEventTests {
  private let scratch = Scratch()

  @Test func `resumes after the last event a device has seen`() async throws {
    let store = try scratch.open()
    for user in [alice, bob, alice] { _ = try await store.notifications.create(.any(to: user)) }
    try await store.events.push("{}", to: [alice])
    let all = try await store.events.pushEvents(for: alice, after: 0, limit: 9)
    #expect(all.map(\.notificationID) == [0, 2, nil])
    let rest = try await store.events.pushEvents(for: alice, after: all[0].sequence, limit: 1)
    #expect(rest == [all[1]])
    #expect(try await store.events.latestPushEvent() == all[2].sequence)
  }

  @Test func `a device gets no push of a notification that has expired meanwhile`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    new.expires = scratch.now + 60
    _ = try await store.notifications.create(new)
    _ = try await store.notifications.create(.any(to: alice))
    func found() async throws -> [[Int?]?] {
      [
        try await store.events.pushEvents(for: alice, after: 0, limit: 9).map(\.notificationID),
        try await store.events.pushEvents(after: [alice: 0], limit: 9)?[alice]?.map(
          \.notificationID),
      ]
    }
    scratch.pass(59)
    #expect(try await found() == [[0, 1], [0, 1]])
    scratch.pass(1)
    #expect(try await found() == [[1], [1]])
  }

  @Test func `never gives the number of a removed event again`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    let first = try await store.events.latestPushEvent()
    try await store.removeNotifications()
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).isEmpty)
    _ = try await store.notifications.create(.any(to: alice))
    #expect(
      try await store.events.pushEvents(for: alice, after: 0, limit: 9).map(\.sequence) == [
        first + 1
      ])
  }

  @Test(.sqlite) func `tells the observer after the events were committed`() async throws {
    let store = try scratch.open()
    let told = Mutex<[[[Int]]]>([])
    store.observers.onPushEvents.add { [weak store] users in
      let counts = users.map { (user: UserID) -> Int in
        let sql = "SELECT count(*) FROM push_event WHERE user_id = $1"
        return (try? store?.database.value(sql, user, as: Int.self)) ?? 0
      }
      told.withLock { $0.append(zip(users, counts).map { [$0.rawValue, $1] }) }
    }
    _ = try await store.notifications.create(.any(to: bob, alice, bob))
    try await store.events.push("{}", to: [bob])
    #expect(told.withLock { $0 } == [[[1, 1], [2, 1]], [[2, 2]]])
  }

  @Test func `shows each reader a rising sequence while eight write`() async throws {
    let store = try scratch.open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          for _ in 0..<20 { _ = try await store.notifications.create(.any(to: alice)) }
        }
      }
      group.addTask {
        var seen: [StoredPushEvent] = []
        while seen.count < 160 {
          try Task.checkCancellation()
          seen += try await store.events.pushEvents(
            for: alice, after: seen.last?.sequence ?? 0, limit: 7)
        }
        // A commit that became visible behind a later number would have been skipped.
        #expect(seen.compactMap(\.notificationID) == Array(0..<160))
      }
      try await group.waitForAll()
    }
  }
}
