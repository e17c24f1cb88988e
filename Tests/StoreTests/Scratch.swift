import Dispatch
import FoundationEssentials
import Glibc
import Testing
import Waiting

@testable import Store

/// A data folder of a test's own, removed with its owner, and a clock that only the test moves.
final class Scratch: Sendable {
  let folder: String
  private let clock: ManualClock

  /// The clock starts at `start`, in seconds since 1970.
  init(at start: Double = 1_800_000_000) {
    clock = ManualClock(at: Date(timeIntervalSince1970: start))
    folder =
      FileManager.default.temporaryDirectory
      .appending(path: "richpush-store-\(UInt64.random(in: .min ... .max))").path
    mkdir(folder, 0o700)
  }

  deinit {
    if Self.server != nil { _ = try? Self.administer("DROP SCHEMA IF EXISTS \(schema) CASCADE") }
    try? FileManager.default.removeItem(atPath: folder)
  }

  var now: Date { clock.date }

  func pass(_ duration: Double) { clock.advance(by: .seconds(duration)) }

  func open(
    _ access: Store.Access = .owner, objects: ObjectStoreConfiguration? = nil,
    rules: SendingRules = SendingRules(), reserve: Int = 0
  ) throws -> Store {
    let store = try Store(
      folder: folder, database: try database(), access: access, objects: objects, rules: rules,
      reserve: reserve, now: { self.now })
    if store.tables is PostgresTables {
      try addGuests()
      return store
    }
    store.database.writeSoon { connection in
      for (name, id) in guests {
        try connection.run(
          "INSERT OR IGNORE INTO users(id, name, role, created) VALUES ($1, $2, 'device', 0)", id,
          name)
      }
    }
    return store
  }

  /// Adds the users to the schema where they are missing.
  ///
  /// They are there when this returns: the writer of another node does not wait for this one's.
  private func addGuests() throws {
    guard let url = try database() else { return }
    let connection = try PostgresConnection(url, for: .writing)
    let added = try connection.run(
      """
      INSERT INTO users(id, name, role, created) SELECT id, name, 'device', 0
      FROM unnest($1::bigint[], $2::text[]) AS guest(id, name) ON CONFLICT DO NOTHING
      """, Array(guests.values), Array(guests.keys))
    if added == guests.count {
      try connection.run("SELECT setval('users_id_seq', $1)", guests.count)
    }
  }

  /// Returns when a SQLite database that nobody uses any more is closed, which its writer may do last.
  func databaseClosed() async throws {
    try await eventually("the database is closed") {
      access("\(folder)/richpush.db-shm", F_OK) != 0
    }
  }

  // MARK: PostgreSQL

  /// The PostgreSQL server that all these tests use instead of SQLite; `Tests/run.py` starts it.
  static let server = getenv("RICHPUSH_TEST_DATABASE").map { String(cString: $0) }

  var schema: String { "test_\(folder.split(separator: "-").last ?? "")" }

  /// The URL of a schema of the test's own; nil for SQLite.
  func database() throws -> String? {
    guard let server = Self.server else { return nil }
    try Self.administer("CREATE SCHEMA IF NOT EXISTS \(schema)")
    return server + "&application_name=\(schema)&options=-csearch_path%3D\(schema)"
  }

  private static func administer(_ sql: String) throws {
    try server.map { try PostgresConnection($0, for: .writing) }?.script(sql)
  }

  /// Every file below the folder, by its path from there, without the database's.
  func files(in sub: String = "") -> Set<String> {
    let names = try? FileManager.default.subpathsOfDirectory(atPath: "\(folder)/\(sub)")
    return Set((names ?? []).filter { isFile("\(folder)/\(sub)/\($0)") })
  }

  func write(_ text: String, to path: String) {
    _ = FileManager.default.createFile(atPath: "\(folder)/\(path)", contents: Data(text.utf8))
  }

  private func isFile(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFREG
  }
}

