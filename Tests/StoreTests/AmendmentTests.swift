import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct AmendmentTests {
  private let scratch = Scratch()

  private func new(_ message: String) -> NotificationInsert {
    var new = NotificationInsert.any(to: alice, message: message)
    new.pushes = [PushInsert(lane: "azure", target: .audience(message), kind: "alert")]
    return new
  }

  @Test func `replaces what nobody has fetched yet, and pushes again`() async throws {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    scratch.pass(5)
    let second = try #require(try await store.notifications.amend(first.id, with: new("second")))
    #expect(second.message == "second" && second.created == first.created)
    #expect(try await store.notifications.notification(first.id) == second)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 2)
    let jobs = try await store.outbox.lease(lane: "azure", limit: 9, until: scratch.now)
    #expect(jobs.map(\.target) == [.audience("second")])
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.cancelled, .queued])
  }

  @Test func `the last changes by people stay, also when who made them goes`() async throws {
    let store = try scratch.open()
    let id = try await store.notifications.create(new("0")).notification.id
    for number in 1...52 {
      var change = new("\(number)")
      change.amendment = NewAmendment(
        by: number == 52 ? bob : shop, of: #"{"message":"\#(number - 1)"}"#)
      scratch.pass(1)
      _ = try await store.notifications.amend(id, with: change)
      // The same again is no change.
      _ = try await store.notifications.amend(id, with: change)
    }
    // As of a file that was replaced.
    _ = try await store.notifications.amend(id, with: new("53"))
    _ = try await store.accounts.removeUser("bob")
    let found = try await store.notifications.amendments(of: id)
    #expect(found.count == 50)
    #expect(
      found.first == StoredAmendment(editor: nil, earlier: #"{"message":"51"}"#, time: scratch.now))
    #expect(found.last?.editor == "shop" && found.last?.earlier == #"{"message":"2"}"#)
    #expect(try await store.notifications.amendments(of: id + 1) == [])
  }

  @Test func `a push goes on saying what its version said`() async throws {
    let store = try scratch.open()
    var old = new("first")
    old.members = #"{"title":"t"}"#
    let id = try await store.notifications.create(old).notification.id
    _ = try await store.notifications.amend(id, with: new("second"))
    _ = try await store.notifications.amend(id, with: new("third"))
    var messages: [StoredMessage?] = []
    for push in 1...3 { messages.append(try await store.outbox.push(push)?.message) }
    #expect(
      messages == [
        StoredMessage("first", members: #"{"title":"t"}"#), StoredMessage("second"),
        StoredMessage("third"),
      ])
    #expect(try await store.outbox.push(4) == nil)
  }

  @Test func `a notification takes the place of its sender's earlier one about the same`()
    async throws
  {
    let store = try scratch.open()
    func create(_ message: String, _ sender: UserID, _ subject: String?) async throws -> Int {
      var new = new(message)
      (new.sender, new.replaces) = (sender, subject)
      return try await store.notifications.create(new).notification.id
    }
    let first = try await create("at noon", shop, "parcel")
    let others = [
      try await create("of another sender", news, "parcel"),
      try await create("about something else", shop, "bill"), try await create("any", shop, nil),
    ]
    let changes = Mutex<[Int]>([])
    store.observers.onChange.add { id in changes.withLock { $0.append(id) } }
    let second = try await create("at one", shop, "parcel")
    #expect(changes.withLock { $0 } == [first])
    func inbox() async throws -> [Int] {
      try await store.notifications.inbox(of: alice, limit: 9).map(\.notification.id)
    }
    #expect(try await inbox() == [second] + others.reversed())
    #expect(try await store.notifications.unreadCount(of: alice) == 4)
    #expect(try await store.notifications.notification(first)?.replacedBy == second)
    #expect(try await store.outbox.deliveries(of: first).map(\.state) == [.cancelled])
    let third = try await create("at two", shop, "parcel")
    #expect(try await inbox() == [third] + others.reversed())
    #expect(try await store.notifications.notification(first)?.replacedBy == second)
    #expect(try await store.notifications.notification(second)?.replacedBy == third)
  }

  @Test func `it does so for those it is sent to, and others keep the earlier one`() async throws {
    let store = try scratch.open()
    func create(_ users: [UserID], about subject: String? = "parcel") async throws -> Int {
      var new = NotificationInsert.any(to: users)
      (new.sender, new.replaces) = (shop, subject)
      for user in users {
        let target = PushInsert.Target.audience("\(user.rawValue)", user: user)
        new.pushes.append(PushInsert(lane: "azure", target: target, kind: "alert"))
      }
      return try await store.notifications.create(new).notification.id
    }
    func inboxes() async throws -> [[Int]] {
      var ids: [[Int]] = []
      for user in [alice, bob] {
        let inbox = try await store.notifications.inbox(of: user, limit: 9).map(\.notification)
        #expect(inbox.allSatisfy { $0.replacedBy == nil })
        #expect(try await store.notifications.unreadCount(of: user) == inbox.count)
        ids.append(inbox.map(\.id))
      }
      let counts = try await store.notifications.unreadCounts(of: [alice, bob])
      #expect(ids.map(\.count) == [alice, bob].map { counts[$0] ?? 0 })
      return ids
    }
    func deliveries(_ id: Int) async throws -> [JobState] {
      try await store.outbox.deliveries(of: id).map(\.state)
    }
    let first = try await create([alice, bob])
    let other = try await create([bob], about: "bill")
    let second = try await create([alice])
    #expect(try await inboxes() == [[second], [other, first]])
    #expect(try await deliveries(first) == [.cancelled, .queued])
    #expect(try await store.notifications.notification(first)?.replacedBy == second)

    // Whose turn comes later, also when the one between has gone.
    #expect(try await store.notifications.withdraw(second))
    _ = try await store.tables.removeExpiredNotifications(before: scratch.now)
    #expect(try await inboxes() == [[], [other, first]])
    let third = try await create([bob])
    #expect(try await inboxes() == [[], [third, other]])
    #expect(try await deliveries(first) == [.cancelled, .cancelled])
    let fourth = try await create([alice, bob])
    #expect(try await inboxes() == [[fourth], [fourth, other]])
    #expect(try await deliveries(third) == [.cancelled])

    // What a recipient keeps is withdrawn as any other.
    let fifth = try await create([alice])
    #expect(try await deliveries(fourth) == [.cancelled, .queued])
    #expect(try await store.notifications.withdraw(fourth))
    #expect(try await deliveries(fourth) == [.cancelled, .cancelled])
    #expect(try await inboxes() == [[fifth], [other]])
  }

  @Test func `the latest about a subject is known with its key, also when it has ended`()
    async throws
  {
    let store = try scratch.open()
    #expect(try await store.notifications.latest(about: "parcel", sender: shop) == nil)
    for key in ["one", nil, "two"] as [String?] {
      var next = new("text")
      (next.sender, next.replaces) = (shop, "parcel")
      next.idempotencyKey = key.map { IdempotencyKey($0, request: []) }
      let id = try await store.notifications.create(next).notification.id
      let latest = try #require(
        try await store.notifications.latest(about: "parcel", sender: shop))
      #expect(latest == (id, key, false))
      _ = try await store.notifications.withdraw(id)
      let ended = try #require(try await store.notifications.latest(about: "parcel", sender: shop))
      #expect(ended == (id, key, true))
    }
    #expect(try await store.notifications.latest(about: "parcel", sender: alice) == nil)
  }

  @Test func `one whose place another has taken is not changed any more`() async throws {
    let store = try scratch.open()
    var old = new("first")
    (old.sender, old.replaces) = (shop, "parcel")
    let first = try await store.notifications.create(old).notification.id
    old.message = "second"
    _ = try await store.notifications.create(old)
    old.message = "changed"
    #expect(try await store.notifications.amend(first, with: old) == nil)
    #expect(try await store.notifications.notification(first)?.message == "first")
    #expect(try await store.outbox.deliveries(of: first).map(\.state) == [.cancelled])
  }

  @Test func `an amendment that comes again, because its answer was lost, pushes once`()
    async throws
  {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    let second = try await store.notifications.amend(first.id, with: new("second"))
    #expect(try await store.notifications.amend(first.id, with: new("second")) == second)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 2)
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.cancelled, .queued])
  }

  @Test func `notifies the observer of every change, and of nothing else`() async throws {
    let store = try scratch.open()
    let changes = Mutex<[Int]>([])
    store.observers.onChange.add { id in changes.withLock { $0.append(id) } }
    _ = try await store.notifications.create(new("first"))
    let id = try await store.notifications.create(new("second")).notification.id
    _ = try await store.notifications.amend(id, with: new("other"))
    _ = try await store.notifications.amend(id, with: new("other"))
    #expect(changes.withLock { $0 } == [id])
    _ = try await store.notifications.withdraw(id)
    _ = try await store.notifications.withdraw(id)
    #expect(changes.withLock { $0 } == [id, id])
    #expect(try await store.outbox.deliveries(of: id).map(\.state) == [.cancelled, .cancelled])
  }

  @Test func `leaves alone what somebody has fetched`() async throws {
    let store = try scratch.open()
    let first = try await store.notifications.create(new("first")).notification
    store.notifications.recordFetched(first.id, user: alice)
    #expect(try await store.notifications.amend(first.id, with: new("second")) == nil)
    #expect(try await store.notifications.amend(1, with: new("second")) == nil)
    #expect(try await store.notifications.notification(first.id) == first)
    #expect(try await store.outbox.deliveries(of: first.id).map(\.state) == [.queued])
  }
}
