import Glibc

/// How far a migration of records has come.
package struct MigrationProgress: Sendable {
  /// What is being done.
  package enum Phase: Sendable {
    case reading
    case copying
    case comparing
  }

  /// What is being done.
  package let phase: Phase
  /// The table, by its name in the new database.
  package let table: String
  /// The rows of it that are done.
  package let rows: Int
  /// How many it has; nil while they are counted.
  package let total: Int?
}

/// What a migration has moved.
package struct MigrationReport: Sendable, Equatable {
  /// The rows in the new database.
  package internal(set) var rows = 0
  /// The rows from an earlier, interrupted run.
  package internal(set) var earlier = 0
  /// The blobs that the records refer to, and that stay where they are.
  package internal(set) var blobs = 0
}

// 1. The source is locked: no server and no command can change it. Each of its tables is read and summarized.
// 2. The tables are created, together with `unfinished_migration`, which has the summaries. If it exists, the
//    summaries must be the same: then what was copied before is still what the source has.
// 3. Each table is copied in the order of its keys. Each transaction notes the last key.
// 4. Each table of the target is read and compared with its summary.
// 5. The data folder notes where its records are, and `unfinished_migration` is removed.
extension Store {
  /// Rows in a transaction: few enough that little is lost when it is interrupted.
  private static let migrationBatch = 20_000

  /// Copies the records of a data folder into an empty PostgreSQL database, or goes on with that.
  ///
  /// The files in the folder stay as they are. Afterwards it is used with that database only.
  ///
  /// `address` is the URL for people, without a password; `progress` is called every few thousand rows. Throws `missing` or `inUse`
  /// for the folder, and `conflict` if the database is used for something else.
  package static func migrate(
    folder path: String, to url: String, address: String,
    progress: @escaping @Sendable (MigrationProgress) -> Void
  ) async throws -> MigrationReport {
    try await BlockingQueue("store.migrate").run {
      try migrateBlocking(folder: path, to: url, address: address, progress)
    }
  }

  private static func migrateBlocking(
    folder path: String, to url: String, address: String,
    _ progress: (MigrationProgress) -> Void
  ) throws -> MigrationReport {
    let existing = DataFolder(existing: path)
    guard let status = stat(ofFile: existing.database), status.st_size > 0 else {
      let reason = stat(ofFile: path) == nil ? "does not exist" : "has no database"
      throw StoreError(.missing, "the data folder \(path) \(reason)")
    }
    let folder = try DataFolder(path, creates: false)
    let lock = try folder.lock()
    defer { withExtendedLifetime(lock) {} }
    // Before the source is read: that takes long.
    let target = try PostgresMigrationTarget(url)
    let source = try SQLiteMigrationSource.open(folder.database)
    let summaries = try MigratedTable.all.map { table in
      var summary = TableSummary()
      try source.forEachRow(of: table) { line in
        line.bytes.withUnsafeBytes { summary.add($0) }
        table.report(.reading, summary.rows, of: nil, to: progress)
      }
      return summary
    }
    try target.begin(summaries)
    var report = MigrationReport()
    for (table, summary) in zip(MigratedTable.all, summaries) {
      report.earlier += try copy(table, from: source, to: target, of: summary.rows, progress)
      report.rows += summary.rows
    }
    let numbers = try source.numbers()
    try target.set(numbers)
    try compare(target, summaries, numbers, progress)
    report.blobs = try source.referencedBlobs().count
    try folder.setDatabase(address)
    try target.finish()
    return report
  }

  /// Copies what is missing of a table; returns how many rows were there.
  private static func copy(
    _ table: MigratedTable, from source: borrowing SQLiteMigrationSource,
    to target: PostgresMigrationTarget, of total: Int, _ progress: (MigrationProgress) -> Void
  ) throws -> Int {
    let (start, earlier) = try target.position(of: table)
    var (key, rows) = (start, earlier)
    while rows < total {
      let count = try target.add(to: table) { writer in
        key = try source.forEachRow(of: table, after: key, limit: migrationBatch) { line in
          try writer.add(line)
          table.report(.copying, rows + writer.count, of: total, to: progress)
        }
        return key
      }
      if count == 0 { break }
      rows += count
    }
    return earlier
  }

  /// Throws `damaged` if the target has not what the source has.
  private static func compare(
    _ target: PostgresMigrationTarget, _ summaries: [TableSummary], _ numbers: MigrationNumbers,
    _ progress: (MigrationProgress) -> Void
  ) throws {
    var problems: [String] = []
    for (table, expected) in zip(MigratedTable.all, summaries) {
      let found = try target.summary(of: table) { rows in
        table.report(.comparing, rows, of: expected.rows, to: progress)
      }
      if found.rows != expected.rows {
        problems.append("\(table.name) has \(found.rows) rows instead of \(expected.rows)")
      } else if found != expected {
        problems.append("\(table.name) has other content")
      }
    }
    if try target.numbers() != numbers { problems.append("the numbers of new rows are wrong") }
    guard problems.isEmpty else {
      throw StoreError(
        .damaged,
        "the copy differs from the data folder (\(problems.joined(separator: "; "))): "
          + "remove the database, create it and begin again")
    }
  }
}

extension MigratedTable {
  /// Reports every few thousand rows, because it is called for each.
  fileprivate func report(
    _ phase: MigrationProgress.Phase, _ rows: Int, of total: Int?,
    to progress: (MigrationProgress) -> Void
  ) {
    guard rows.isMultiple(of: 5000) else { return }
    progress(MigrationProgress(phase: phase, table: name, rows: rows, total: total))
  }
}
