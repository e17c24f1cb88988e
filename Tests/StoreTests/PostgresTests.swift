import Dispatch
import FoundationEssentials
import Synchronization
import Testing
import Waiting

@testable import Store

/// Several nodes on one PostgreSQL database.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(2)))
struct PostgresTests {
  private let first = Scratch()
  private let second = Scratch()

  /// Two nodes with data folders of their own.
  private func open() throws -> [Store] {
    let store = try first.open()
    return [
      store,
      try Store(
        folder: second.folder, database: try first.database(), now: { [first] in first.now }),
    ]
  }

  private func push(to registrations: [String]) -> NotificationInsert {
    var new = NotificationInsert.any(to: alice)
    new.pushes = [
      PushInsert(lane: "apns", target: .devices(RegistrationIDs(registrations)), kind: "alert")
    ]
    return new
  }

  private func tables(_ store: Store) throws -> PostgresTables {
    try #require(store.tables as? PostgresTables)
  }

  @Test func `a reader that resumes after a number misses no event of any node`() async throws {
    let stores = try open()
    try await withThrowingTaskGroup(of: Void.self) { group in
      for writer in 0..<8 {
        group.addTask {
          for _ in 0..<25 {
            _ = try await stores[writer % 2].notifications.create(.any(to: alice))
          }
        }
      }
      for store in stores {
        group.addTask {
          var seen: [StoredPushEvent] = []
          var events: [StoredEvent] = []
          while seen.count < 200 || events.count < 200 {
            try Task.checkCancellation()
            seen += try await store.events.pushEvents(
              for: alice, after: seen.last?.sequence ?? 0, limit: 7)
            events += try await store.events.events(
              after: events.last?.sequence ?? 0, for: nil, limit: 7)
            #expect(try await store.events.latestEvent() >= events.last?.sequence ?? 0)
          }
          #expect(seen.map(\.sequence) == Array(1...200))
          #expect(events.map(\.sequence) == Array(1...200))
          #expect(Set(seen.compactMap(\.notificationID)).count == 200)
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `a transaction that is slow to commit has no earlier numbers than those before it`()
    async throws
  {
    let store = try open()[0]
    let url = try #require(try first.database())
    try await store.probe()
    func begin(inserting data: String) throws -> PostgresTransaction {
      let transaction = PostgresTransaction(
        try PostgresConnection(url, for: .writing), rules: SendingRules())
      try transaction.run("SELECT pg_current_xact_id()")
      transaction.collected.pushEvents.append(
        CollectedChanges.PushEvent(users: [alice], notification: nil, data: data, time: first.now))
      return transaction
    }
    // Begun first, and has its transaction ID, and commits last.
    let slow = try begin(inserting: "slow")
    let fast = try begin(inserting: "fast")
    try fast.commit(from: "test")
    let seen = try await store.events.pushEvents(for: alice, after: 0, limit: 9)
    #expect(seen.map(\.data) == ["fast"])
    try slow.finish(from: "test")
    try slow.connection.synchronize()
    #expect(try await store.events.latestPushEvent() == seen.last?.sequence)
    try slow.connection.script("COMMIT")
    let after = try #require(seen.last).sequence
    let rest = try await store.events.pushEvents(for: alice, after: after, limit: 9)
    #expect(rest.map(\.data) == ["slow"])
  }

  @Test func `no job is leased by two nodes, and none is left`() async throws {
    let stores = try open()
    _ = try await stores[0].accounts.setMaxDevices(of: "alice", to: 400)
    for index in 0..<400 {
      _ = try await stores[0].accounts.putRegistration(
        "\(index)", user: alice, platform: "apns", handle: "token \(index)", tags: [])
    }
    _ = try await stores[0].notifications.create(push(to: (0..<400).map(String.init)))
    let until = first.now + 60
    let leased = try await withThrowingTaskGroup(of: [Int].self) { group in
      for store in stores + stores {
        group.addTask {
          var jobs: [Int] = []
          while case let next = try await store.outbox.lease(limit: 30, until: until),
            !next.isEmpty
          {
            jobs += next.map(\.id)
          }
          return jobs
        }
      }
      return try await group.reduce(into: []) { $0 += $1 }
    }
    #expect(leased.count == 400 && Set(leased).count == 400)
  }

  @Test func `a start frees the leases of its own node only`() async throws {
    let stores = try open()
    _ = try await stores[0].accounts.putRegistration(
      "a", user: alice, platform: "apns", handle: "a", tags: [])
    _ = try await stores[0].notifications.create(push(to: ["a"]))
    #expect(try await stores[0].outbox.lease(limit: 9, until: first.now + 60).count == 1)
    let third = Scratch()
    let other = try Store(
      folder: third.folder, database: try first.database(), now: { [first] in first.now })
    #expect(try await other.outbox.lease(limit: 9, until: first.now + 60).isEmpty)
  }

  @Test func `a job costs no more with many others, also if none was queued at the last ANALYZE`()
    async throws
  {
    let store = try open()[0]
    _ = try await store.notifications.create(.any(to: alice))
    let connection = try PostgresConnection(try #require(try first.database()), for: .maintenance)
    func add(_ state: JobState, _ count: Int) throws {
      try connection.run(
        """
        INSERT INTO job(push, lane, token, user_id, registration, collapse, state, due, updated)
        SELECT 1000, 'apns', '', 1, 'd' || n % 20000, 'c', $1, n, 0 FROM generate_series(1, $2) AS n
        """, state, count)
    }
    try connection.script(
      """
      INSERT INTO registration(id, user_id, platform, handle, updated)
      SELECT 'd' || n, 1, 'apns', 't' || n, 0 FROM generate_series(0, 19999) AS n;
      INSERT INTO push(id, notification, lane, kind, collapse)
      VALUES (1000, 0, 'apns', 'background', 'c')
      """)
    try add(.sent, 100_000)
    try connection.script("ANALYZE job")
    try add(.queued, 20_000)
    let (now, apns) = (first.now, SendingLane("apns"))
    // Parts of indexes that are read or written for each job that is found; hundreds if it is done by all others.
    let costs = try await tables(store).database.write { transaction in
      var (costs, leased): ([Int], [LeasedJob]) = ([], [])
      func measure(_ body: () throws -> Int) throws {
        func sum() throws -> Int {
          try transaction.value(
            """
            SELECT sum(pg_stat_get_xact_blocks_fetched(indexrelid))::bigint FROM pg_index
            WHERE indrelid = 'job'::regclass
            """) ?? 0
        }
        let before = try sum()
        let jobs = try body()
        costs.append(try (sum() - before) / max(1, jobs))
      }
      try measure {
        // It looks at the first 10,000.
        _ = try transaction.jobsOfLatestContact("apns", limit: 50, at: now)
        return 10_000
      }
      try measure {
        leased = try transaction.settleAndLease(
          [], of: apns, limit: 1000, owner: "node", at: now, until: now + 60
        ).jobs
        return leased.count
      }
      try measure {
        _ = try transaction.settle(
          leased.map { ($0.id, .retry(at: now + 60, reason: "no")) }, of: apns, owner: "node",
          at: now)
        return leased.count
      }
      try measure { try transaction.withdraw(0, at: now).cancelled }
      return costs
    }
    #expect(costs.count == 4 && costs.allSatisfy { $0 < 60 }, "\(costs)")
  }

  @Test func `a job that another node leases meanwhile is not chosen to try a service`()
    async throws
  {
    let stores = try open()
    _ = try await stores[0].accounts.putRegistration(
      "a", user: alice, platform: "apns", handle: "a", tags: [])
    _ = try await stores[0].notifications.create(push(to: ["a"]))
    // Whatever reads registrations waits, within its statement.
    let other = try PostgresConnection(try #require(try first.database()), for: .maintenance)
    try other.script(
      """
      CREATE FUNCTION pause() RETURNS boolean LANGUAGE plpgsql AS
      'BEGIN PERFORM pg_advisory_xact_lock_shared(hashtext(current_schema())); RETURN true; END';
      ALTER TABLE registration RENAME TO device;
      CREATE VIEW registration AS SELECT * FROM device WHERE pause();
      SELECT pg_advisory_lock(hashtext(current_schema()))
      """)
    let now = first.now
    let database = try tables(stores[1]).database
    async let chosen = database.write { transaction in
      try transaction.jobsOfLatestContact("apns", limit: 9, at: now)
    }
    try await eventually("it looks for jobs") {
      try other.value(
        """
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE application_name = current_schema() AND wait_event = 'advisory')
        """) == true
    }
    #expect(try other.run("UPDATE job SET due = $1, owner = 'other'", now + 60) == 1)
    try other.script("SELECT pg_advisory_unlock(hashtext(current_schema()))")
    #expect(try await chosen.isEmpty)
  }

  @Test func `answers come in any order while another node withdraws the notification`()
    async throws
  {
    let store = try open()[0]
    let (url, now) = (try #require(try first.database()), first.now)
    // Without the writer, which makes a change again that has failed.
    @Sendable func change(_ body: (PostgresTransaction) throws -> Void) throws {
      let transaction = PostgresTransaction(
        try PostgresConnection(url, for: .writing), rules: SendingRules())
      try body(transaction)
      try transaction.commit(from: "test")
    }
    for _ in 0..<8 {
      let id = try await store.notifications.create(.any(to: alice)).notification.id
      try change { transaction in
        try transaction.run(
          "INSERT INTO push(id, notification, lane, kind) VALUES ($1, $1, 'apns', 'alert')", id)
        try transaction.run(
          """
          INSERT INTO job(push, lane, token, user_id, registration, state, due, owner, updated)
          SELECT $1, 'apns', '', 1, 'd' || n, 'queued', 0, 'node', 0 FROM generate_series(1, 500) AS n
          """, id)
      }
      let jobs: [Int] = try await tables(store).database.read { connection in
        try connection.column("SELECT id FROM job WHERE push = $1 ORDER BY id DESC", id)
      }
      async let settled: Void = change { transaction in
        _ = try transaction.settle(
          jobs.map { ($0, .rejected(reason: "no")) }, of: SendingLane("apns"), owner: "node",
          at: now)
      }
      async let withdrawn: Void = change { _ = try $0.withdraw(id, at: now) }
      _ = try await (settled, withdrawn)
    }
    #expect(
      try await tables(store).database.read { connection in
        try connection.value(
          "SELECT count(*) FROM job WHERE state IN ('failed', 'cancelled') AND owner IS NULL")
      } == 4000)
  }

  @Test func `an audience that is found when due waits for a change of its notification`()
    async throws
  {
    let store = try open()[0]
    var new = NotificationInsert.any()
    new.dueAudience = DueAudience(segment: nil, people: 3)
    let created = try await store.notifications.create(new).notification
    let other = try PostgresConnection(try #require(try first.database()), for: .maintenance)
    // Withdrawing does it in this order.
    try other.script("BEGIN; SELECT 1 FROM notification FOR UPDATE")
    async let isAnnounced = store.notifications.announce(created, with: .any(to: alice))
    try await eventually("it waits") {
      try other.value(
        """
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE application_name = current_schema() AND wait_event_type = 'Lock')
        """) == true
    }
    try other.script(
      "SELECT 1 FROM due_audience FOR UPDATE NOWAIT; DELETE FROM due_audience; COMMIT")
    #expect(try await !isAnnounced)
  }

  @Test func `a change is made again when it and another node's have waited for each other`()
    async throws
  {
    let stores = try open()
    let gates = [DispatchSemaphore(value: 0), DispatchSemaphore(value: 0)]
    try await withThrowingTaskGroup(of: Void.self) { group in
      for (index, users) in [[alice, bob], [bob, alice]].enumerated() {
        let database = try tables(stores[index]).database
        group.addTask {
          try await database.write { transaction in
            for user in users {
              try transaction.run("UPDATE users SET created = created + 1 WHERE id = $1", user)
              guard user == users[0] else { continue }
              // Also for a second try, when the other has passed here.
              for _ in 0..<9 { gates[index].signal() }
              gates[1 - index].wait()
            }
          }
        }
      }
      try await group.waitForAll()
    }
    let changes = try await tables(stores[0]).database.read { connection in
      try connection.column("SELECT created FROM users WHERE id < 3", as: Int.self)
    }
    #expect(changes == [2, 2])
  }

  @Test func `all dead letters are replayed, in parts`() async throws {
    let store = try open()[0]
    _ = try await store.notifications.create(.any(to: alice))
    let connection = try PostgresConnection(try #require(try first.database()), for: .maintenance)
    try connection.script(
      """
      INSERT INTO push(id, notification, lane, kind) VALUES (1000, 0, 'apns', 'alert');
      INSERT INTO job(push, lane, token, user_id, state, due, updated)
      SELECT 1000, 'apns', '', 1, 'failed', 0, 0 FROM generate_series(1, 10001)
      """)
    #expect(try await store.outbox.replay() == 10_001)
    let counts: [Int] = try connection.column(
      "SELECT count FROM audit WHERE action = $1 ORDER BY id", AuditAction.pushReplayed.rawValue)
    #expect(counts == [10_000, 1])
  }

  @Test func `twenty thousand silent devices are ended, whatever memory the server has`()
    async throws
  {
    let url = try #require(try first.database()) + "%20-cwork_mem%3D64kB"
    let store = try Store(folder: first.folder, database: url, now: { [first] in first.now })
    let connection = try PostgresConnection(url, for: .maintenance)
    try connection.script(
      """
      INSERT INTO users(id, name, role, created) VALUES (1, 'alice', 'device', 0)
      """)
    _ = try await store.notifications.create(.any(to: alice))
    try connection.script(
      """
      INSERT INTO registration(id, user_id, platform, handle, updated)
      SELECT md5('' || n), 1, 'apns', 't' || n, 0 FROM generate_series(1, 20010) AS n
      """)
    // Ten of them are heard of by receipts; the others are of devices that have gone.
    try connection.run(
      """
      INSERT INTO device_receipt(notification, user_id, registration, fetched)
      SELECT 0, 1, md5('' || n), $1 FROM generate_series(20001, 40000) AS n
      """, first.now)
    #expect(try await store.administration.endSilentRegistrations(since: first.now) == 20_000)
  }

  @Test func `one key creates one notification, at whichever nodes it is used at once`()
    async throws
  {
    let stores = try open()
    for round in 0..<20 {
      var new = NotificationInsert.any(to: alice)
      new.idempotencyKey = IdempotencyKey("order \(round)", request: [1])
      let created = try await withThrowingTaskGroup(of: (Int, Bool).self) { [new] group in
        for store in stores {
          group.addTask {
            let created = try await store.notifications.create(new)
            return (created.notification.id, created.isNew)
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(created.map(\.0)).count == 1 && created.count { $0.1 } == 1)
    }
    #expect(try await stores[0].notifications.inbox(of: alice, limit: 99).count == 20)
  }

  @Test func `nodes that start at once create the tables once`() async throws {
    let url = try first.database()
    let scratches = (0..<6).map { _ in Scratch() }
    let keys = try await withThrowingTaskGroup(of: [LinkKey].self) { group in
      for scratch in scratches {
        group.addTask {
          try await Store(folder: scratch.folder, database: url).accounts.linkKeys()
        }
      }
      return try await group.reduce(into: []) { $0.append($1) }
    }
    #expect(keys.allSatisfy { $0.count == 1 && $0 == keys[0] })
  }

  @Test func `a database of a newer version is refused`() async throws {
    let database = try tables(try open()[0]).database
    try await database.run("UPDATE schema_version SET version = 999")
    #expect { try open() } throws: { ($0 as? StoreError)?.code == .newer }
  }

  @Test func `other nodes hear of what one node commits`() async throws {
    let stores = try open()
    let heard = Mutex<Set<String>>([])
    @Sendable func hear(_ what: String) { _ = heard.withLock { $0.insert(what) } }
    let observers = stores[1].observers
    observers.onPushEvents.add { hear("push \($0.map(\.rawValue))") }
    observers.onChange.add { hear("change \($0)") }
    observers.onCredentialsEnded.add { hear("credentials \($0.rawValue)") }
    observers.onAssetEvent.add { hear("asset") }
    observers.onJobs.add { hear("jobs \($0.sorted())") }
    try await eventually("it listens") {
      _ = try await stores[0].administration.endCredentials(of: bob)
      return heard.withLock { $0.contains("credentials 2") }
    }
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "fcm", target: .audience("a"), kind: "alert")]
    // Without its jobs, which a withdrawal cancels, nobody would look for them.
    _ = try await stores[0].notifications.create(new)
    let id = try await stores[0].notifications.create(.any(to: alice)).notification.id
    _ = try await stores[0].notifications.withdraw(id)
    let asset = AssetRecord(
      richType: "img", name: "a", state: .ready, bytes: 1, modified: first.now, stamp: "")
    try await stores[0].assets.putAsset(asset, event: "{}")
    let expected: Set = ["push [1]", "change \(id)", "asset", #"jobs ["fcm"]"#]
    try await eventually("all are heard") { heard.withLock { $0.isSuperset(of: expected) } }
  }

  @Test func `connections that the server ends are replaced, and everything may have changed`()
    async throws
  {
    let store = try open()[0]
    let (everything, tell) = AsyncStream.makeStream(of: Void.self)
    store.observers.onEverything.add { tell.yield() }
    for round in 0..<5 {
      _ = try await store.notifications.create(.any(to: alice))
      let killer = try PostgresConnection(try #require(try first.database()), for: .writing)
      try killer.run(
        """
        SELECT pg_terminate_backend(pid) FROM pg_stat_activity
        WHERE application_name = current_schema() AND pid <> pg_backend_pid()
        """)
      async let inbox = store.notifications.inbox(of: alice, limit: 9)
      #expect(try await inbox.count == round + 1)
    }
    var next = everything.makeAsyncIterator()
    await next.next()
    #expect(try await store.notifications.create(.any(to: alice)).isNew)
  }

  @Test func `one node has the lead, and the next one takes over`() async throws {
    var stores = try open()
    func leads() -> [Bool] { stores.map(\.observers.lead.isHeld) }
    try await eventually("one has the lead") { leads().contains(true) }
    #expect(leads().count { $0 } == 1)
    let (changes, tell) = AsyncStream.makeStream(of: Bool.self)
    let next = stores[0].observers.lead.isHeld ? 1 : 0
    stores[next].observers.lead.observe { tell.yield($0) }
    stores.remove(at: 1 - next)
    var taken = changes.makeAsyncIterator()
    #expect(await taken.next() == true)
  }

  @Test func `a notification needs few messages and statements, and many at once need no more`()
    async throws
  {
    let store = try open()[0]
    _ = try await store.accounts.putRegistration(
      "phone", user: alice, platform: "apns", handle: "AB", tags: [])
    let database = try tables(store).database
    func counts() async throws -> (messages: Int, statements: Int) {
      try await database.write { ($0.connection.messages, $0.connection.statementCount) }
    }
    func costs(creating count: Int, key: String? = nil) async throws -> (
      messages: Int, statements: Int
    ) {
      let gate = DispatchSemaphore(value: 0)
      let before = try await counts()
      store.holdWriter(until: gate)
      try await withThrowingTaskGroup(of: Void.self) { group in
        for index in 0..<count {
          var new = push(to: ["phone"])
          new.idempotencyKey = key.map { IdempotencyKey($0 + "\(index)", request: []) }
          // Runs at once until it waits for the commit, so that all wait together.
          group.addImmediateTask { [new] in _ = try await store.notifications.create(new) }
        }
        gate.signal()
        try await group.waitForAll()
      }
      let after = try await counts()
      return (after.messages - before.messages, after.statements - before.statements)
    }
    // Prepares the statements.
    _ = try await costs(creating: 2, key: "first")
    let one = try await costs(creating: 1)
    let many = try await costs(creating: 100)
    let keyed = try await costs(creating: 1, key: "second")
    #expect(one.messages <= 3 && one.statements <= 11, "\(one)")
    #expect(keyed.messages <= 4 && keyed.statements <= 12, "\(keyed)")
    #expect(many.messages <= 12 && many.statements <= 42, "\(many)")
    // A push is leased, and settled together with the lease of the next one.
    func exchange(_ outcomes: [(job: Int, outcome: JobOutcome)]) async throws -> (
      messages: Int, jobs: [LeasedJob]
    ) {
      let before = try await counts().messages
      let jobs = try await store.outbox.settleAndLease(
        outcomes, lane: "apns", limit: 1, until: first.now + 60)
      return (try await counts().messages - before, jobs)
    }
    let leased = try await exchange([])
    #expect(leased.messages <= 2 && leased.jobs.count == 1)
    let sent = leased.jobs.map {
      (job: $0.id, outcome: JobOutcome.delivered(as: "alert", reference: nil, note: nil))
    }
    let settled = try await exchange(sent)
    #expect(settled.messages <= 2 && settled.jobs.count == 1)
  }

  @Test func `a notification is what its creation returned`() async throws {
    let store = try open()[0]
    first.pass(0.000_123)
    var new = push(to: [])
    (new.message, new.details) = ("a \"quoted\" \\ text, {braces} and \u{0}", "{\"a\":\"NULL\"}")
    (new.payload, new.form) = ("NULL", "")
    (new.notBefore, new.expires) = (first.now + 1.234_567_8, first.now + 99.999_999)
    new.to = ["username:a,b", ""]
    let created = try await store.notifications.create(new).notification
    #expect(try await store.notifications.notification(created.id) == created)
  }

  @Test func `a change that fails does so alone, whatever it is committed with`() async throws {
    let store = try first.open()
    let failures = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<60 {
        group.addTask {
          do {
            try await store.accounts.addUser("user\(index)", hash: "", role: .device)
            // Fails after it has changed something.
            try await tables(store).database.write { transaction in
              try transaction.run("DELETE FROM users WHERE name = $1", "user\(index)")
              let mistake = "INSERT INTO vapid_key VALUES (2, '', 0)"
              switch index % 4 {
              case 0: throw StoreError(.conflict, "no")
              case 1: try transaction.run(mistake)
              case 2: try transaction.send(mistake)
              default: break
              }
            }
          } catch { return true }
          return false
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 45)
    #expect(try await store.accounts.users().count == 45)
  }

  @Test func `counts are right when two nodes change them at once`() async throws {
    let stores = try open()
    let users = try await stores[0].accounts.userIDs(
      of: Set((0..<100).map { "u\($0)" }), allowingPasswordless: true
    ).values.sorted()
    for _ in 0..<5 {
      var new = NotificationInsert.any(to: alice)
      new.recipients = users
      _ = try await stores[0].notifications.create(new)
    }
    for (index, user) in users.enumerated() {
      for id in 0..<5 {
        let store = stores[(index + id) % 2]
        store.notifications.recordFetched(id, user: user)
        stores[index % 2].notifications.recordFetched(id, user: user)
      }
    }
    for store in stores { for _ in 0..<3 { try await store.probe() } }
    for id in 0..<5 {
      #expect(try await stores[1].sent.counts(of: id)?.fetched == 100)
    }
  }
}
