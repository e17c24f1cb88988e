import FoundationEssentials
import Testing

@testable import Store

/// Notifications for so many people that another publisher has to approve them.
@Suite(.timeLimit(.minutes(1))) struct ApprovalTests {
  private let scratch = Scratch()
  private let people = [alice, bob, carol]

  /// For three people, of whom only two may be sent to without approval.
  private func large(_ message: String = "Sale") -> NotificationInsert {
    var new = NotificationInsert.any(to: people)
    (new.message, new.sender, new.approvalAbove) = (message, shop, 2)
    new.pushes = [PushInsert(lane: "apns", target: .audience(message), kind: "alert")]
    return new
  }

  private func create(
    _ new: NotificationInsert, in store: Store
  ) async throws -> StoredNotification {
    try await store.notifications.create(new).notification
  }

  private func approve(
    _ notification: StoredNotification, by user: UserID, isAdmin: Bool = false, in store: Store
  ) async throws -> ApprovalResult {
    try await store.approvals.decide(
      notification.id, .approve(version: notification.contentVersion), by: user, isAdmin: isAdmin)
  }

  /// The notifications that a user was pushed, whose jobs are due, and that are in the inbox.
  private func arrived(_ store: Store) async throws -> [[Int]] {
    while try await store.events.releaseHeldEvents().map({ $0 <= scratch.now }) == true {}
    return [
      try await store.events.pushEvents(for: bob, after: 0, limit: 9).map(\.notificationID)
        .compactMap(\.self),
      try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60)
        .map(\.notificationID).compactMap(\.self),
      try await store.notifications.inbox(of: bob, limit: 9).map(\.notification.id),
    ]
  }

  @Test func `one for too many people reaches nobody until another approves it, and then once`()
    async throws
  {
    let store = try scratch.open()
    let waiting = try await create(large(), in: store)
    #expect(waiting.awaitsApproval && waiting.people == 3 && waiting.plannedTime == nil)
    #expect(try await store.notifications.notification(waiting.id) == waiting)
    scratch.pass(86_400)
    #expect(try await arrived(store) == [[], [], []])
    #expect(
      try await store.approvals.awaitingApproval(before: nil, limit: 9).map(\.notification.id)
        == [waiting.id])
    #expect(try await approve(waiting, by: shop, isAdmin: true, in: store) == .isOwn)
    let wrong = try await store.approvals.decide(
      waiting.id, .approve(version: "other"), by: news, isAdmin: false)
    #expect(wrong == .changedMeanwhile)
    #expect(try await arrived(store) == [[], [], []])

    let decided = StoredApproval(user: "news", reason: nil, time: scratch.now.stored)
    #expect(try await approve(waiting, by: news, in: store) == .decided(decided))
    #expect(try await arrived(store) == [[waiting.id], [waiting.id], [waiting.id]])
    let sent = try #require(try await store.notifications.notification(waiting.id))
    #expect(!sent.awaitsApproval && sent.held == nil && sent.notBefore == scratch.now.stored)
    #expect(try await approve(waiting, by: news, in: store) == .notAwaiting)
    #expect(try await store.approvals.approval(of: waiting.id) == decided)
    #expect(try await store.approvals.awaitingApproval(before: nil, limit: 9).isEmpty)
    let events = try await store.events.events(after: 0, for: bob, limit: 99)
      .filter { $0.type == "approval" }.map(\.data)
    #expect(
      events == [
        #"{"notification":0,"state":"awaiting"}"#, #"{"notification":0,"state":"approved"}"#,
      ])
  }

  @Test func `it counts people, not what goes to one person, and parts of a send together`()
    async throws
  {
    let store = try scratch.open()
    func awaits(
      _ users: [UserID], _ message: String = "Sale", by sender: UserID = shop, above: Int? = 2
    ) async throws -> Bool {
      var new = NotificationInsert.any(to: users)
      (new.message, new.sender, new.approvalAbove) = (message, sender, above)
      return try await create(new, in: store).awaitsApproval
    }
    #expect(try await !awaits(people, "Any", above: nil), "the operator does not want it")
    #expect(try await !awaits(people + people, "Any", above: 3), "each counts once")
    for user in people { #expect(try await !awaits([user], "Your parcel")) }
    #expect(try await !awaits([alice, bob]))
    #expect(try await !awaits([alice, bob], "Another"))
    #expect(try await !awaits([alice, bob], by: news))
    #expect(try await awaits([carol, shop]), "the same to others")
    #expect(try await !awaits([carol], "Sale"), "one person alone")
    scratch.pass(3601)
    #expect(try await !awaits([carol, shop]))
  }

  @Test func `parts that are sent at the same moment count together`() async throws {
    let store = try scratch.open()
    let waiting = try await withThrowingTaskGroup(of: Bool.self) { group in
      for pair in [[alice, bob], [carol, shop], [alice, carol], [bob, news]] {
        group.addTask {
          var new = NotificationInsert.any(to: pair)
          (new.sender, new.approvalAbove) = (shop, 2)
          return try await store.notifications.create(new).notification.awaitsApproval
        }
      }
      return try await group.reduce(into: 0) { $0 += $1 ? 1 : 0 }
    }
    #expect(waiting == 3)
  }

  @Test func `what was to be sent later is sent at its time, or at once if that is past`()
    async throws
  {
    let store = try scratch.open()
    var new = large("later")
    new.notBefore = scratch.now + 100
    let later = try await create(new, in: store)
    #expect(later.plannedTime == scratch.now + 100)
    new = large("soon")
    new.notBefore = scratch.now + 10
    let soon = try await create(new, in: store)
    scratch.pass(50)
    for one in [later, soon] {
      guard case .decided = try await approve(one, by: news, in: store) else {
        throw StoreError(.failed, "\(one.id) was not approved")
      }
    }
    #expect(try await arrived(store) == [[soon.id], [soon.id], [soon.id]])
    scratch.pass(50)
    let all = try await arrived(store)
    #expect(all[0] == [soon.id, later.id] && all[1] == [later.id])
  }

  @Test func `a change keeps it waiting, is not approved unread, and not by who made it`()
    async throws
  {
    let store = try scratch.open()
    let first = try await create(large(), in: store)
    var change = large("Sale!")
    (change.notBefore, change.expires) = (scratch.now + 5, scratch.now + 99)
    change.amendment = NewAmendment(by: carol, of: "{}")
    let second = try #require(try await store.notifications.amend(first.id, with: change))
    #expect(second.awaitsApproval && second.plannedTime == scratch.now + 5)
    #expect(second.contentVersion != first.contentVersion)
    #expect(try await store.notifications.amend(first.id, with: change) == second, "the same")
    scratch.pass(60)
    #expect(try await arrived(store) == [[], [], []])
    #expect(try await approve(first, by: news, in: store) == .changedMeanwhile)
    #expect(try await approve(second, by: carol, isAdmin: true, in: store) == .isOwn)
    guard case .decided = try await approve(second, by: news, in: store) else {
      throw StoreError(.failed, "it was not approved")
    }
    #expect(try await arrived(store) == [[second.id], [second.id], [second.id]])
  }

  @Test func `what was approved waits again if it is changed, and cannot be once it was sent`()
    async throws
  {
    let store = try scratch.open()
    var new = large()
    new.notBefore = scratch.now + 100
    let first = try await create(new, in: store)
    _ = try await approve(first, by: news, in: store)
    var change = large("Another")
    change.notBefore = new.notBefore
    let second = try #require(try await store.notifications.amend(first.id, with: change))
    #expect(second.awaitsApproval)
    scratch.pass(200)
    #expect(try await arrived(store) == [[], [], []])
    _ = try await approve(second, by: news, in: store)
    #expect(try await arrived(store) == [[0], [0], [0]])
    let third = large("Third")
    await #expect(throws: StoreError.self) {
      try await store.notifications.amend(first.id, with: third)
    }
    #expect(try await store.notifications.notification(first.id)?.message == "Another")
  }

  @Test func `a refusal ends it with its reason`() async throws {
    let store = try scratch.open()
    let waiting = try await create(large(), in: store)
    let result = try await store.approvals.decide(
      waiting.id, .refuse(reason: "Wrong price"), by: news, isAdmin: false)
    let decided = StoredApproval(user: "news", reason: "Wrong price", time: scratch.now.stored)
    #expect(result == .decided(decided))
    #expect(try await store.sent.sent(by: shop, before: nil, limit: 9).first?.withdrawn != nil)
    #expect(try await approve(waiting, by: carol, in: store) == .missing)
    scratch.pass(86_400)
    #expect(try await arrived(store) == [[], [], []])
    #expect(try await store.approvals.awaitingApproval(before: nil, limit: 9).isEmpty)
    // It was not sent to these.
    var smaller = NotificationInsert.any(to: [alice, bob])
    (smaller.message, smaller.sender, smaller.approvalAbove) = ("Sale", shop, 2)
    #expect(try await !create(smaller, in: store).awaitsApproval)
  }

  @Test func `what has expired or was withdrawn cannot be approved`() async throws {
    let store = try scratch.open()
    var new = large()
    new.expires = scratch.now + 10
    let expired = try await create(new, in: store)
    let withdrawn = try await create(large("Other"), in: store)
    #expect(try await store.notifications.withdraw(withdrawn.id))
    scratch.pass(11)
    for one in [expired, withdrawn] {
      #expect(try await approve(one, by: news, in: store) == .missing)
    }
    #expect(try await approve(large(as: 99), by: news, in: store) == .missing)
    #expect(try await store.approvals.awaitingApproval(before: nil, limit: 9).isEmpty)
    #expect(try await arrived(store) == [[], [], []])
  }

  private func large(as id: Int) -> StoredNotification {
    StoredNotification(large(), id: id, created: scratch.now)
  }

  @Test func `only an admin decides for a sender who was removed or may not publish any more`()
    async throws
  {
    let store = try scratch.open()
    try await store.accounts.addUser("press", hash: "", role: .publisher)
    try await store.accounts.addUser("radio", hash: "", role: .publisher)
    var sent: [StoredNotification] = []
    for name in ["press", "radio"] {
      var new = large(name)
      new.sender = try await store.accounts.user(named: name)?.id
      sent.append(try await create(new, in: store))
    }
    #expect(try await store.accounts.removeUser("press"))
    _ = try await store.administration.putUser("radio", role: .device, hash: nil)
    for one in sent {
      #expect(try await store.notifications.notification(one.id)?.awaitsApproval == true)
      #expect(try await approve(one, by: news, in: store) == .needsAdmin)
      guard case .decided = try await approve(one, by: news, isAdmin: true, in: store) else {
        throw StoreError(.failed, "\(one.id) was not approved")
      }
    }
    #expect(try await arrived(store)[1] == [0, 1])
  }

  @Test func `who approves at the same moment as others approves it once`() async throws {
    let store = try scratch.open()
    let waiting = try await create(large(), in: store)
    let results = try await withThrowingTaskGroup(of: ApprovalResult.self) { group in
      for user in [alice, bob, carol, news] {
        group.addTask { try await approve(waiting, by: user, in: store) }
      }
      return try await group.reduce(into: [ApprovalResult]()) { $0.append($1) }
    }
    #expect(results.filter { $0 == .notAwaiting }.count == 3)
    #expect(try await arrived(store) == [[0], [0], [0]])
  }

  @Test func `the jobs of a large audience are written when it is approved`() async throws {
    let store = try scratch.open()
    let crowd = try await store.crowd()
    var new = NotificationInsert.any(to: crowd)
    (new.sender, new.approvalAbove) = (shop, 1000)
    for user in crowd.prefix(1050) { try await store.register("of \(user.rawValue)", of: user) }
    new.pushes = [
      PushInsert(
        lane: "fcm",
        target: .devices(RegistrationIDs(crowd.prefix(1050).map { "of \($0.rawValue)" })),
        kind: "alert")
    ]
    let waiting = try await create(new, in: store)
    while try await store.notifications.writeNextParts(within: .zero) {}
    try await store.notifications.completeAudience(of: waiting.id)
    #expect(try await store.notifications.receipts(of: waiting.id).count == 1100)
    #expect(try await store.outbox.deliveries(of: waiting.id).isEmpty)
    guard case .decided = try await approve(waiting, by: news, in: store) else {
      throw StoreError(.failed, "it was not approved")
    }
    while try await store.notifications.writeNextParts(within: .zero) {}
    while try await store.events.releaseHeldEvents().map({ $0 <= scratch.now }) == true {}
    var leased = 0
    while true {
      let jobs = try await store.outbox.lease(lane: "fcm", limit: 500, until: scratch.now + 600)
      if jobs.isEmpty { break }
      leased += jobs.count
    }
    #expect(leased == 1050)
    #expect(try await store.notifications.unreadCount(of: crowd[1099]) == 1)
  }

  @Test func `an audience that is found later counts when it is created and when it is found`()
    async throws
  {
    let store = try scratch.open()
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    (new.sender, new.notBefore, new.approvalAbove) = (shop, scratch.now + 600, 2)
    new.dueAudience = DueAudience(segment: nil, people: 3)
    let first = try await create(new, in: store)
    #expect(first.awaitsApproval && first.people == 3 && first.plannedTime == new.notBefore)
    new.message = "n"
    new.dueAudience = DueAudience(segment: nil, people: 2)
    let second = try await create(new, in: store)
    #expect(!second.awaitsApproval)
    _ = try await approve(first, by: news, in: store)
    scratch.pass(600)
    var found = new
    (found.recipients, found.event, found.dueAudience) = (people, "{}", nil)
    let due = try await store.notifications.dueAudiences(limit: 9).due
    #expect(due.map(\.id) == [first.id, second.id])
    for one in due { #expect(try await store.notifications.announce(one, with: found)) }
    // More than at first are in the second one.
    #expect(try await arrived(store)[0] == [first.id])
    #expect(try await store.notifications.dueAudiences(limit: 9).due.isEmpty)
    let waiting = try #require(try await store.notifications.notification(second.id))
    #expect(waiting.awaitsApproval && waiting.people == 3)
    scratch.pass(60)
    _ = try await approve(waiting, by: news, in: store)
    let released = try #require(try await store.notifications.dueAudiences(limit: 9).due.first)
    #expect(try await store.notifications.announce(released, with: found))
    #expect(try await arrived(store)[0] == [first.id, second.id])
    #expect(try await !store.notifications.awaitsAudience(second.id))
  }

  @Test func `each gets it at the time of its own clock, or at once if that is past`() async throws
  {
    let store = try scratch.open()
    let (early, late) = (scratch.now + 100, scratch.now + 200)
    var new = NotificationInsert.any(to: people)
    (new.sender, new.approvalAbove, new.notBefore) = (shop, 2, early)
    (new.localTime, new.times) = ("9:00", [early: [alice], late: [bob, carol]])
    new.pushes = [(early, "early"), (late, "late")].map { time, tag in
      var push = PushInsert(lane: "apns", target: .audience(tag), kind: "alert")
      push.scheduled = time
      return push
    }
    let waiting = try await create(new, in: store)
    #expect(waiting.awaitsApproval && waiting.plannedTime == early)
    scratch.pass(150)
    #expect(try await arrived(store) == [[], [], []])
    guard case .decided = try await approve(waiting, by: news, in: store) else {
      throw StoreError(.failed, "it was not approved")
    }
    #expect(try await arrived(store) == [[], [0], []])
    #expect(try await store.notifications.unreadCount(of: alice) == 1)
    #expect(try await store.events.pushEvents(for: alice, after: 0, limit: 9).count == 1)
    // Before the lease of the first one ends.
    scratch.pass(50)
    #expect(try await arrived(store) == [[0], [0], [0]])
  }

  @Test func `minutes that have passed while it waited follow one another, the others stay`()
    async throws
  {
    let store = try scratch.open()
    let times = [100, 160, 7200].map { scratch.now + $0 }
    var new = NotificationInsert.any(to: people)
    (new.sender, new.approvalAbove, new.notBefore) = (shop, 2, times[0])
    new.perMinute = 1
    new.times = Dictionary(uniqueKeysWithValues: zip(times, people.map { [$0] }))
    new.pushes = times.enumerated().map { number, time in
      var push = PushInsert(lane: "apns", target: .audience("\(number)"), kind: "alert")
      push.scheduled = time
      return push
    }
    let waiting = try await create(new, in: store)
    scratch.pass(3600)
    guard case .decided = try await approve(waiting, by: news, in: store) else {
      throw StoreError(.failed, "it was not approved")
    }
    // Bob is the second.
    #expect(try await arrived(store) == [[], [0], []])
    #expect(try await store.notifications.unreadCount(of: alice) == 1)
    scratch.pass(59)
    #expect(try await arrived(store) == [[], [], []])
    scratch.pass(1)
    #expect(try await arrived(store).map(\.count) == [1, 2, 1])
    #expect(try await store.notifications.unreadCount(of: carol) == 0)
    scratch.pass(3540)
    _ = try await arrived(store)
    #expect(try await store.notifications.unreadCount(of: carol) == 1)
  }

  @Test func `what takes the place of another one cannot wait`() async throws {
    let store = try scratch.open()
    var new = large()
    new.replaces = "news"
    let refused = new
    await #expect(throws: StoreError.self) { try await store.notifications.create(refused) }
    new.approvalAbove = 3
    #expect(try await !create(new, in: store).awaitsApproval)
  }

  @Test(.sqlite) func `a backup has what awaits approval`() async throws {
    let store = try scratch.open()
    let waiting = try await create(large(), in: store)
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    #expect(
      try await Store(folder: restored).approvals.awaitingApproval(before: nil, limit: 9)
        .map(\.notification) == [waiting])
  }
}
