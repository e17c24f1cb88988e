import CSQLite
import Dispatch
import FoundationEssentials
import Glibc
import Synchronization
import Testing
import Waiting

@testable import Store

@Suite(.sqlite, .timeLimit(.minutes(1))) struct SQLiteWriterTests {
  private let scratch = Scratch()

  @Test func `fails one change of a commit without the others`() async throws {
    let store = try scratch.open()
    let failures = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<60 {
        group.addTask {
          // Every third name is taken by the one before it.
          let name = index % 3 == 2 ? "user\(index / 3)" : "user\(index / 3)-\(index)"
          do {
            try await store.accounts.addUser(name, hash: "", role: .device)
            try await store.accounts.addUser(name, hash: "", role: .device)
          } catch { return true }
          return false
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 60)
    #expect(try await store.accounts.users().count == 60)
  }

  @Test func `a query may run inside another of the same text`() throws {
    let connection = try SQLiteConnection.open(scratch.folder + "/nested.db", for: .writing)
    let query = "SELECT value FROM json_each($1)"
    for _ in 0..<2 {
      let rows = try connection.all(query, "[1,2]") { row in
        [try row.next(Int.self)] + (try connection.column(query, "[3,4]", as: Int.self))
      }
      #expect(rows == [[1, 3, 4], [2, 3, 4]])
    }
  }

  @Test func `a statement with many values tells which of them changed a row`() throws {
    let connection = try SQLiteConnection.open(scratch.folder + "/changes.db", for: .writing)
    try connection.script("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT NOT NULL)")
    func insert(_ notes: [(Int, String?)]) throws -> [Bool] {
      try connection.changes("INSERT INTO note VALUES ($1, $2) ON CONFLICT DO NOTHING", notes) {
        $0
      }
    }
    #expect(try insert([(1, "a"), (1, "b"), (2, "")]) == [true, false, true])
    #expect(throws: StoreError.self) { try insert([(3, "c"), (4, nil)]) }
    #expect(try insert([(3, "d"), (4, "e")]) == [false, true])
    #expect(
      try connection.column("SELECT text FROM note ORDER BY id", as: String.self) == [
        "a", "", "c", "e",
      ])
  }

  @Test func `many rows are inserted and looked up one by one`() throws {
    let connection = try SQLiteConnection.open(scratch.folder + "/rows.db", for: .writing)
    try connection.script("CREATE TABLE note(id INTEGER PRIMARY KEY, text TEXT)")
    for rows in [0..<0, 0..<1, 1..<50, 50..<100, 100..<207] {
      try connection.insert("INSERT INTO note VALUES", "(?, ?)", Array(rows)) {
        ($0, $0 == 3 ? nil : "\($0)")
      }
    }
    let ids = Array(0...207)
    let texts = try connection.values(
      "SELECT text FROM note WHERE id = $1", ids, as: String?.self
    ) { $0 }
    #expect(texts == ids.map { $0 == 207 ? nil : $0 == 3 ? .some(nil) : "\($0)" })
    #expect(throws: StoreError.self) {
      try connection.insert("INSERT INTO note VALUES", "(?, ?)", [300, 0]) { ($0, "again") }
    }
  }

  @Test func `commits delayed changes alone, in a crowd and with others`() async throws {
    let store = try scratch.open()
    @Sendable func add(_ name: String, expectedBatch: Int) async throws {
      _ = try await store.database.write(expectedBatch: expectedBatch) { connection in
        try connection.run(
          "INSERT INTO users(name, hash, role, created) VALUES ($1, '', 'device', 0)", name)
      }
    }
    try await add("alone", expectedBatch: 2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask { try await add("user\(index)", expectedBatch: index % 7 == 6 ? 1 : 300) }
      }
      try await group.waitForAll()
    }
    try await add("last", expectedBatch: 2)
    #expect(try await store.accounts.users().count == 202)
  }

  @Test func `commits as soon as all are there that were to come`() async throws {
    let path = "\(scratch.folder)/patient.db"
    let connection = try SQLiteConnection.open(path, for: .writing)
    try connection.script("CREATE TABLE guest(name)")
    let checkpointer = try Checkpointer(path)
    // Without the third, it would wait until the test's time is over.
    let writer = SQLiteWriter(
      connection, checkpointer: checkpointer, observers: CommitObservers(),
      batchTimeout: .seconds(3600))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<3 {
        group.addTask {
          try await writer.write(expectedBatch: 3) { connection in
            try connection.run("INSERT INTO guest VALUES ($1)", index)
          }
        }
      }
      let count = try await group.reduce(0, +)
      #expect(count == 3)
    }
  }

  @Test func `what may wait is committed together with the next change`() async throws {
    let path = "\(scratch.folder)/patient.db"
    let connection = try SQLiteConnection.open(path, for: .writing)
    try connection.script("CREATE TABLE guest(name)")
    let checkpointer = try Checkpointer(path)
    let commits = Mutex(0)
    let observers = CommitObservers()
    observers.onCommit.add { commits.withLock { $0 += 1 } }
    let writer = SQLiteWriter(
      connection, checkpointer: checkpointer, observers: observers, batchTimeout: .seconds(3600))
    writer.writeSoon(within: .seconds(3600)) { connection in
      try connection.run("INSERT INTO guest VALUES ('patient')")
    } onFailure: {
      Issue.record($0)
    }
    let (guests, earlier) = try await writer.write(expectedBatch: 1) { it in
      (try it.value("SELECT count(*) FROM guest", as: Int.self), commits.withLock { $0 })
    }
    #expect(guests == 1 && earlier == 0)
  }

  @Test func `what may wait for long does not delay what waits for a moment`() async throws {
    let path = "\(scratch.folder)/patient.db"
    let connection = try SQLiteConnection.open(path, for: .writing)
    try connection.script("CREATE TABLE guest(name)")
    let writer = SQLiteWriter(
      connection, checkpointer: try Checkpointer(path), observers: CommitObservers())
    writer.writeSoon(within: .seconds(3600)) { connection in
      try connection.run("INSERT INTO guest VALUES ('patient')")
    } onFailure: {
      Issue.record($0)
    }
    // One of a hundred that do not come.
    let guests = try await writer.write(expectedBatch: 100) { connection in
      try connection.value("SELECT count(*) FROM guest", as: Int.self)
    }
    #expect(guests == 1)
  }

  @Test func `the log is copied into the database by another thread`() async throws {
    let store = try scratch.open()
    let text = String(repeating: "x", count: 100_000)
    for index in 0..<60 {
      try await store.accounts.addUser("user\(index)", hash: text, role: .device)
    }
    try await eventually("the database has grown") {
      (stat(ofFile: store.database.path)?.st_size ?? 0) > 3_000_000
    }
  }

  @Test func `commits what waits together at one stroke`() async throws {
    let store = try scratch.open()
    let commits = Commits()
    try await store.database.write { connection in
      _ = sqlite3_commit_hook(
        connection.handle,
        { commits in
          guard let commits else { return 0 }
          Unmanaged<Commits>.fromOpaque(commits).takeUnretainedValue().count
            .add(1, ordering: .relaxed)
          return 0
        }, Unmanaged.passUnretained(commits).toOpaque())
    }
    let before = commits.count.load(ordering: .relaxed)
    let gate = DispatchSemaphore(value: 0)
    store.database.writeSoon { _ in gate.wait() }
    for index in 0..<50 {
      store.database.writeSoon { connection in
        try connection.run(
          "INSERT INTO users(name, hash, role, created) VALUES ($1, '', 'device', 0)",
          "user\(index)")
      }
    }
    gate.signal()
    try await store.accounts.addUser("last", hash: "", role: .device)
    #expect(try await store.accounts.users().count == 51)
    #expect(commits.count.load(ordering: .relaxed) - before <= 3)
    try await store.database.write { connection in
      _ = sqlite3_commit_hook(connection.handle, nil, nil)
    }
  }

  @Test func `syncs the log at every commit`() async throws {
    let store = try scratch.open()
    let settings = try await store.database.write { connection in
      [
        try connection.value("PRAGMA journal_mode", as: String.self),
        try connection.value("PRAGMA synchronous", as: String.self),
        try connection.value("PRAGMA foreign_keys", as: String.self),
        try connection.value("PRAGMA journal_size_limit", as: String.self),
      ]
    }
    #expect(settings == ["wal", "2", "1", "\(64 << 20)"])
  }

  @Test func `the log does not grow with the number of commits`() async throws {
    let store = try scratch.open()
    let message = String(repeating: "x", count: 200_000)
    for _ in 0..<200 { _ = try await store.notifications.create(.any(to: alice, message: message)) }
    let log = try #require(stat(ofFile: "\(scratch.folder)/richpush.db-wal"))
    #expect(log.st_size < 32 << 20)
  }

  @Test func `a large audience that has expired is removed in several commits`() async throws {
    let store = try scratch.open()
    let names = Set((0..<2500).map { "user\($0)" })
    let users = try await store.accounts.userIDs(of: names, allowingPasswordless: true).values
    let commits = Mutex(0)
    store.observers.onCommit.add { commits.withLock { $0 += 1 } }
    var needed: [Int] = []
    for recipients in [[alice], Array(users)] {
      var new = NotificationInsert.any(to: alice)
      (new.recipients, new.expires) = (recipients, scratch.now + 1)
      let id = try await store.notifications.create(new).notification.id
      try await store.notifications.completeAudience(of: id)
      scratch.pass(2)
      await store.observersAreTold()
      let before = commits.withLock { $0 }
      _ = try await store.collect(Retention())
      await store.observersAreTold()
      needed.append(commits.withLock { $0 } - before)
      #expect(try await store.notifications.receipts(of: id).isEmpty)
    }
    // At least: changes that are made at the same time share a commit.
    #expect(needed[1] >= needed[0] + 2)
  }

  @Test func `waits for a change that another process is making`() async throws {
    let store = try scratch.open()
    try await store.probe()
    let other = try SQLiteConnection.open("\(scratch.folder)/richpush.db", for: .writing)
    try other.script("BEGIN IMMEDIATE")
    async let added: Void = store.accounts.addUser("bob", hash: "", role: .device)
    func turns() -> Bool {
      let group = DispatchGroup()
      store.database.turn(group)
      return group.wait(timeout: .now() + .milliseconds(20)) == .success
    }
    try await eventually("the writer waits") { !turns() }
    try other.script("COMMIT")
    try await added
  }

  @Test func `reports success only of what was committed`() async throws {
    let store = try scratch.open()
    // With its check deferred, a row that refers to nothing fails the COMMIT.
    await #expect {
      try await store.database.write { connection in
        try connection.script("PRAGMA defer_foreign_keys = ON")
        try connection.run("INSERT INTO registration_tag VALUES ('tag', 'nobody')")
      }
    } throws: { ($0 as? StoreError)?.code == .conflict }
    #expect(try store.database.value("SELECT count(*) FROM registration_tag", as: Int.self) == 0)
    try await store.accounts.addUser("bob", hash: "", role: .device)
  }

  @Test func `undoes a change that fails half-way`() async throws {
    let store = try scratch.open()
    async let good: Void = store.accounts.addUser("good", hash: "", role: .device)
    await #expect(throws: StoreError(.failed, "on purpose")) {
      try await store.database.write { connection in
        try connection.run(
          "INSERT INTO users(name, hash, role, created) VALUES ('half', '', 'device', 0)")
        throw StoreError(.failed, "on purpose")
      }
    }
    try await good
    #expect(try await store.accounts.users().map(\.name) == ["good"])
  }

  @Test func `says that the disk is full and goes on when it is not`() async throws {
    let store = try scratch.open()
    _ = try await store.notifications.create(.any(to: alice))
    let pages = try await store.database.write { connection in
      try connection.value("PRAGMA page_count", as: Int.self) ?? 0
    }
    try await limit(store, to: pages)
    let large = NotificationInsert.any(to: alice, message: String(repeating: "x", count: 1 << 20))
    await #expect { try await store.notifications.create(large) } throws: {
      ($0 as? StoreError)?.code == .full
    }
    #expect(try await store.notifications.inbox(of: alice, limit: 9).count == 1)
    try await limit(store, to: 1 << 30)
    #expect(try await store.notifications.create(large).notification.id == 1)
  }

  private func limit(_ store: Store, to pages: Int) async throws {
    try await store.database.write { connection in
      _ = try connection.value("PRAGMA max_page_count = \(pages)", as: Int.self)
    }
  }
}

private final class Commits: Sendable {
  let count = Atomic(0)
}
