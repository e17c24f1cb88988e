import CSQLite
import Dispatch
import Synchronization
import Testing

@testable import Store

@Suite struct WriterTests {
  private let scratch = Scratch()

  @Test func `fails one change of a commit without the others`() async throws {
    let store = try scratch.open()
    let failures = await withTaskGroup(of: Bool.self) { group in
      for index in 0..<60 {
        group.addTask {
          // Every third name is taken by the one before it.
          let name = index % 3 == 2 ? "user\(index / 3)" : "user\(index / 3)-\(index)"
          do {
            try await store.addUser(name, hash: "", role: .device)
            try await store.addUser(name, hash: "", role: .device)
          } catch { return true }
          return false
        }
      }
      return await group.reduce(0) { $0 + ($1 ? 1 : 0) }
    }
    #expect(failures == 60)
    #expect(try store.users().count == 60)
  }

  @Test(arguments: [false, true])
  func `a change that is not undoable fails alone, unless it has changed something`(
    _ hasChanged: Bool
  ) async throws {
    let store = try scratch.open()
    let insert = "INSERT INTO user(name, hash, role, created) VALUES (?, '', 'device', 0)"
    let gate = DispatchSemaphore(value: 0)
    await withCheckedContinuation { begun in
      store.database.writeSoon { _ in
        begun.resume()
        gate.wait()
      }
    }
    // These two wait together, and are committed together.
    store.database.writeSoon { try $0.run(insert, "another") }
    let failing = Task.immediate {
      try await store.database.write(isUndoable: false) { connection in
        if hasChanged { try connection.run(insert, "half") }
        throw CancellationError()
      }
    }
    gate.signal()
    await #expect(throws: CancellationError.self) { try await failing.value }
    try await store.addUser("last", hash: "", role: .device)
    #expect(try store.users().map(\.name).sorted() == (hasChanged ? [] : ["another"]) + ["last"])
  }

  @Test(.timeLimit(.minutes(1)))
  func `commits what is in no hurry soon, alone, in a crowd and with what is`() async throws {
    let store = try scratch.open()
    @Sendable func add(_ name: String, company: Int) async throws {
      try await store.database.write(company: company) { connection in
        try connection.run(
          "INSERT INTO user(name, hash, role, created) VALUES (?, '', 'device', 0)", name)
      }
    }
    try await add("alone", company: 2)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<200 {
        group.addTask { try await add("user\(index)", company: index % 7 == 6 ? 1 : 300) }
      }
      try await group.waitForAll()
    }
    try await add("last", company: 2)
    #expect(try store.users().count == 202)
  }

  @Test(.timeLimit(.minutes(1)))
  func `commits as soon as all are there that were to come`() async throws {
    let connection = try Connection.open("\(scratch.folder)/patient.db", for: .writing)
    try connection.script("CREATE TABLE guest(name)")
    let writer = Writer(connection, patience: .seconds(3600))
    try await withThrowingTaskGroup(of: Int.self) { group in
      for index in 0..<3 {
        group.addTask {
          try await writer.write(company: 3, isUndoable: true) { connection in
            try connection.run("INSERT INTO guest VALUES (?)", index)
          }
        }
      }
      let count = try await group.reduce(0, +)
      #expect(count == 3)
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
          "INSERT INTO user(name, hash, role, created) VALUES (?, '', 'device', 0)", "user\(index)")
      }
    }
    gate.signal()
    try await store.addUser("last", hash: "", role: .device)
    #expect(try store.users().count == 51)
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
      ]
    }
    #expect(settings == ["wal", "2", "1"])
  }

  @Test func `undoes a change that fails half-way`() async throws {
    let store = try scratch.open()
    async let good: Void = store.addUser("good", hash: "", role: .device)
    await #expect(throws: StoreError(.failed, "on purpose")) {
      try await store.database.write { connection in
        try connection.run(
          "INSERT INTO user(name, hash, role, created) VALUES ('half', '', 'device', 0)")
        throw StoreError(.failed, "on purpose")
      }
    }
    try await good
    #expect(try store.users().map(\.name) == ["good"])
  }

  @Test func `says that the disk is full and goes on when it is not`() async throws {
    let store = try scratch.open()
    _ = try await store.create(.any(to: alice))
    let pages = try await store.database.write { connection in
      try connection.value("PRAGMA page_count", as: Int.self) ?? 0
    }
    try await limit(store, to: pages)
    let large = NewNotification.any(to: alice, message: String(repeating: "x", count: 1 << 20))
    await #expect { try await store.create(large) } throws: { ($0 as? StoreError)?.code == .full }
    #expect(try store.inbox(of: alice, limit: 9).count == 1)
    try await limit(store, to: 1 << 30)
    #expect(try await store.create(large).notification.id == 1)
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
