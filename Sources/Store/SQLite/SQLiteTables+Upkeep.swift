import FoundationEssentials
import Glibc
import Primitives

// MARK: - Checks

extension SQLiteTables {
  func check() async throws -> DatabaseFindings {
    // Reads the whole database, which takes long.
    try await BlockingQueue("store.check").run { [database] in
      var findings = DatabaseFindings()
      findings.problems = try database.column("PRAGMA integrity_check(20)", as: String.self)
        .filter { $0 != "ok" }
      findings.problems += try database.column("PRAGMA foreign_key_check")
        .map { "a dangling row in \($0 as String)" }
      return findings
    }
  }

  func size() -> Int {
    ["", "-wal"].reduce(0) { $0 + Int(clamping: stat(ofFile: database.path + $1)?.st_size ?? 0) }
  }

  func assetContents() throws -> [(richType: String, name: String, blob: Digest)] {
    try database.all("SELECT rich_type, name, blob FROM asset WHERE blob IS NOT NULL") {
      ($0, $1, $2)
    }
  }

  func notificationContents() throws -> [(id: Int, blob: Digest)] {
    try database.all("SELECT id, blob FROM notification WHERE blob IS NOT NULL") { ($0, $1) }
  }

  func removeStamp(_ richType: String, _ name: String, blob: Digest) async throws {
    try await database.run(
      "UPDATE asset SET stamp = '' WHERE rich_type = ? AND name = ? AND blob = ?", richType, name,
      blob)
  }

  // A copy of the database refers to other content than the original, in time.
  func contentOwner() -> String? { nil }

  func unreferenced(among blobs: [Digest]) throws -> [Digest] {
    try database.read { connection in
      try blobs.filter { try !connection.isReferenced($0) }
    }
  }
}

