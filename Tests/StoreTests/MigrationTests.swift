import FoundationEssentials
import Testing

@testable import Store

/// A database that an earlier version wrote, in which everything belonged to names.
@Suite(.sqlite, .timeLimit(.minutes(1))) struct MigrationTests {
  private let scratch = Scratch()
  private var path: String { scratch.folder + "/richpush.db" }

  @Test func `what belonged to a name belongs to the user of that name`() async throws {
    try writeOld()
    let store = try Store(folder: scratch.folder, now: { scratch.now })
    let anna = try #require(try await store.accounts.user(named: "anna")).id
    let press = try #require(try await store.accounts.user(named: "press")).id
    #expect(try await store.accounts.users().map(\.name) == ["anna", "press"])
    #expect(try await store.accounts.user(named: "anna")?.hash == "h1")
    #expect(try await store.notifications.inbox(of: anna, limit: 9).map(\.isRead) == [true])
    #expect(try await store.events.pushEvents(for: anna, after: 0, limit: 9).map(\.data) == ["old"])
    #expect(try await store.accounts.registrations(ofUser: anna).map(\.tags) == [["username:anna"]])
    #expect(
      try await store.notifications.deviceReceipts(of: 0, users: [anna]).map(\.user) == ["anna"])
    #expect(try await store.notifications.notification(0)?.sender == press)
    #expect(try await store.notifications.receipts(of: 0).map(\.user) == ["anna", "gone"])
    let jobs = try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now)
    #expect(jobs.map(\.user) == [anna])
    #expect(
      try await store.events.events(after: 0, for: press, limit: 2).map(\.data)
        == [#"{"notification":0,"user":"anna","state":"read"}"#, #"{"name":"logo.png"}"#])
    let counts = try #require(try await store.sent.counts(of: 0))
    #expect([counts.recipients, counts.fetched, counts.read] == [2, 0, 1])
    #expect(counts.firstRead == Date(timeIntervalSince1970: 0.005) && counts.firstFetched == nil)
    let read = try await store.notifications.receipts(of: 0, in: .read, after: 0, limit: 9)
    #expect(read.map(\.user) == ["anna"])
    let key = IdempotencyKey("k", request: [])
    #expect(try await store.notifications.notification(for: key, sender: press)?.id == 0)
    #expect(try await store.check().findings.isEmpty)

    // Who was removed, or never was, is nobody: a user who is added with the name has nothing.
    try await store.accounts.addUser("gone", hash: "h", role: .device)
    let later = try #require(try await store.accounts.user(named: "gone")).id
    #expect(try await store.notifications.inbox(of: later, limit: 9).isEmpty)
    #expect(try await store.events.pushEvents(for: later, after: 0, limit: 9).isEmpty)
    #expect(try await store.accounts.registrations(ofUser: later).isEmpty)
    #expect(
      try await store.accounts.devices(matching: [TagClause(with: ["username:gone"])]).isEmpty)
    #expect(try await store.notifications.receipts(of: 0).map(\.user) == ["anna", nil])
    // Numbers of events go on where they were.
    #expect(try await store.events.latestPushEvent() == 7)
    // Receipts go on, without the old triggers.
    _ = try await store.notifications.create(.any(to: anna))
    #expect(try await store.events.latestPushEvent() == 8)
    #expect(try await store.events.events(after: 0, limit: 99).allSatisfy { $0.type != "old" })
  }

  @Test func `a copy of the database before its migration is kept, once`() throws {
    try writeOld()
    try "stale".write(toFile: path + ".before-7", atomically: true, encoding: .utf8)
    _ = try Store(folder: scratch.folder)
    _ = try Store(folder: scratch.folder)
    let names = try FileManager.default.contentsOfDirectory(atPath: scratch.folder)
    #expect(names.filter { $0.contains("before") } == ["richpush.db.before-8"])
    let copy = try SQLiteConnection.open(path + ".before-8", for: .reading)
    #expect(try copy.value("PRAGMA user_version", as: Int.self) == 8)
    #expect(try copy.value("SELECT count(*) FROM user", as: Int.self) == 2)
    // The earlier program finds its database when the copy replaces the migrated one.
    #expect(try copy.value("PRAGMA integrity_check", as: String.self) == "ok")
  }

  @Test func `ends with the tables of a new database`() async throws {
    try writeOld()
    _ = try Store(folder: scratch.folder)
    let new = Scratch()
    _ = try Store(folder: new.folder)
    let schemas = try [scratch, new].map { scratch in
      try SQLiteConnection.open(scratch.folder + "/richpush.db", for: .reading).all(
        "SELECT name, sql FROM sqlite_schema WHERE sql IS NOT NULL ORDER BY name"
      ) { row in "\(try row.next(String.self)): \(try row.next(String.self))" }
    }
    #expect(schemas[0] == schemas[1])
    #expect(!schemas[0].contains { $0.contains("CREATE TRIGGER") })
    #expect(try await scratch.open().accounts.linkKeys().count == 1)
  }

  @Test func `one that fails half-way leaves the database as it was`() throws {
    try writeOld("INSERT INTO counter VALUES ('user changes', 1);")
    #expect(throws: StoreError.self) { try Store(folder: scratch.folder) }
    let old = try SQLiteConnection.open(path, for: .reading)
    #expect(try old.value("PRAGMA user_version", as: Int.self) == 8)
    #expect(try old.value("SELECT user FROM recipient LIMIT 1", as: String.self) == "anna")
    #expect(try old.value("SELECT count(*) FROM user", as: Int.self) == 2)
  }

  /// The triggers of version 8, by name; a row in `event` shows that one was left.
  private static let oldTriggers = [
    ("new_job", "INSERT ON job"), ("job", "UPDATE OF state ON job"),
    ("push_event", "INSERT ON push_event"), ("sending", "UPDATE OF sent ON recipient"),
    ("device_fetched", "UPDATE OF fetched ON device_receipt"),
    ("user_fetched", "UPDATE OF fetched ON recipient"),
    ("device_read", "UPDATE OF read ON device_receipt"),
    ("user_read", "UPDATE OF read ON recipient"),
  ].map { name, event in
    """
    CREATE TRIGGER receipt_of_\(name) AFTER \(event) BEGIN
      INSERT INTO event(type, data, created) VALUES ('old', '{}', 0);
    END;
    """
  }.joined(separator: "\n")

  private func writeOld(_ more: String = "") throws {
    let old = try SQLiteConnection.open(path, for: .writing)
    for step in Schema.steps[..<8] { try old.script(step) }
    try old.script(
      """
      PRAGMA user_version = 8;
      \(Self.oldTriggers)
      INSERT INTO user VALUES ('press', 'h2', 'publisher', 2), ('anna', 'h1', 'device', 1);
      INSERT INTO notification(id, message, rich_type, payload, sender, audience, created)
        VALUES (0, 'm', 'img', 'p', 'press', '[]', 0);
      UPDATE counter SET next = 1;
      INSERT INTO idempotency VALUES ('press', 'k', '\(Digest(of: "").hex)', 0), ('', 'k', 'r', 0);
      INSERT INTO registration VALUES ('r1', 'anna', 'apns', 'A', 0), ('r2', 'gone', 'apns', 'B', 0);
      INSERT INTO registration_tag VALUES ('username:anna', 'r1'), ('username:gone', 'r2');
      INSERT INTO recipient(user, notification, read) VALUES ('anna', 0, 5), ('gone', 0, NULL);
      INSERT INTO device_receipt VALUES (0, 'anna', 'r1', NULL, 5);
      INSERT INTO push(id, lane, kind, text) VALUES (1, 'apns', 'alert', 't');
      INSERT INTO job(push, lane, token, user, registration, state, due, owner, updated)
        VALUES (1, 'apns', 't', 'anna', 'r1', 'queued', 9000000000000, 'a lease', 0);
      INSERT INTO push_event(sequence, user, notification, data, created)
        VALUES (5, 'anna', 0, 'old', 0), (6, 'gone', 0, 'old', 0), (7, 'gone', 0, 'old', 0);
      DELETE FROM push_event WHERE sequence = 7;
      DELETE FROM event;
      INSERT INTO event(type, publisher, data, created) VALUES
        ('receipt', 'press', '{"notification":0,"user":"anna","state":"read"}', 0),
        ('asset', NULL, '{"name":"logo.png"}', 0);
      \(more)
      """)
  }
}