let alice = UserID(rawValue: 1)
let bob = UserID(rawValue: 2)
let carol = UserID(rawValue: 3)
let shop = UserID(rawValue: 4)
let news = UserID(rawValue: 5)
/// The users, guests all of them, that there are in every test.
private let guests = ["alice": alice, "bob": bob, "carol": carol, "shop": shop, "news": news]

extension NotificationInsert {
  /// A notification whose details do not matter.
  static func any(to users: UserID..., message: String = "Look") -> NotificationInsert {
    var new = NotificationInsert(message: message, richType: "img", payload: "logo.png")
    new.recipients = users
    new.to = users.map { user in
      "username:" + (guests.first { $0.value == user }?.key ?? "\(user.rawValue)")
    }
    new.event = "{}"
    return new
  }
}

// MARK: - Shorter calls

extension Blobs {
  /// Stores bytes from memory, by way of a file.
  func add(bytes: [UInt8]) async throws -> Blob {
    let path = folder.path + "/source-\(UInt64.random(in: .min ... .max))"
    _ = FileManager.default.createFile(atPath: path, contents: Data(bytes))
    defer { unlink(path) }
    let file = try StoreFile(path, O_RDONLY)
    return try await addBlocking(copying: file.number).blob
  }
}

extension Renditions {
  /// What renditions are made of where that does not matter.
  static let source = Digest(of: "source")
  /// The fields of such a rendition.
  static let fields = [Rendition.Field(Rendition.sourceField, source.hex)]

  func fetch(_ key: Digest) async throws(StoreError) -> Rendition? {
    try await fetch(key, of: Self.source)
  }

  /// Returns when the object store has a rendition that was stored here.
  func uploaded(_ key: Digest) async {
    await withCheckedContinuation { uploaded in whenUploaded(key) { uploaded.resume() } }
  }
}

extension Trait where Self == ConditionTrait {
  /// For what only SQLite has: its file, its writer, its planner.
  static var sqlite: Self { .enabled(if: Scratch.server == nil, "only with SQLite") }
}

extension Store {
  /// The number of rows in a table.
  func count(_ table: String) async throws -> Int {
    let sql = "SELECT count(*) FROM \(table)"
    if let tables = tables as? PostgresTables {
      return try await tables.database.read { try $0.value(sql) ?? 0 }
    }
    return try database.value(sql) ?? 0
  }

  /// Returns when the thread that writes has told the observers of all commits so far, which it does after those who
  /// wait for them.
  func observersAreTold() async {
    await withCheckedContinuation { told in
      let group = DispatchGroup()
      turn(group)
      group.notify(queue: .global()) { told.resume() }
    }
  }

  /// Keeps the thread that writes until it is signalled.
  func holdWriter(until gate: DispatchSemaphore) {
    if let tables = tables as? PostgresTables {
      tables.database.writeSoon { _ in gate.wait() }
    } else {
      database.writeSoon { _ in gate.wait() }
    }
  }

  /// Begins changes while the thread that writes is held, so that it commits them together; whether each has succeeded.
  func commitTogether(_ changes: (@Sendable () async throws -> Void)...) async -> [Bool] {
    let gate = DispatchSemaphore(value: 0)
    holdWriter(until: gate)
    let tasks = changes.map { change in Task { try await change() } }
    // PostgreSQL's makes all changes again after one has failed.
    for _ in 0..<9 { gate.signal() }
    var succeeded: [Bool] = []
    for task in tasks { succeeded.append((try? await task.value) != nil) }
    return succeeded
  }

  /// Adds a user twice, which fails once, and ends carol's credentials, all in one commit.
  func commitWithFailure() async {
    let succeeded = await commitTogether(
      { try await self.accounts.addUser("alice", hash: "", role: .device) },
      { try await self.accounts.addUser("alice", hash: "", role: .device) },
      {
        let isEnded = try await self.administration.endCredentials(of: carol)
        #expect(isEnded)
      })
    #expect(succeeded.count(where: { !$0 }) == 1 && succeeded[2])
  }

