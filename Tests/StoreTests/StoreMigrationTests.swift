import FoundationEssentials
import Testing

@testable import Store

/// Copying the records of a SQLite database into a PostgreSQL database.
@Suite(.timeLimit(.minutes(2))) struct StoreMigrationTests {
  private let scratch = Scratch()
  private let target = Scratch()

  private func migrate(
    to url: String, _ progress: @escaping @Sendable (MigrationProgress) -> Void = { _ in }
  ) async throws -> MigrationReport {
    try await Store.migrate(
      folder: scratch.folder, to: url, address: "elsewhere", progress: progress)
  }

  private func database() throws -> String { try #require(try target.database()) }

  private func run(_ sql: String) throws {
    try PostgresConnection(try database(), for: .writing).script(sql)
  }

  /// Expects that migrating fails with a sentence.
  private func expectRefusal(
    _ code: StoreError.Code, _ words: String, sourceLocation: SourceLocation = #_sourceLocation
  ) async throws {
    let url = try database()
    await #expect(sourceLocation: sourceLocation) {
      try await migrate(to: url)
    } throws: { error in
      let error = error as? StoreError
      return error?.code == code && error?.reason.contains(words) == true
    }
  }

  /// Writes with SQLite, whatever the other tests do.
  private func fill(_ messages: String...) async throws {
    let store = try unlocked()
    if try await store.accounts.user(named: "alice") == nil {
      try await store.accounts.addUser("alice", hash: "h", role: .device)
    }
    for message in messages {
      _ = try await store.notifications.create(.any(to: alice, message: message))
    }
  }

  @Test func `every table and column of SQLite is copied or left out on purpose`() throws {
    _ = try Store(folder: scratch.folder)
    let connection = try SQLiteConnection.open(scratch.folder + "/richpush.db", for: .reading)
    let columns = try Set(
      connection.all(
        """
        SELECT schema.name, info.name FROM sqlite_schema AS schema, pragma_table_info(schema.name) AS info
        WHERE schema.type = 'table'
        """
      ) { "\($0 as String).\($1 as String)" })
    let copied = MigratedTable.all.flatMap { table in
      table.sourceColumns.map { "\(table.name).\($0)" }
    }
    let rest = columns.subtracting(copied).filter { column in
      let table = String(column.prefix { $0 != "." })
      return MigratedTable.leftOut.source.isDisjoint(with: [column, table])
    }
    #expect(rest.isEmpty, "decide in MigratedTable: \(rest.sorted())")
    #expect(MigratedTable.all.allSatisfy { Set($0.key).isSubset(of: $0.sourceColumns) })
  }

  @Test(.postgres) func `every table and column of PostgreSQL gets its values`() throws {
    _ = try target.open()
    let columns = try Set(
      PostgresConnection(try database(), for: .reading).all(
        """
        SELECT table_name::text, column_name::text FROM information_schema.columns
        WHERE table_schema = current_schema()
        """
      ) { "\($0 as String).\($1 as String)" })
    let copied = Set(
      MigratedTable.all.flatMap { table in table.targetColumns.map { "\(table.name).\($0)" } })
    #expect(copied.isSubset(of: columns))
    let rest = columns.subtracting(copied).filter { column in
      let table = String(column.prefix { $0 != "." })
      return MigratedTable.leftOut.target.isDisjoint(with: [column, table])
    }
    #expect(rest.isEmpty, "decide in MigratedTable: \(rest.sorted())")
  }

  /// The store to be moved, made if there is none, beside which `store migrate` can run.
  private func unlocked() throws -> Store {
    if !FileManager.default.fileExists(atPath: scratch.folder + "/richpush.db") {
      _ = try Store(folder: scratch.folder)
    }
    return try Store(folder: scratch.folder, access: .shared)
  }

  @Test(.postgres) func `texts of all kinds arrive, and numbers go on`() async throws {
    let texts = [
      "tab\tline\n\r\\N \\. back\u{8}\u{B}\u{C}\u{1}", "nul \0 and \u{FFFF}", "ﬃ 👩‍👩‍👧 é", "",
    ]
    let store = try unlocked()
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    for text in texts {
      _ = try await store.notifications.create(.any(to: alice, message: text))
    }
    try await store.database.run("DELETE FROM notification WHERE id = $1", texts.count - 1)
    let (pushEvent, event) = (
      try await store.events.latestPushEvent(), try await store.events.latestEvent()
    )
    let events = try await store.events.events(after: 0, limit: 99)
    let report = try await migrate(to: try database())
    #expect(report.earlier == 0 && report.rows > 15)

    let moved = try Store(folder: target.folder, database: try database())
    for (id, text) in texts.dropLast().enumerated() {
      #expect(try await moved.notifications.notification(id)?.message == text)
    }
    #expect(try await moved.events.latestPushEvent() == pushEvent)
    #expect(try await moved.events.latestEvent() == event)
    let same = try await moved.events.events(after: 0, limit: 99)
    #expect(same.map(\.token) == events.map(\.token) && same.map(\.data) == events.map(\.data))
    // The number of the one that was removed is not used again.
    let new = try await moved.notifications.create(.any(to: alice))
    #expect(new.notification.id == texts.count)
    #expect(try await moved.events.latestPushEvent() == pushEvent + 1)
    // Nobody goes on with the records that were copied.
    #expect { try Store(folder: scratch.folder) } throws: {
      ($0 as? StoreError)?.reason.contains("are in elsewhere") == true
    }
  }

  @Test(.postgres) func `parts of a large audience that were not written yet are written there`()
    async throws
  {
    let store = try unlocked()
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    _ = try await store.notifications.create(.any(to: alice))
    let path = scratch.folder + "/richpush.db"
    try SQLiteConnection.open(path, for: .writing).script(
      """
      INSERT INTO users(id, name, role, created) VALUES (7, 'g', 'device', 0), (8, 'h', 'device', 0);
      INSERT INTO registration(id, user_id, platform, handle, updated, lane)
        VALUES ('r"7', 7, 'apns', 'H', 0, 'apns');
      INSERT INTO push(id, lane, kind, notification) VALUES (9, 'apns', 'alert', 0);
      INSERT INTO audience_part(notification, event, first, last, members)
        VALUES (0, '{}', 7, 8, '[7,8]');
      INSERT INTO audience_part(notification, push, due, members) VALUES (0, 9, 0, '["r\u{5C}"7"]');
      """)
    _ = try await migrate(to: try database())
    let moved = try Store(folder: target.folder, database: try database())
    while try await moved.notifications.writeNextParts(within: .zero) {}
    let user = UserID(rawValue: 7)
    #expect(try await moved.notifications.inbox(of: user, limit: 9).map(\.notification.id) == [0])
    #expect(try await moved.events.pushEvents(for: user, after: 0, limit: 9).count == 1)
    #expect(try await moved.outbox.lease(until: .distantFuture).map(\.user) == [user])
  }

  @Test(.postgres) func `goes on where it was, until all is there`() async throws {
    try await fill("one", "two", "three")
    try addEvents(30_000)
    let url = try database()
    // The connection is lost in the second transaction of the events.
    await #expect {
      try await migrate(to: url) { progress in
        guard progress.phase == .copying, progress.rows == 25_000 else { return }
        let other = try? PostgresConnection(url, for: .writing)
        try? other?.script(
          """
          SELECT pg_terminate_backend(pid) FROM pg_stat_activity
          WHERE query LIKE 'COPY event%' AND application_name = current_setting('application_name')
          """)
      }
    } throws: { error in
      (error as? StoreError)?.code == .unavailable
    }
    // No server uses what is there.
    #expect { try Store(folder: target.folder, database: url) } throws: { error in
      (error as? StoreError)?.reason.contains("run 'richpush store migrate' again") == true
    }
    try run(
      """
      CREATE FUNCTION full_disk() RETURNS trigger LANGUAGE plpgsql AS
        'BEGIN RAISE EXCEPTION USING MESSAGE = ''no space'', ERRCODE = ''53100''; END';
      CREATE TRIGGER full_disk BEFORE INSERT ON link_key EXECUTE FUNCTION full_disk();
      """)
    try await expectRefusal(.full, "server is full")
    try run("DROP TRIGGER full_disk ON link_key")
    let report = try await migrate(to: url)
    #expect(report.earlier > 30_000 && report.earlier < report.rows)
    let moved = try Store(folder: target.folder, database: url)
    #expect(try await moved.count("event") == 30_003)
    #expect(try await moved.check().findings.isEmpty)
  }

  @Test(.postgres) func `one that was interrupted is not continued with other records`()
    async throws
  {
    try await fill("one")
    let url = try database()
    // Not UTF-8, which SQLite does not mind.
    try source("UPDATE push_event SET data = CAST(x'C3' AS TEXT)")
    try await expectRefusal(.failed, "invalid byte sequence")
    try source("UPDATE push_event SET data = 'sound'")
    try await expectRefusal(.conflict, "has changed since")
    try run("DROP SCHEMA \(target.schema) CASCADE; CREATE SCHEMA \(target.schema)")
    #expect(try await migrate(to: url).earlier == 0)
  }

  @Test(.postgres) func `what does not belong there is noticed`() async throws {
    try await fill("one")
    try source("UPDATE push_event SET data = CAST(x'C3' AS TEXT)")
    try await expectRefusal(.failed, "invalid byte sequence")
    try run("INSERT INTO users(id, name, role, created) VALUES (99, 'mallory', 'admin', 0)")
    try run("UPDATE notification SET message = 'another'")
    try run("UPDATE unfinished_migration SET copied = rows WHERE name = 'push_event'")
    try await expectRefusal(
      .damaged, "users has 2 rows instead of 1; notification has other content")
  }

  @Test(.postgres) func `refuses databases and folders that cannot be used`() async throws {
    let url = try database()
    try await expectRefusal(.missing, "has no database")
    await #expect {
      try await Store.migrate(folder: "/nowhere", to: url, address: "", progress: { _ in })
    } throws: { error in
      (error as? StoreError)?.reason == "the data folder /nowhere does not exist"
    }
    try await fill("one")
    let running = try Store(folder: scratch.folder)
    try await expectRefusal(.inUse, "in use by another richpush")
    withExtendedLifetime(running) {}
  }

  @Test(.postgres) func `refuses a database that has something in it`() async throws {
    try await fill("one")
    try run("CREATE TABLE invoice(id bigint)")
    try await expectRefusal(.conflict, "not empty (it has invoice)")
    try run("DROP TABLE invoice")
    _ = try Store(folder: target.folder, database: try database())
    try await expectRefusal(.conflict, "not empty")
  }

  @Test(.postgres) func `refuses a database of a newer version, and one that is damaged`()
    async throws
  {
    try await fill("one")
    let version = SQLiteSchema.version
    try source("PRAGMA user_version = \(version + 1)")
    try await expectRefusal(.newer, "newer richpush")
    try source("PRAGMA user_version = \(version)")
    try source("PRAGMA foreign_keys = OFF; INSERT INTO registration_tag VALUES ('tag', 'nobody')")
    try await expectRefusal(.damaged, "registration_tag")
    scratch.write(String(repeating: "no database ", count: 1000), to: "richpush.db")
    try await expectRefusal(.damaged, "damaged")
  }

  private func source(_ sql: String) throws {
    try SQLiteConnection.open(scratch.folder + "/richpush.db", for: .writing).script(sql)
  }

  private func addEvents(_ count: Int) throws {
    try source(
      """
      INSERT INTO event(type, data, created)
      WITH RECURSIVE number(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM number WHERE n < \(count))
      SELECT 'asset', '{"name":"' || n || '"}', n FROM number
      """)
  }
}

extension Trait where Self == ConditionTrait {
  /// For what only PostgreSQL has.
  static var postgres: Self { .enabled(if: Scratch.server != nil, "only with PostgreSQL") }
}
