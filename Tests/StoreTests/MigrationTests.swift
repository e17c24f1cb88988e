import FoundationEssentials
import Glibc
import Primitives
import Testing
import Waiting

@testable import Store

/// A database that commit c1a7ad3 wrote, and older ones.
@Suite(.timeLimit(.minutes(1))) struct MigrationTests {
  private let scratch = Scratch()
  private var path: String { scratch.folder + "/richpush.db" }

  @Test func `its records are carried over`() async throws {
    try writeEarlier()
    let store = try Store(
      folder: scratch.folder, database: scratch.database(), now: { scratch.now })
    let anna = try #require(try await store.accounts.user(named: "anna"))
    let press = try #require(try await store.accounts.user(named: "press")).id
    #expect(anna.hash == "h1" && anna.role == .device)
    #expect(try await store.accounts.maxDevices(of: anna.id) == UserQuota.devices)
    #expect(try await store.notifications.inbox(of: anna.id, limit: 9).map(\.isRead) == [true])
    let media = #"{"size":7,"type":"image/png"}"#
    #expect(
      try await store.events.pushEvents(for: anna.id, after: 0, limit: 9).map(\.data)
        == [#"{"aps":{"alert":"hi"}}"#, "{}", media])
    // What pushes say is the notification's; plain ones keep their text.
    var pushes: [StoredPush?] = []
    for id in 1...4 { pushes.append(try await store.outbox.push(id)) }
    #expect(pushes.map { $0?.message.text } == ["m", "m", #"From press: "hi""#, "From press: hi"])
    #expect(pushes.map { $0?.media } == [media, nil, nil, nil])
    #expect(pushes.map { $0?.notification?.id } == [0, 0, nil, nil])
    let registration = try #require(
      try await store.accounts.registrations(ofUser: anna.id).first)
    #expect(registration.tags == ["username:anna"] && registration.ended == nil)
    #expect(
      try await store.notifications.deviceReceipts(of: 0, users: [anna.id]).map(\.user) == ["anna"])
    #expect(try await store.notifications.notification(0)?.sender == press)
    #expect(try await store.notifications.receipts(of: 0).map(\.user) == ["anna", "gone"])
    #expect(
      try await store.notifications.receipts(of: 0, in: .read, after: 0, limit: 9).map(\.user)
        == ["anna"])
    let counts = try #require(try await store.sent.counts(of: 0))
    #expect([counts.recipients, counts.fetched, counts.read] == [2, 0, 1])
    let key = IdempotencyKey("k", request: [])
    #expect(try await store.notifications.notification(for: key, sender: press)?.id == 0)
    let jobs = try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now)
    #expect(jobs.map(\.user) == [anna.id])
    #expect(try await store.assets.assetNames(like: "LOGO.PNG", richType: "img") == ["Logo.png"])
    #expect(
      try await store.assets.assets(limit: 9, behind: ("img", "a"), by: .name).map(\.name)
        == ["Logo.png"])
    let events = try await store.events.events(after: 0, for: press, limit: 2)
    #expect(
      events.map(\.data) == [#"{"notification":0,"user":"anna","state":"read"}"#, #"{"name":"a"}"#])
    #expect(try await store.sent.changes(after: 0, for: press).counts[0]?.read == 1)
    // Numbers go on.
    #expect(try await store.notifications.create(.any(to: anna.id)).notification.id == 1)
    #expect(try await store.events.latestPushEvent() == 6)
    #expect(
      try await store.events.releaseHeldEvents() == Date(timeIntervalSince1970: 9_000_000_000))
    let findings = try await store.check().findings.map { "\($0)" }
    #expect(findings == [])
    #expect(try await store.accounts.linkKeys().count == 1)
  }

  @Test func `it ends with the tables of a new one`() async throws {
    try writeEarlier()
    _ = try Store(folder: scratch.folder, database: scratch.database())
    let new = Scratch()
    _ = try Store(folder: new.folder, database: new.database())
    let (present, expected) = (try structure(of: scratch), try structure(of: new))
    #expect(expected.count > 150)
    #expect(Set(present).symmetricDifference(expected) == [])
  }

  @Test func `an older one is refused, with the commit that brings it there`() throws {
    try writeEarlier(isOlder: true)
    #expect {
      try Store(folder: scratch.folder, database: scratch.database())
    } throws: { error in
      let error = error as? StoreError
      return error?.code == .older && error?.reason.contains("c1a7ad3") == true
    }
    #expect(try structure(of: scratch).contains { $0.contains("lane_pause") } == false)
  }

  @Test(.sqlite) func `a copy of the database before its migration is kept, once`() throws {
    try writeEarlier()
    // Of an earlier upgrade, and of one after which the copy was put in the place of the database.
    for name in [".before-7", ".before-19"] {
      try "stale".write(toFile: path + name, atomically: true, encoding: .utf8)
    }
    _ = try Store(folder: scratch.folder)
    _ = try Store(folder: scratch.folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder)
    #expect(names.filter { $0.contains("before") } == ["richpush.db.before-19"])
    let copy = try SQLiteConnection.open(path + ".before-19", for: .reading)
    #expect(try copy.value("PRAGMA user_version", as: Int.self) == 19)
    #expect(try copy.value("SELECT count(*) FROM user", as: Int.self) == 3)
    // The earlier program finds its database when the copy replaces the migrated one.
    #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test func `a command changes no tables that a server of the earlier version uses`() throws {
    try writeEarlier()
    func open(_ access: Store.Access) throws -> Store {
      try Store(folder: scratch.folder, database: scratch.database(), access: access)
    }
    _ = try DataFolder(scratch.folder, creates: true)
    let before = try structure(of: scratch)
    // Nobody knows of nodes that run elsewhere.
    let mayChange = try scratch.database() == nil
    do {
      let server = mayChange ? try StoreFile(scratch.folder + "/lock", O_RDWR | O_CREAT) : nil
      #expect(server?.lock(LOCK_EX | LOCK_NB) != false)
      let error = #expect(throws: StoreError.self) { try open(.shared) }
      #expect(error?.code == .inUse && error?.reason.contains("an earlier version") == true)
      #expect(try structure(of: scratch) == before)
      withExtendedLifetime(server) {}
    }
    _ = try open(mayChange ? .shared : .owner)
    #expect(try structure(of: scratch) != before)
    _ = try open(.shared)
  }

  @Test(.sqlite) func `one that fails half-way leaves the database as it was`() throws {
    // The name of a table that a step creates.
    try writeEarlier("CREATE TABLE lane_pause(x);")
    #expect(throws: StoreError.self) { try Store(folder: scratch.folder) }
    let old = try SQLiteConnection.open(path, for: .reading)
    #expect(try old.value("PRAGMA user_version", as: Int.self) == 19)
    #expect(try old.value("SELECT min(user) FROM recipient", as: Int.self) == 2)
  }

  // As long as a statement may take, and a second.
  @Test(.postgres) func `tables are changed however long that takes`() async throws {
    try writeEarlier()
    let url = try #require(try scratch.database())
    let reader = try PostgresConnection(url, for: .maintenance)
    try reader.script("BEGIN; LOCK TABLE registration IN ACCESS SHARE MODE")
    let reading = Task.detached { try reader.script("SELECT pg_sleep(6); COMMIT") }
    let store = try await BlockingQueue("test.migration").run { [scratch] in
      try Store(folder: scratch.folder, database: url)
    }
    try await reading.value
    #expect(try await store.accounts.user(named: "anna") != nil)
  }

  @Test(.postgres)
  func `a node whose tables a newer version has changed does nothing until it is upgraded`()
    async throws
  {
    let store = try scratch.open()
    let database = try #require(store.tables as? PostgresTables).database
    try await eventually("the lead is held") { store.observers.lead.isHeld }
    try await database.run("UPDATE schema_version SET version = version + 1")
    try await eventually("the lead is given up") { !store.observers.lead.isHeld }
    let refusal = await #expect(throws: StoreError.self) {
      try await store.outbox.lease(lane: "apns", limit: 1, until: .distantFuture)
    }
    #expect(refusal?.code == .newer)
    #expect(refusal?.reason.contains("until it is upgraded") == true)
    await #expect { try await store.accounts.users() } throws: { error in
      (error as? StoreError)?.code == .newer
    }
  }

  /// A line for each column and index, which do not depend on the order of columns.
  private func structure(of scratch: Scratch) throws -> [String] {
    guard let url = try scratch.database() else {
      let connection = try SQLiteConnection.open(scratch.folder + "/richpush.db", for: .reading)
      return try connection.all(
        """
        SELECT 'column ' || tables.name || '.' || columns.name || ' ' || columns.type || ' ' || "notnull" || ' '
          || coalesce(dflt_value, '-') || ' ' || pk || ' ' || hidden
        FROM pragma_table_list AS tables, pragma_table_xinfo(tables.name) AS columns
        WHERE tables.schema = 'main'
        UNION ALL
        SELECT 'table ' || name || ' ' || wr || ' ' || strict FROM pragma_table_list WHERE schema = 'main'
        UNION ALL
        SELECT 'key ' || tables.name || ' ' || "from" || ' ' || "table" || ' ' || on_delete
        FROM pragma_table_list AS tables, pragma_foreign_key_list(tables.name)
        UNION ALL
        SELECT 'index ' || replace(replace(sql, '"', ''), '  ', ' ') FROM sqlite_schema
        WHERE type = 'index' AND sql IS NOT NULL
        """
      ) { $0 as String }
    }
    return try PostgresConnection(url, for: .reading).all(
      """
      SELECT 'column ' || table_name || '.' || column_name || ' ' || data_type || ' ' || is_nullable || ' '
        || coalesce(column_default, '-') || ' ' || coalesce(collation_name, '-') || ' '
        || coalesce(generation_expression, '-')
      FROM information_schema.columns WHERE table_schema = current_schema()
      UNION ALL
      SELECT 'index ' || replace(indexdef, current_schema(), '') FROM pg_indexes
      WHERE schemaname = current_schema()
      UNION ALL
      SELECT 'constraint ' || conrelid::regclass || ' ' || pg_get_constraintdef(oid) FROM pg_constraint
      WHERE connamespace = current_schema()::regnamespace
      UNION ALL
      SELECT 'sequence ' || sequencename || ' ' || data_type || ' ' || min_value || ' ' || max_value
      FROM pg_sequences WHERE schemaname = current_schema()
      """
    ) { $0 as String }
  }

  private func writeEarlier(_ more: String = "", isOlder: Bool = false) throws {
    let event = #"'{"notification":0,"user":null,"state":"read"}'"#
    guard let url = try scratch.database() else {
      let earlier = try SQLiteConnection.open(path, for: .writing)
      try earlier.script(EarlierTables.sqlite)
      try earlier.script(
        """
        \(EarlierTables.rows.replacing("user_id", with: "user").replacing("users(", with: "user("))
        INSERT INTO counter VALUES ('notification', 1);
        INSERT INTO event(type, publisher, user, data, created)
          VALUES ('receipt', 1, 2, \(event), 0), ('asset', NULL, NULL, '{"name":"a"}', 0);
        \(more)
        PRAGMA user_version = \(isOlder ? 18 : 19);
        """)
      return
    }
    try PostgresConnection(url, for: .writing).script(
      """
      \(EarlierTables.postgres)
      CREATE TABLE schema_version(version integer NOT NULL);
      INSERT INTO schema_version VALUES (\(isOlder ? 3 : 4));
      \(EarlierTables.rows)
      SELECT setval('users_id_seq', 3), setval('push_id_seq', 4), setval('notification_id', 0);
      UPDATE event_counter SET push_event = 5, event = 2;
      INSERT INTO event(sequence, type, publisher, user_id, notification, data, created)
        VALUES (1, 'receipt', 1, 2, 0, \(event), 0), (2, 'asset', NULL, NULL, NULL, '{"name":"a"}', 0);
      """)
  }
}