  func removeNotifications() async throws { try await run("DELETE FROM notification") }

  /// Runs a statement.
  func run(_ sql: String) async throws {
    if let tables = tables as? PostgresTables {
      try await tables.database.run(sql)
    } else {
      try await database.run(sql)
    }
  }

  /// The tables, for what only SQLite's have.
  var sqlite: SQLiteTables {
    guard let tables = tables as? SQLiteTables else { preconditionFailure("another database") }
    return tables
  }
  var database: SQLiteDatabase { sqlite.database }
}

extension Notifications {
  func inbox(of user: UserID, limit: Int) async throws -> [InboxEntry] {
    try await inbox(of: user, unreadOnly: false, limit: limit, before: nil)
  }

  func markRead(_ id: Int, user: UserID) async throws -> Bool {
    try await markRead(id, user: user, device: nil)
  }

  func recordFetched(_ id: Int, user: UserID) { recordFetched(id, user: user, device: nil) }
}

extension Events {
  func push(_ data: String, to users: [UserID]) async throws {
    try await push(data, to: users, pushes: [])
  }

  func events(after: Int, limit: Int) async throws -> [StoredEvent] {
    try await events(after: after, for: nil, limit: limit)
  }
}

extension AssetCatalogue {
  func putAsset(_ asset: AssetRecord, event: String? = nil) async throws {
    try await putAsset(
      asset, event: event, audit: .assetAdded, by: nil, expectedBatch: 1)
  }

  func removeAsset(
    _ richType: String, _ name: String, stamp: String? = nil, event: String? = nil
  ) async throws -> Bool {
    try await removeAsset(richType, name, stamp: stamp, event: event, expectedBatch: 1)
  }

  func assets(
    ofType richType: String? = nil, in state: AssetRecord.State? = nil, limit: Int,
    behind last: (richType: String, name: String)? = nil, by order: AssetOrder? = nil
  ) async throws -> [AssetRecord] {
    let place = last.map { AssetPosition(richType: $0.richType, name: $0.name) }
    return try await assets(
      AssetFilter(richType: richType, state: state), order: order, limit: limit, after: place)
  }
}

extension Outbox {
  func jobs(limit: Int) async throws -> [JobRecord] { try await jobs(in: nil, limit: limit) }

  func replay() async throws -> Int { try await replay(nil) }

  func lease(lane: String = "apns", limit: Int = 10, until: Date) async throws -> [LeasedJob] {
    try await settleAndLease([], lane: lane, limit: limit, until: until)
  }

  func settle(_ outcomes: [(job: Int, outcome: JobOutcome)]) async throws {
    _ = try await settleAndLease(outcomes, lane: "apns", limit: 0, until: .distantFuture)
  }

  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: String, limit: Int, until: Date
  ) async throws -> [LeasedJob] {
    try await settleAndLease(outcomes, lane: SendingLane(lane), limit: limit, until: until).jobs
  }
}

extension Store {
  /// Inserts an event, for one publisher or for all.
  func record(_ type: String, _ data: String, publisher: UserID? = nil) async throws {
    let now = now()
    if let tables = tables as? PostgresTables {
      return try await tables.database.write { transaction in
        transaction.add(NewEvent(type: type, publisher: publisher, data: data, time: now))
      }
    }
    try await database.write { connection in
      try connection.add(NewEvent(type: type, publisher: publisher, data: data, time: now))
    }
  }
}

extension SQLiteDatabase {
  func value<T: Column & Sendable>(
    _ sql: String, _ values: any Parameter & Sendable..., as type: T.Type = T.self
  ) throws -> T? {
    try read { try $0.rows(sql, values: values, limit: 1) { try $0.next(T.self) }.first }
  }

  func all<T: Sendable>(
    _ sql: String, read body: @escaping @Sendable (inout SQLiteRow) throws -> T
  ) throws -> [T] {
    try read { try $0.rows(sql, values: [], limit: .max, read: body) }
  }
}