extension SQLiteConnection {
  /// Whether a notification or an asset has this content.
  fileprivate func isReferenced(_ blob: Digest) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM notification WHERE blob = ?1)
        OR EXISTS (SELECT 1 FROM asset WHERE blob = ?1)
      """, blob) == true
  }

  /// Keeps a blob from being collected before a reference to it is committed; throws `missing` if it is not
  /// stored.
  func requireRenewed(_ blob: Digest?, in blobs: Blobs) throws {
    guard let blob else { return }
    try blobs.requireRenewed(blob) { try isReferenced(blob) }
  }
}

// MARK: - Clean-up

extension SQLiteTables {
  /// Rows per commit, so that other changes are not delayed for long.
  private static let batch = 1000

  func removeExpiredNotifications(withdrawnBefore time: Date) async throws -> Int {
    let now = now()
    // Before the notifications, with which they would be deleted in one commit, all of a large audience.
    for (table, key) in [
      ("recipient", "recipient.user, recipient.notification"),
      ("device_receipt", "device_receipt.notification, device_receipt.user, registration"),
      ("push_event", "push_event.sequence"),
    ] {
      try await removeAll(
        """
        DELETE FROM \(table) WHERE (\(key)) IN (
          SELECT \(key) FROM notification CROSS JOIN \(table) ON \(table).notification = notification.id
          WHERE expires <= ? LIMIT \(Self.batch))
        """, now)
    }
    try await removeAll(
      """
      DELETE FROM job WHERE id IN (
        SELECT job.id FROM notification CROSS JOIN push ON push.notification = notification.id
          CROSS JOIN job ON job.push = push.id
        WHERE notification.expires <= ? LIMIT \(Self.batch))
      """, now)
    // The sender still sees that it was withdrawn; its content goes.
    try await removeAll(
      """
      UPDATE notification SET blob = NULL, blob_size = NULL, blob_type = NULL, details = NULL
      WHERE id IN (
        SELECT id FROM notification
        WHERE expires <= ? AND withdrawn IS NOT NULL AND (blob IS NOT NULL OR details IS NOT NULL)
        LIMIT 100)
      """, now)
    var removed = 0
    for (condition, end) in [("IS NULL", now), ("IS NOT NULL", time)] {
      removed += try await removeAll(
        """
        DELETE FROM notification
        WHERE id IN (
          SELECT id FROM notification WHERE expires <= ? AND withdrawn \(condition) LIMIT 100)
        """, end)
    }
    return removed
  }

  func removeHistory(before time: Date) async throws {
    try await removeOldest("push_event", "sequence", "created < ?", time)
    // A queued job may wait longer than that: for its time, or for an operator to repair the lane.
    try await removeAmongQueued(
      before: time, from: "job", where: "state <> 'queued' AND updated < ?3",
      created: "SELECT created FROM job JOIN push ON push.id = job.push "
        + "JOIN notification ON notification.id = push.notification WHERE job.id = ?")
    try await removeAmongQueued(
      before: time, from: "push",
      where: "?3 AND NOT EXISTS (SELECT 1 FROM job WHERE job.push = push.id)",
      created: "SELECT created FROM push JOIN notification ON notification.id = push.notification "
        + "WHERE push.id = ?")
    // Of a lane that nothing is to be sent by any more: a service that a device had chosen, for instance.
    try await database.run(
      """
      DELETE FROM lane_pause WHERE NOT EXISTS (
        SELECT 1 FROM job WHERE state = 'queued' AND job.lane = lane_pause.lane)
      """)
    let firstKept = try database.value(
      "SELECT id FROM notification WHERE created >= ? ORDER BY id LIMIT 1", time, as: Int.self)
    // Without one, none is removed: the first may be created meanwhile, with its key.
    guard let firstKept else { return }
    try await removeAll(
      """
      DELETE FROM idempotency WHERE notification IN (
        SELECT notification FROM idempotency WHERE notification < ? LIMIT \(Self.batch))
      """, firstKept)
  }

  func removeEvents(before time: Date, keeping count: Int) async throws {
    try await removeOldest("event", "sequence", "created < ?", time)
    try await removeOldest("event", "sequence", "sequence <= ?", try latestEvent() - count)
  }

  /// Removes rows that meet a condition on `old`.
  ///
  /// Numbers rise with time: if none of the oldest batch is old enough, none is.
  private func removeOldest(
    _ table: String, _ number: String, _ condition: String, _ value: some Column & Sendable
  ) async throws {
    try await removeAll(
      """
      DELETE FROM \(table) WHERE \(number) IN (
        SELECT \(number) FROM (SELECT * FROM \(table) ORDER BY \(number) LIMIT \(Self.batch)) AS old
        WHERE \(condition))
      """, value)
  }

  /// Removes rows that meet a condition on `?3`, a time, from those that are as old; any number of queued ones, which
  /// stay, may lie between them.
  ///
  /// `created` selects when the notification of a row was created: later rows are not old enough.
  private func removeAmongQueued(
    before time: Date, from table: String, where condition: String, created: String
  ) async throws {
    var last = 0
    while let next = try database.value(
      "SELECT max(id) FROM (SELECT id FROM \(table) WHERE id > ? ORDER BY id LIMIT \(Self.batch))",
      last, as: Int?.self) ?? nil
    {
      let isLast = try database.value(created, next, as: Date.self).map { $0 >= time } ?? false
      try await database.run(
        "DELETE FROM \(table) WHERE id > ?1 AND id <= ?2 AND \(condition)", last, next, time)
      if isLast { return }
      last = next
    }
  }

  func removeEndedRegistrations(before time: Date) async throws {
    while true {
      let count = try await database.write { connection in
        let users = try connection.column(
          """
          DELETE FROM registration WHERE id IN (
            SELECT id FROM (
              SELECT id, ended, row_number() OVER (PARTITION BY user ORDER BY ended DESC) AS number
              FROM registration WHERE ended IS NOT NULL)
            WHERE ended < ?1 OR number > ?2 LIMIT \(Self.batch))
          RETURNING user
          """, time, UserQuota.devices, as: UserID.self)
        connection.effects.add(users.map(Effect.credentialsEnded))
        return users.count
      }
      if count == 0 { return }
    }
  }

  /// Repeats a statement, a commit each, until it changes nothing; returns the rows it changed.
  @discardableResult
  private func removeAll(_ sql: String, _ value: some Column & Sendable) async throws -> Int {
    var total = 0
    while case let count = try await database.run(sql, value), count > 0 {
      total += count
    }
    return total
  }
}

// MARK: - Copies

extension SQLiteTables {
  /// Copies the database as of one moment, and verifies the copy.
  static func copyDatabase(from source: String, to target: String) throws {
    try SQLiteConnection.open(source, for: .copying).run("VACUUM INTO ?", target)
    let result = try SQLiteConnection.open(target, for: .reading).value(
      "PRAGMA integrity_check(1)", as: String.self)
    guard result == "ok" else {
      throw StoreError(.damaged, "the database is damaged (\(result ?? "no result"))")
    }
  }

  /// Every blob that a database refers to.
  static func blobs(in database: String) throws -> [Digest] {
    try SQLiteConnection.open(database, for: .reading).column(
      """
      SELECT blob FROM notification WHERE blob IS NOT NULL
      UNION SELECT blob FROM asset WHERE blob IS NOT NULL
      """)
  }
}
