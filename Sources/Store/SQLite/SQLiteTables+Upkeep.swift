import FoundationEssentials
import Glibc
import Primitives

// MARK: - Checks

extension SQLiteTables {
  func check() async throws -> DatabaseFindings {
    // Reads the whole database, which takes long.
    try await BlockingQueue("store.check").run { [database] in
      try database.read { connection in
        var findings = DatabaseFindings()
        do {
          findings.problems = try connection.column("PRAGMA integrity_check(20)", as: String.self)
            .filter { $0 != "ok" }
        } catch let error as StoreError where error.code == .damaged {
          findings.problems = [error.reason]
        }
        // What is damaged cannot be read further.
        guard findings.problems.isEmpty else { return findings }
        findings.problems += try connection.column("PRAGMA foreign_key_check")
          .map { "a dangling row in \($0 as String)" }
        return findings
      }
    }
  }

  func size() -> Int {
    ["", "-wal"].reduce(0) { $0 + Int(clamping: stat(ofFile: database.path + $1)?.st_size ?? 0) }
  }

  // A copy of the database refers to other content than the original, in time.
  func contentOwner() -> String? { nil }
}

// MARK: - Copies

extension SQLiteTables {
  func copy(to folder: DataFolder, _ dump: (DatabaseDump) throws -> Void) throws -> [Digest] {
    try Self.copy(database.path, to: folder.database)
  }

  /// Copies a database as of one moment without the keys of session tickets, verifies the copy, and returns every blob to
  /// which it refers.
  static func copy(_ source: String, to target: String) throws -> [Digest] {
    try SQLiteConnection.open(source, for: .copying).run("VACUUM INTO $1", target)
    try SQLiteConnection.forgetTicketKeys(at: target)
    let copy = try SQLiteConnection.open(target, for: .reading)
    let result = try copy.value("PRAGMA integrity_check(1)", as: String.self)
    guard result == "ok" else {
      throw StoreError(.damaged, "the database is damaged (\(result ?? "no result"))")
    }
    return try copy.referencedBlobs()
  }
}

// MARK: - What is left of removed rows

extension SQLiteTables {
  /// While it is rewritten, changes wait; they would fail after ten seconds.
  private static var largestRewritten: Int { 512 << 20 }

  func eraseRemovedRows(isAlone: Bool) async throws -> String? {
    let (size, free) = (size(), DiskSpace(of: database.path)?.free ?? 0)
    // It is written twice: to a temporary file, and to the write-ahead log.
    let isRewritten =
      isAlone || (size <= Self.largestRewritten && free >= 2 * size + (64 << 20))
    let isDone = try await BlockingQueue("store.erasure").run { [path = database.path] in
      for copy in SQLiteSchema.copiesBeforeMigration(at: path) { Glibc.unlink(copy) }
      let connection = try SQLiteConnection.open(path, for: .copying)
      // Parts of rows may be left where SQLite has moved others: only a new file has none.
      if isRewritten { try connection.script("VACUUM") }
      let isBusy = try connection.value("PRAGMA wal_checkpoint(TRUNCATE)", as: Int.self)
      return isRewritten && isBusy == 0
    }
    return isDone
      ? nil
      : "parts of removed rows may be left in the database file: stop the server, and run richpush user erase --number "
        + "with the user's number"
  }

  // One change is under way at a time.
  func awaitReferences() async throws {}
}
