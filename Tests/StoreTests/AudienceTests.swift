import CSQLite
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct AudienceTests {
  private let scratch = Scratch()

  private func store(with tags: [String: [String]]) async throws -> Store {
    let store = try scratch.open()
    for (id, tags) in tags {
      let user = try #require(
        try await store.accounts.userIDs(of: ["user of " + id], allowingPasswordless: true).values
          .first)
      _ = try await store.accounts.putRegistration(
        id, user: user, platform: "apns", handle: id, tags: tags)
    }
    return store
  }

  @Test(arguments: [
    ([TagClause(with: ["a"])], ["1", "2", "3"]),
    ([TagClause(with: ["a", "b"])], ["2", "3"]),
    ([TagClause(with: ["b", "a"], without: ["c"])], ["2"]),
    ([TagClause(with: ["a", "b", "c"]), TagClause(with: ["d"])], ["3", "4"]),
    ([TagClause(with: [], without: ["a"])], ["4", "5"]),
    ([TagClause(with: ["nobody's"])], []),
    ([], []),
  ])
  func `finds the devices of an audience`(_ clauses: [TagClause], _ ids: [String]) async throws {
    let store = try await store(with: [
      "1": ["a"], "2": ["a", "b"], "3": ["a", "b", "c"], "4": ["d"], "5": [],
    ])
    #expect(try await store.accounts.devices(matching: clauses).map(\.registration) == ids)
  }

  @Test func `costs no more when 100,000 are registered`() async throws {
    let store = try scratch.open()
    let clause = TagClause(with: ["common", "rare"], without: ["muted"])
    func register(_ range: Range<Int>) async throws {
      try await store.database.write { connection in
        try connection.script(
          """
          CREATE TEMP TABLE fresh AS WITH RECURSIVE number(n) AS (
            SELECT \(range.lowerBound) UNION ALL SELECT n + 1 FROM number WHERE n + 1 < \(range.upperBound)
          ) SELECT n FROM number;
          INSERT INTO registration(id, user, platform, handle, updated) SELECT n, 1, 'apns', n, 0 FROM fresh;
          INSERT INTO registration_tag SELECT 'common', n FROM fresh;
          INSERT INTO registration_tag SELECT iif(n < 10, 'rare', 'muted'), n FROM fresh;
          DROP TABLE fresh
          """)
      }
    }
    try await register(0..<11_000)
    let before = try steps(of: clause, in: store)
    try await register(11_000..<100_000)
    let after = try steps(of: clause, in: store)
    #expect(try await store.accounts.devices(matching: [clause]).count == 10)
    #expect(after == before)
  }

  /// How many instructions SQLite's machine runs to find a clause's devices.
  private func steps(of clause: TagClause, in store: Store) throws -> Int {
    try store.database.read { connection in
      var steps = 0
      try withUnsafeMutablePointer(to: &steps) { counter in
        sqlite3_progress_handler(
          connection.handle, 1,
          {
            $0?.assumingMemoryBound(to: Int.self).pointee += 1
            return 0
          }, counter)
        defer { sqlite3_progress_handler(connection.handle, 0, nil, nil) }
        _ = try connection.devices(matching: clause)
      }
      return steps
    }
  }
}
