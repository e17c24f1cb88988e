import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// Audiences that publishers have saved, and who is in them.
@Suite(.timeLimit(.minutes(1))) struct SegmentTests {
  private let scratch = Scratch()

  @Test func `a segment is changed by another, and not by who has not read it`() async throws {
    let store = try scratch.open()
    guard
      case .added(let first) = try await store.segments.putSegment(
        "gold", #"{"language":"de"}"#, version: nil, by: alice)
    else { throw StoreError(.failed, "it was not added") }
    #expect(first.version == 1 && first.author == first.editor)
    scratch.pass(60)
    guard
      case .changed(let second) = try await store.segments.putSegment(
        "gold", "{}", version: 1, by: bob)
    else { throw StoreError(.failed, "it was not changed") }
    #expect(second.version == 2 && second.content == "{}" && second.author == first.author)
    #expect(second.editor != first.editor && second.updated == scratch.now.stored)
    #expect(
      try await store.segments.putSegment("gold", "{}", version: 1, by: alice)
        == .changedMeanwhile(second))
    #expect(
      try await store.segments.putSegment("none", "{}", version: 1, by: alice)
        == .changedMeanwhile(nil))
    for name in ["a", "z", "b"] {
      _ = try await store.segments.putSegment(name, "{}", version: nil, by: bob)
    }
    #expect(
      try await store.segments.segments(after: "", limit: 9).map(\.name) == ["a", "b", "gold", "z"])
    #expect(try await store.segments.segments(after: "a", limit: 2).map(\.name) == ["b", "gold"])
    #expect(try await store.segments.removeSegment("gold", version: 1) == .changedMeanwhile)
    #expect(try await store.segments.removeSegment("gold", version: 2) == .removed)
    #expect(try await store.segments.removeSegment("gold", version: nil) == .missing)
    #expect(try await store.segments.segment("gold") == nil)
  }

  @Test func `a user may not make too many, and those of a removed user stay`() async throws {
    let store = try scratch.open()
    let gone = try await store.user("gone")
    _ = try await store.segments.putSegment("left", "{}", version: nil, by: gone)
    _ = try await store.accounts.removeUser("gone")
    let left = try await store.segments.segment("left")
    #expect(left?.content == "{}" && left?.author == nil && left?.editor == nil)
    for number in 0..<UserQuota.segments {
      _ = try await store.segments.putSegment("s\(number)", "{}", version: nil, by: alice)
    }
    await #expect(throws: StoreError.tooManySegments) {
      _ = try await store.segments.putSegment("more", "{}", version: nil, by: alice)
    }
    // To change one of them makes no more.
    guard case .changed = try await store.segments.putSegment("s0", "{ }", version: nil, by: alice)
    else { throw StoreError(.failed, "it was not changed") }
    _ = try await store.segments.putSegment("of-another", "{}", version: nil, by: bob)
  }

  /// Registers a device, and returns its user.
  @discardableResult
  private func device(
    _ id: String, of user: String, in store: Store, tags: [String] = [], language: String? = nil,
    platform: String = "apns"
  ) async throws -> UserID {
    let known = try await store.accounts.user(named: user)?.id
    let user = if let known { known } else { try await store.user(user) }
    var change = RegistrationChange(platform: platform, handle: id)
    (change.tags, change.language) = (tags, language)
    guard case .stored = try await store.accounts.putRegistration(id, user: user, change) else {
      throw StoreError(.failed, "\(id) was not registered")
    }
    return user
  }

  /// Who meets conditions: the IDs of the devices, and the users who need none.
  private func members(
    of store: Store, _ set: (inout AudienceConditions) -> Void
  ) async throws -> (devices: [String], users: [UserID]) {
    var conditions = AudienceConditions()
    set(&conditions)
    let found = try await store.segments.members(meeting: conditions, allowingPasswordless: true)
    return (found.devices.map(\.registration), found.users)
  }

  @Test func `people and devices meet all conditions`() async throws {
    let store = try scratch.open()
    let anna = try await device("a1", of: "anna", in: store, tags: ["news"], language: "de-CH")
    try await device("a2", of: "anna", in: store, tags: ["news", "muted"], language: "en")
    let ben = try await device("b1", of: "ben", in: store, tags: ["news"], platform: "fcm")
    let cleo = try await store.user("cleo")
    _ = try await store.accounts.setAttributes([
      "anna": ["plan": "gold", "city": "Wien"], "ben": ["plan": "silver"], "cleo": ["plan": "gold"],
    ])
    let news = [TagClause(with: ["news"])]
    #expect(try await members(of: store) { $0.clauses = news }.devices == ["a1", "a2", "b1"])
    #expect(
      try await members(of: store) { $0.clauses = [TagClause(with: ["news"], without: ["muted"])] }
        .devices == ["a1", "b1"])
    #expect(
      try await members(of: store) { $0.clauses = [TagClause(with: ["news", "muted"])] }.devices
        == ["a2"])
    #expect(
      try await members(of: store) {
        $0.clauses = [TagClause(with: ["muted"]), TagClause(with: [], without: ["other"])]
      }.devices == ["a1", "a2", "b1"])
    #expect(try await members(of: store) { $0.clauses = [] }.devices.isEmpty)
    for (language, devices) in [("de", ["a1"]), ("DE-ch", ["a1"]), ("en", ["a2"]), ("d", [])] {
      #expect(try await members(of: store) { $0.language = language }.devices == devices)
    }
    #expect(try await members(of: store) { $0.platform = "fcm" }.devices == ["b1"])
    // Who is known by attributes needs no device.
    let gold = try await members(of: store) { $0.attributes = ["plan": "gold"] }
    #expect(gold.devices == ["a1", "a2"] && gold.users == [anna, cleo].sorted())
    let both = try await members(of: store) { $0.attributes = ["plan": "gold", "city": "Wien"] }
    #expect(both.users == [anna])
    let german = try await members(of: store) {
      ($0.attributes, $0.language) = (["plan": "gold"], "de")
    }
    #expect(german.devices == ["a1"] && german.users.isEmpty)
    let named = try await members(of: store) {
      $0.clauses = [TagClause(with: ["username:cleo"]), TagClause(with: ["username:ben"])]
      ($0.names, $0.attributes) = (["cleo", "ben"], ["plan": "gold"])
    }
    #expect(named.devices.isEmpty && named.users == [cleo])
    #expect(ben != cleo)
    scratch.pass(20 * 86_400)
    try await device("c1", of: "cleo", in: store)
    #expect(try await members(of: store) { $0.lastContact = 7 }.devices == ["c1"])
    #expect(try await members(of: store) { $0.lastContact = 30 }.devices.count == 4)
  }

  @Test func `who has opened a notification is told from who has not`() async throws {
    let store = try scratch.open()
    let users = [
      try await device("a1", of: "anna", in: store), try await device("b1", of: "ben", in: store),
      try await device("c1", of: "cleo", in: store),
    ]
    let other = try await device("d1", of: "dora", in: store)
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    (new.sender, new.recipients) = (alice, users)
    let id = try await store.notifications.create(new).notification.id
    func people(_ set: (inout AudienceConditions) -> Void) async throws -> [UserID] {
      try await members(of: store, set).users
    }
    #expect(try await people { $0.notOpened = id } == users.sorted())
    #expect(try await people { $0.opened = id }.isEmpty)
    _ = try await store.notifications.markRead(id, user: users[0])
    #expect(try await people { $0.opened = id } == [users[0]])
    #expect(try await people { $0.notOpened = id } == [users[1], users[2]].sorted())
    #expect(try await members(of: store) { $0.notOpened = id }.devices == ["b1", "c1"])
    #expect(try await people { $0.notOpened = id + 1 }.isEmpty)
    #expect(try await !people { $0.notOpened = id }.contains(other))
  }

  @Test func `a segment stays as long as a notification is to be sent to it`() async throws {
    let store = try scratch.open()
    _ = try await store.segments.putSegment("gold", "{}", version: nil, by: alice)
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    (new.sender, new.to, new.notBefore) = (alice, ["segment:gold"], scratch.now + 600)
    new.dueAudience = DueAudience(segment: "gold")
    let created = try await store.notifications.create(new).notification
    #expect(
      try await store.segments.removeSegment("gold", version: nil) == .needed(by: created.id))
    let early = try await store.notifications.dueAudiences(limit: 9)
    #expect(early.due.isEmpty && early.next == created.notBefore)
    scratch.pass(600)
    #expect(try await store.notifications.dueAudiences(limit: 9).due == [created])
    // Its recipients are those of now.
    new.recipients = [alice, bob]
    #expect(try await store.notifications.announce(created, with: new))
    #expect(try await !store.notifications.announce(created, with: new))
    #expect(try await store.notifications.receipts(of: created.id).count == 2)
    #expect(
      try await store.sent.sent(by: alice, before: nil, limit: 1).first?.counts.recipients == 2)
    #expect(try await store.segments.removeSegment("gold", version: nil) == .removed)
    await #expect(throws: StoreError.self) { _ = try await store.notifications.create(new) }
  }

  @Test func `what was changed or withdrawn is not announced as it was`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    (new.sender, new.notBefore) = (alice, scratch.now + 600)
    new.dueAudience = DueAudience(segment: nil)
    let first = try await store.notifications.create(new).notification
    let second = try await store.notifications.create(new).notification
    scratch.pass(600)
    var later = new
    (later.notBefore, later.awaitsAudience) = (scratch.now + 600, true)
    _ = try await store.notifications.amend(first.id, with: later)
    _ = try await store.notifications.withdraw(second.id)
    new.recipients = [alice]
    for notification in [first, second] {
      #expect(try await !store.notifications.announce(notification, with: new))
    }
    #expect(try await store.notifications.awaitsAudience(first.id))
    #expect(try await !store.notifications.awaitsAudience(second.id))
    scratch.pass(600)
    let due = try #require(try await store.notifications.dueAudiences(limit: 9).due.first)
    #expect(try await store.notifications.hold(due))
    let held = try #require(try await store.notifications.notification(first.id))
    #expect(held.held == due.notBefore && held.isHeld(at: scratch.now))
    #expect(try await store.notifications.dueAudiences(limit: 9).due.isEmpty)
  }

  @Test func `what has expired is not held, and looked for no more`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    (new.sender, new.notBefore, new.expires) = (alice, scratch.now + 600, scratch.now + 900)
    new.dueAudience = DueAudience(segment: nil)
    let created = try await store.notifications.create(new).notification
    scratch.pass(900)
    #expect(try await store.notifications.dueAudiences(limit: 9).due == [created])
    #expect(try await !store.notifications.hold(created))
    #expect(try await store.notifications.dueAudiences(limit: 9).due.isEmpty)
  }

  @Test func `a change that was made before the recipients were found takes nothing from them`()
    async throws
  {
    let store = try scratch.open()
    var new = NotificationInsert(message: "m", richType: "", payload: "")
    new.sender = alice
    new.dueAudience = DueAudience(segment: nil)
    let created = try await store.notifications.create(new).notification
    let later = try await store.notifications.create(new).notification
    var change = NotificationInsert(message: "n", richType: "", payload: "")
    (change.sender, change.awaitsAudience) = (alice, true)
    (new.recipients, new.pushes) = ([alice, bob], [.toAudience("apns")])
    #expect(try await store.notifications.announce(created, with: new))
    let error = await #expect(throws: StoreError.self) {
      _ = try await store.notifications.amend(created.id, with: change)
    }
    #expect(error?.code == .changed)
    #expect(try await store.outbox.deliveries(of: created.id).map(\.state) == [.queued])
    #expect(try await store.notifications.notification(created.id) == created)
    // The other way round: there are no recipients yet for those of the change.
    change.awaitsAudience = false
    await #expect(throws: StoreError.self) {
      _ = try await store.notifications.amend(later.id, with: change)
    }
  }

  @Test(.sqlite) func `a backup has them`() async throws {
    let store = try scratch.open()
    _ = try await store.segments.putSegment("gold", "{}", version: nil, by: alice)
    let segment = try await store.segments.segment("gold")
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    #expect(try await Store(folder: restored).segments.segment("gold") == segment)
  }
}
