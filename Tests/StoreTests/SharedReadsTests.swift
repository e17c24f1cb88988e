import Glibc
import Primitives
import Synchronization
import Testing

@testable import Store

@Suite(.sqlite, .timeLimit(.minutes(1))) struct SharedReadsTests {
  private let scratch = Scratch()

  @Test func `reads that are asked for at the same time share a transaction`() async throws {
    let database = try scratch.open().database
    #expect(try await inTransaction(1, database) == [false])
    #expect(try await inTransaction(5, database) == Array(repeating: true, count: 5))
    // The next ones begin another.
    #expect(try await inTransaction(2, database) == [true, true])
    #expect(try database.read { $0.isInTransaction } == false)
  }

  @Test func `each gets its own result, or its own error`() async throws {
    let database = try scratch.open().database
    let results = await together(6) { index in
      try await database.readTogether { connection in
        if index % 2 == 0 { throw StoreError(.missing, "\(index)") }
        return try connection.value("SELECT $1", index, as: Int.self)
      }
    }
    for (index, result) in results.enumerated() {
      switch result {
      case .success(let value): #expect(index % 2 == 1 && value == index)
      case .failure(let error): #expect(index % 2 == 0 && "\(error)".contains("\(index)"))
      }
    }
  }

  @Test func `a read sees what was committed before it was asked for`() async throws {
    let store = try scratch.open()
    let committed = Committed()
    try await withThrowingTaskGroup(of: Void.self) { group in
      group.addTask {
        for number in 1...100 {
          try await store.accounts.addUser("u\(number)", hash: "", role: .device)
          committed.number.withLock { $0 = number }
        }
      }
      for _ in 0..<4 {
        group.addTask {
          var before = 0
          while before < 100 {
            before = committed.number.withLock { $0 }
            let seen = try await store.database.readTogether { connection in
              try connection.value("SELECT count(*) FROM users", as: Int.self)
            }
            #expect((seen ?? 0) >= before)
          }
        }
      }
      try await group.waitForAll()
    }
  }

  @Test func `all fail if the database cannot be opened`() async throws {
    let store = try scratch.open()
    try #require(unlink(store.database.path) == 0)
    let results = await together(3) { _ in
      try await store.database.readTogether { $0.isInTransaction }
    }
    for result in results { #expect(throws: StoreError.self) { try result.get() } }
  }
}

private final class Committed: Sendable {
  let number = Mutex(0)
}

private let threads = BlockingExecutor(threads: 1)

private func inTransaction(_ count: Int, _ database: SQLiteDatabase) async throws -> [Bool] {
  try await together(count) { _ in
    try await database.readTogether { $0.isInTransaction }
  }.map { try $0.get() }
}

/// The results of tasks that are all waiting when the first of them begins.
private func together<R: Sendable>(
  _ count: Int, _ body: @escaping @Sendable (Int) async throws -> R
) async -> [Result<R, any Error>] {
  // The thread is busy with this until all are queued.
  let tasks = await Task(executorPreference: threads) {
    (0..<count).map { index in
      Task(executorPreference: threads) { () async -> Result<R, any Error> in
        do { return .success(try await body(index)) } catch { return .failure(error) }
      }
    }
  }.value
  var results: [Result<R, any Error>] = []
  for task in tasks { results.append(await task.value) }
  return results
}
