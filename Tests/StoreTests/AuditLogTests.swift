import FoundationEssentials
import Synchronization
import Testing

@testable import Store

/// Who did what: an entry is committed with its change, or not at all.
@Suite(.timeLimit(.minutes(5))) struct AuditLogTests {
  private let scratch = Scratch()

  private static let admin: AuditActor = {
    var actor = AuditActor.user(shop, role: .admin)
    (actor.credential, actor.credentialID) = (.session, "7")
    (actor.address, actor.request) = ("192.0.2.7", "r1")
    return actor
  }()

  @Test func `each function that writes has its entries, or is listed as one without`()
    async throws
  {
    let store = try scratch.open()
    let told = Mutex<[AuditEvent]>([])
    store.observers.onAudit.add { events in told.withLock { $0 += events } }
    let mark = try await store.user("mark")
    var added: [String: Set<String>] = [:]
    var owners: [String: Set<String>] = [:]
    for function in WritingFunction.all {
      let call = try await function.prepare(store, scratch)
      // Behind what nobody waits for.
      _ = try await store.administration.endCredentials(of: mark)
      await store.observersAreTold()
      let last = try await store.latest()
      told.withLock { $0 = [] }
      try await call.body(store)
      _ = try await store.administration.endCredentials(of: mark)
      await store.observersAreTold()
      let entries = try await store.entries(after: last)
      #expect(entries.map(\.event) == told.withLock { $0 }, "\(function.name)")
      let own = entries.map(\.event).filter { $0.object?.user != mark }
      added[function.name, default: []].formUnion(own.map(\.action))
      let objects = own.compactMap(\.object)
      #expect(objects.allSatisfy { $0.user == nil || $0.owner == $0.user }, "\(function.name)")
      let users = objects.filter { $0.user == nil }.compactMap(\.owner)
      owners[function.name, default: []].formUnion(
        try await store.accounts.names(of: users).values)
    }
    #expect(owners.filter { !$0.value.isEmpty } == WritingFunction.owners)
    let (audited, unaudited) = (WritingFunction.audited, WritingFunction.unaudited)
    #expect(unaudited.isDisjoint(with: audited.keys))
    for (name, actions) in added {
      let expected = Set((audited[name] ?? []).map(\.rawValue))
      #expect(!expected.isEmpty || unaudited.contains(name), "decide what \(name) adds")
      if WritingFunction.mayChangeNothing.contains(name), actions.isEmpty { continue }
      #expect(actions == expected, "\(name)")
    }
    for engine in ["SQLite", "PostgreSQL"] {
      let writing = try StoreSources(engine).writingFunctions()
      #expect(writing.subtracting(unaudited).subtracting(audited.keys) == [], "\(engine)")
    }
  }

  @Test func `a change that fails leaves no entry, and those committed with it have theirs`()
    async throws
  {
    let store = try scratch.open()
    await store.commitWithFailure()
    let actions = try await store.entries().map(\.event.action)
    #expect(actions.sorted() == ["user.added", "user.credentials-ended"])
  }

  @Test func `an entry says who, with what, from where, in a commit with others' as well`()
    async throws
  {
    let store = try scratch.open()
    let succeeded = await store.commitTogether(
      {
        try await AuditActor.$current.withValue(Self.admin) {
          try await store.accounts.addUser("dora", hash: "", role: .publisher)
        }
      },
      {
        try await AuditActor.$current.withValue(.command(unixUser: 1000)) {
          try await store.accounts.addUser("emil", hash: "", role: .device)
        }
      }, { _ = try await store.accounts.setMaxDevices(of: "alice", to: 9) })
    #expect(succeeded == [true, true, true])
    let entries = try await store.entries()
    let byDetail = Dictionary(uniqueKeysWithValues: entries.map { ($0.event.detail, $0.event) })
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    let first = try #require(byDetail["publisher"])
    #expect(first.actor == Self.admin && first.action == "user.added")
    #expect(first.object?.user == dora && first.count == 1 && first.time == scratch.now)
    #expect(byDetail["device"]?.actor == .command(unixUser: 1000))
    #expect(byDetail["9"]?.actor == .server)
  }

  @Test func `what was put into the drop folder and by whom a browser signed in is known`()
    async throws
  {
    let store = try scratch.open()
    try await store.assets.putAsset(.any("logo.png", at: scratch.now))
    _ = try await store.notifications.create(.any(to: alice))
    var anybody = AuditActor.anybody
    anybody.address = "192.0.2.1"
    try await AuditActor.$current.withValue(anybody) {
      _ = try await store.sessions.addSession(Digest(of: "t"), user: alice, userAgent: "")
    }
    let events = try await store.entries().map(\.event)
    #expect(events.map(\.action) == ["asset.added", "notification.sent", "session.started"])
    #expect(events[0].actor == .dropFolder && events[0].object == .asset("img", "logo.png"))
    #expect(events[1].actor == .dropFolder)
    #expect(events[2].actor.number == alice.rawValue && events[2].actor.credential == .password)
    #expect(events[2].actor.address == "192.0.2.1")
  }

  @Test func `what others do to a person's things is found by the person, erased or not`()
    async throws
  {
    let store = try scratch.open()
    let dora = try await store.user("dora")
    try await store.register("phone", of: dora)
    try await store.addToken("phone", of: dora)
    try await store.addSession(of: dora)
    let session = try #require(try await store.sessions.sessions(of: dora).first).id
    let token = try await store.addAccessToken("ci", of: dora)
    let webhook = try await store.addWebhook("hook", of: dora)
    let pairing = try await store.addPairing("code", of: dora)
    var new = NotificationInsert.any(to: bob)
    new.sender = dora
    let sent = try await store.notifications.create(new).notification.id
    // Not hers.
    try await store.register("other", of: bob)
    let last = try await store.latest()
    try await AuditActor.$current.withValue(Self.admin) {
      #expect(try await store.accounts.removeTokens(of: "phone", user: nil))
      #expect(try await store.accounts.removeRegistration("phone", user: nil))
      #expect(try await store.accounts.removeRegistration("other", user: nil))
      #expect(try await store.sessions.removeSession(session, user: dora))
      #expect(try await store.accessTokens.removeAccessToken(token, of: nil, isWebhook: false))
      #expect(try await store.accessTokens.removeAccessToken(webhook, of: nil, isWebhook: true))
      #expect(try await store.pairings.endPairing(pairing, user: nil))
      new.message = "Other"
      let amended = try await store.notifications.amend(sent, with: new)
      #expect(amended != nil)
      #expect(try await store.notifications.withdraw(sent))
    }
    func found() async throws -> [AuditEvent] {
      var filter = AuditFilter()
      filter.user = dora
      return try await store.audit.auditEntries(filter, before: nil, limit: 100)
        .filter { $0.number > last }.map(\.event).reversed()
    }
    let things = [
      "device.tokens-removed", "device.removed", "session.ended", "token.removed",
      "webhook.removed", "pairing.removed", "notification.amended", "notification.withdrawn",
    ]
    #expect(try await found().map(\.action) == things)
    #expect(try await found().allSatisfy { $0.object?.owner == dora && $0.actor == Self.admin })
    let own = try await store.personalData.personalRecords(in: .audit, of: dora, after: last)
    #expect(own.records.count == things.count)
    for record in own.records {
      #expect(record.contains(#""by":"another user""#), "\(record)")
      #expect(!record.contains("192.0.2.7"), "it is the admin's")
    }
    #expect(try await store.erasures.beginErasure(of: dora, keepingAdmin: true))
    _ = try await store.continueErasures()
    #expect(try await found().map(\.action) == things + ["user.removed"])
  }

  @Test func `a service that stops for many pushes at once is one entry a pause`() async throws {
    let store = try scratch.open()
    let devices = ["one", "two", "three"]
    for device in devices { try await store.register(device, of: alice) }
    let last = try await store.latest()
    for _ in 0..<2 {
      for device in devices { try await store.events.push("{}", to: [], pushes: [.to(device)]) }
      let jobs = try await store.outbox.lease(lane: "fcm", until: scratch.now + 60)
      #expect(jobs.count == 3)
      _ = try await store.outbox.settleAndLease(
        jobs.map { ($0.id, .stopped(reason: "no")) }, lane: "fcm", limit: 0, until: scratch.now)
      #expect(try await store.outbox.pauses().map(\.reason) == ["no"])
      _ = try await store.outbox.resume(lane: "fcm")
      for job in jobs { #expect(try await store.outbox.cancel(job: job.id)) }
    }
    let actions = try await store.entries(after: last).map(\.event.action)
    let pause = ["service.paused", "service.resumed"]
    #expect(actions.filter { $0.hasPrefix("service.") } == pause + pause)
  }

  @Test func `a send to many is one entry with their number, and says what it waits for`()
    async throws
  {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: try await store.crowd())
    _ = try await store.notifications.create(new)
    new.notBefore = scratch.now + 60
    _ = try await store.notifications.create(new)
    (new.sender, new.approvalAbove) = (shop, 1)
    _ = try await store.notifications.create(new)
    let events = try await store.entries().map(\.event)
    #expect(
      events.map(\.action) == [
        "notification.sent", "notification.scheduled", "notification.scheduled",
      ])
    #expect(events.map(\.count) == [1100, 1100, 1100])
    #expect(events.map(\.detail) == [nil, nil, "awaits-approval"])
  }

  @Test func `what ends and comes back at once is one entry with a number`() async throws {
    let store = try scratch.open()
    for device in ["one", "two", "three"] { try await store.register(device, of: alice) }
    let last = try await store.latest()
    try await store.endRegistrations()
    #expect(
      try await store.outbox.restoreRegistrations(
        endedBy: RefusalRule.silence, since: .distantPast) == 3)
    let events = try await store.entries(after: last).map(\.event)
    #expect(events.map(\.action) == ["device.removed", "service.devices-restored"])
    #expect(events.map(\.count) == [3, 3])
  }

  @Test func `wrong passwords are one entry a minute for each address and user`() async throws {
    let store = try scratch.open()
    for _ in 0..<5 {
      for user in [alice, nil] {
        try await store.audit.addFailedSignIn(of: user, from: "192.0.2.1")
      }
    }
    try await store.audit.addFailedSignIn(of: nil, from: "192.0.2.2")
    scratch.pass(60)
    try await store.audit.addFailedSignIn(of: nil, from: "192.0.2.2")
    let events = try await store.entries().map(\.event)
    #expect(events.map(\.count) == [5, 5, 1, 1])
    #expect(events.map(\.object?.user) == [alice, nil, nil, nil])
    #expect(events.allSatisfy { $0.actor.kind == .anybody && $0.action == "sign-in.failed" })
  }

  @Test func `nobody pushes out what others did, and a year is kept`() async throws {
    let store = try scratch.open()
    var retention = Retention()
    retention.auditEntries = 10
    try await AuditActor.$current.withValue(Self.admin) {
      try await store.accounts.addUser("dora", hash: "", role: .admin)
      for _ in 0..<20 { _ = try await store.notifications.create(.any(to: alice)) }
    }
    for number in 0..<30 {
      try await store.audit.addFailedSignIn(of: nil, from: "192.0.2.\(number)")
    }
    let recipient = AuditActor.user(alice, role: .device)
    try await AuditActor.$current.withValue(recipient) {
      for number in 0..<15 { try await store.register("\(number)", of: alice) }
    }
    _ = try await store.collect(retention)
    let entries = try await store.entries()
    let counts = Dictionary(grouping: entries, by: \.event.action).mapValues(\.count)
    #expect(counts == ["user.added": 1, "notification.sent": 10, "device.added": 10])
    scratch.pass(retention.auditAge)
    _ = try await store.accounts.addLinkKey()
    _ = try await store.collect(retention)
    #expect(try await store.entries().map(\.event.action).contains("user.added"))
    scratch.pass(1)
    _ = try await store.collect(retention)
    #expect(try await store.entries().map(\.event.action) == ["key.added"])
  }

  @Test func `it has no name of a person, nor what was said`() async throws {
    let store = try scratch.open()
    let name = "wilhelmina"
    let user = try await store.user(name)
    var actor = AuditActor.user(user, role: .publisher)
    actor.credential = .password
    try await AuditActor.$current.withValue(actor) {
      _ = try await store.administration.putUser(name, role: .publisher, hash: "h")
      try await store.register("phone", of: user)
      _ = try await store.accounts.setAttributes([name: ["city": "Enkhuizen"]])
      _ = try await store.addAccessToken("wilhelminas", of: user)
      var new = NotificationInsert.any(to: user, message: "secret words")
      new.sender = user
      let id = try await store.notifications.create(new).notification.id
      new.message = "secret sentence"
      _ = try await store.notifications.amend(id, with: new)
      _ = try await store.accounts.removeUser(name)
    }
    let entries = try await store.entries()
    #expect(entries.count >= 8)
    for text in [name, "Enkhuizen", "secret"] {
      #expect(!"\(entries)".contains(text))
    }
    var filter = AuditFilter()
    filter.user = user
    // Also those about the user by others.
    let found = try await store.audit.auditEntries(filter, before: nil, limit: 100)
    #expect(found == entries.reversed())
  }

  @Test func `entries are found by action, user and time, the newest first, in pages`()
    async throws
  {
    let store = try scratch.open()
    let start = scratch.now
    for number in 1...5 {
      _ = try await store.accounts.setMaxDevices(of: number < 4 ? "alice" : "bob", to: number)
      scratch.pass(10)
    }
    _ = try await store.accounts.addLinkKey()
    func found(_ limit: Int = 100, before: Int? = nil, _ set: (inout AuditFilter) -> Void)
      async throws -> [String?]
    {
      var filter = AuditFilter()
      set(&filter)
      return try await store.audit.auditEntries(filter, before: before, limit: limit)
        .map { $0.event.detail ?? $0.event.action }
    }
    #expect(try await found { _ in } == ["key.added", "5", "4", "3", "2", "1"])
    #expect(try await found { $0.action = "user." } == ["5", "4", "3", "2", "1"])
    #expect(try await found { $0.action = "user.limit-changed%" } == [])
    #expect(try await found { $0.user = bob } == ["5", "4"])
    #expect(
      try await found {
        ($0.since, $0.until) = (start + 10, start + 30)
      } == ["3", "2"])
    let page = try await store.audit.auditEntries(AuditFilter(), before: nil, limit: 2)
    #expect(try await found(2, before: page[1].number) { _ in } == ["4", "3"])
  }
}

extension Store {
  fileprivate func latest() async throws -> Int {
    try await audit.auditEntries(AuditFilter(), before: nil, limit: 1).first?.number ?? 0
  }

  /// The entries after a number, the oldest first.
  fileprivate func entries(after number: Int = 0) async throws -> [AuditEntry] {
    try await audit.auditEntries(AuditFilter(), before: nil, limit: 10_000)
      .filter { $0.number > number }.reversed()
  }
}
