import FoundationEssentials
import Primitives
import Synchronization

// MARK: - Checks

extension EngineTables {
  func assetContents() async throws -> [(richType: String, name: String, blob: Digest)] {
    try await database.read { connection in
      try connection.all("SELECT rich_type, name, blob FROM asset WHERE blob IS NOT NULL") {
        ($0, $1, $2)
      }
    }
  }

  func notificationContents() async throws -> [(id: Int, blob: Digest)] {
    try await database.read { connection in
      try connection.all("SELECT id, blob FROM notification WHERE blob IS NOT NULL") { ($0, $1) }
    }
  }

  func versionContents() async throws -> [(richType: String, name: String, blob: Digest)] {
    try await database.read { connection in
      try connection.all("SELECT rich_type, name, blob FROM asset_version") { ($0, $1, $2) }
    }
  }

  func removeVersion(_ richType: String, _ name: String, blob: Digest) async throws {
    try await database.run(
      "DELETE FROM asset_version WHERE rich_type = $1 AND name = $2 AND blob = $3", richType, name,
      blob)
  }

  func removeStamp(_ richType: String, _ name: String, blob: Digest) async throws {
    try await database.run(
      "UPDATE asset SET stamp = '' WHERE rich_type = $1 AND name = $2 AND blob = $3", richType,
      name, blob)
  }

  func unreferenced(among blobs: [Digest]) async throws -> [Digest] {
    try await database.read { try $0.unreferenced(among: blobs) }
  }

  func removeUnreferencedFiles(of digests: [Digest]) async throws {
    if digests.isEmpty { return }
    try await database.write { [blobs] transaction in
      for digest in try transaction.unreferenced(among: digests) {
        _ = blobs.remove(digest, ifOlderThan: .distantFuture)
      }
    }
  }
}

extension Queryable {
  /// Those of some blobs to which no record refers.
  fileprivate func unreferenced(among blobs: [Digest]) throws -> [Digest] {
    let referenced = Set(
      try column(
        """
        SELECT blob FROM notification WHERE blob \(isIn("$1"))
        UNION SELECT blob FROM asset WHERE blob \(isIn("$1"))
        UNION SELECT blob FROM asset_version WHERE blob \(isIn("$1"))
        """, blobs, as: Digest.self))
    return blobs.filter { !referenced.contains($0) }
  }

  /// Every blob to which a record refers.
  func referencedBlobs() throws -> [Digest] {
    try column(
      """
      SELECT blob FROM notification WHERE blob IS NOT NULL
      UNION SELECT blob FROM asset WHERE blob IS NOT NULL
      UNION SELECT blob FROM asset_version
      """)
  }
}

extension Changing {
  /// Keeps a blob from being collected before a reference to it is committed; throws `missing` if it is not
  /// stored.
  func requireRenewed(_ blob: Digest?, in blobs: Blobs) throws {
    guard let blob else { return }
    if blobs.objects != nil { try requireNoRemoval(of: blob, by: blobs) }
    try blobs.requireRenewed(blob) {
      try value(
        """
        SELECT EXISTS (SELECT 1 FROM notification WHERE blob = $1)
          OR EXISTS (SELECT 1 FROM asset WHERE blob = $1)
          OR EXISTS (SELECT 1 FROM asset_version WHERE blob = $1)
        """, blob) == true
    }
  }

  /// Throws `busy` if a blob was erased, and the object store may still lose it, or this node does not know yet that it
  /// has lost it.
  ///
  /// The removal waits for the end of this transaction (``Erasures/awaitReferences()``).
  private func requireNoRemoval(of blob: Digest, by blobs: Blobs) throws {
    let source = Rendition.source(of: blob)
    let erasure = try first(
      """
      SELECT erased, EXISTS (
        SELECT 1 FROM erased_object WHERE erased_object.source = erased_content.source)
      FROM erased_content WHERE source = $1 \(lock("FOR KEY SHARE"))
      """, source
    ) { row in (time: try row.next(Date.self), isUnderWay: try row.next(Bool.self)) }
    guard let erasure else { return }
    if erasure.isUnderWay || blobs.erased.withLock({ $0[source] }) != erasure.time {
      throw StoreError(.busy, "the same content is being removed; try again")
    }
  }
}

// MARK: - Clean-up

extension EngineTables {
  /// Rows per commit, so that other changes are not delayed for long.
  private static var batch: Int { 1000 }

  func removeExpiredNotifications(before time: Date) async throws -> Int {
    let now = now()
    let named = try await database.read { try $0.notificationsOfAudiences() }
    try await removeRows(
      ofNotifications: "SELECT id FROM notification WHERE emptied IS NULL AND expires <= $1", now,
      keepingRecipientsOf: named)
    // Its sender still sees what became of it; its content goes. What another node has added meanwhile is for next time.
    try await removeAll(
      """
      UPDATE notification
      SET emptied = 1, blob = NULL, blob_size = NULL, blob_type = NULL, details = NULL
      WHERE id IN (
        SELECT id FROM notification WHERE emptied IS NULL AND expires <= $1
          AND \(named.isNot("id"))
          AND NOT EXISTS (SELECT 1 FROM recipient WHERE recipient.notification = notification.id)
          AND NOT EXISTS (
            SELECT 1 FROM job JOIN push ON push.id = job.push
            WHERE push.notification = notification.id)
        LIMIT 100)
      """, now)
    try await removeAll(
      """
      DELETE FROM interaction WHERE id IN (
        SELECT interaction.id FROM interaction
          JOIN notification ON notification.id = interaction.notification
        WHERE emptied = 1 AND expires <= $1 LIMIT \(Self.batch))
      """, time)
    return try await removeAll(
      """
      DELETE FROM notification WHERE id IN (
        SELECT id FROM notification WHERE emptied = 1 AND expires <= $1 LIMIT 100)
      """, time)
  }

  /// Removes what would be deleted with notifications, whose numbers a query selects, in parts: a statement must end
  /// within seconds.
  private func removeRows(
    ofNotifications query: String, _ value: some Parameter & Sendable,
    keepingRecipientsOf named: Set<Int> = []
  ) async throws {
    let isOfThem = "notification IN (\(query))"
    let isNotKept = "\(isOfThem) AND \(named.isNot("notification"))"
    for (table, key, condition) in [
      ("audience_part", ["id"], isNotKept),
      ("recipient", ["user_id", "notification"], isNotKept),
      ("recipient_values", ["notification", "user_id"], isOfThem),
      ("device_receipt", ["notification", "user_id", "registration"], isOfThem),
      ("push_event", ["sequence"], isOfThem),
      ("job", ["id"], "push IN (SELECT id FROM push WHERE \(isOfThem))"),
      ("push", ["id"], isOfThem),
    ] {
      let some = "FROM \(table) WHERE \(condition) LIMIT \(Self.batch)"
      while try await removeSome({ transaction in
        let isAmong = transaction.isAmong(some, of: table, key: key)
        return try transaction.run("DELETE FROM \(table) WHERE \(isAmong)", value)
      }) > 0 {}
    }
  }

  func removeNotifications(before time: Date) async throws -> Int {
    guard let end = try await endOfNotifications(before: time) else { return 0 }
    let isOver = """
      created < $1 AND coalesce(not_before, created) < $1
        AND NOT EXISTS (SELECT 1 FROM audience_part WHERE audience_part.notification = notification.id)
        AND NOT EXISTS (SELECT 1 FROM due_audience WHERE due_audience.notification = notification.id)
        AND NOT EXISTS (SELECT 1 FROM held_event WHERE held_event.notification = notification.id)
        AND NOT EXISTS (
          SELECT 1 FROM push JOIN job ON job.push = push.id
          WHERE push.notification = notification.id AND job.state = 'queued')
      """
    var (total, next) = (0, 0)
    while next < end {
      // Some at once: the first time there may be millions.
      let found = try await database.read { [next] connection in
        try connection.all(
          """
          SELECT id, CASE WHEN local_time IS NULL AND per_minute IS NULL THEN 0 ELSE 1 END
          FROM notification WHERE id >= $2 AND id < $3 AND \(isOver) ORDER BY id LIMIT 100
          """, time, next, end
        ) { row in (id: try row.next(Int.self), hasTimes: try row.next(Int.self) == 1) }
      }
      guard let last = found.last?.id else { break }
      next = last + 1
      var ids: [Int] = []
      for (id, hasTimes) in found {
        if hasTimes, try await isForSome(id, since: time) { continue }
        ids.append(id)
      }
      if ids.isEmpty { continue }
      let list = ids.map(String.init).joined(separator: ", ")
      let some = "SELECT id FROM notification WHERE id IN (\(list)) AND \(isOver)"
      try await removeRows(ofNotifications: some, time)
      try await removeAll(
        """
        DELETE FROM interaction WHERE id IN (
          SELECT id FROM interaction WHERE notification IN (\(some)) LIMIT \(Self.batch))
        """, time)
      total += try await removeAll(
        "DELETE FROM notification WHERE id IN (\(some) LIMIT 100)", time)
    }
    return total
  }

  /// Whether some recipients learn of a notification only at a time, or later.
  private func isForSome(_ id: Int, since time: Date) async throws -> Bool {
    try await database.read { connection in
      try connection.value(
        "SELECT EXISTS (SELECT 1 FROM recipient WHERE notification = $1 AND due >= $2)", id, time,
        as: Bool.self) == true
    }
  }

  func removeReceipts(before time: Date) async throws {
    guard let end = try await endOfNotifications(before: time) else { return }
    for (table, key) in [
      ("device_receipt", ["notification", "user_id", "registration"]),
      ("interaction", ["id"]),
    ] {
      // What was scheduled was created long before it was sent.
      let some = """
        FROM \(table) WHERE notification < $1 AND NOT EXISTS (
          SELECT 1 FROM notification AS late
          WHERE late.id = \(table).notification AND late.not_before >= $2)
        AND NOT EXISTS (
          SELECT 1 FROM recipient
          WHERE recipient.user_id = \(table).user_id
            AND recipient.notification = \(table).notification AND due >= $2)
        LIMIT \(Self.batch)
        """
      while try await removeSome({ transaction in
        let isAmong = transaction.isAmong(some, of: table, key: key)
        return try transaction.run("DELETE FROM \(table) WHERE \(isAmong)", end, time)
      }) > 0 {}
    }
  }

  /// The number from which on notifications are created at a time or later, as numbers rise with time; nil if none was
  /// created before.
  private func endOfNotifications(before time: Date) async throws -> Int? {
    try await database.read { connection in
      let first = try connection.value(
        "SELECT id FROM notification WHERE created >= $1 ORDER BY id LIMIT 1", time, as: Int.self)
      let last = try connection.value(
        "SELECT max(id) FROM notification WHERE id < CAST($1 AS bigint)", first ?? .max,
        as: Int?.self)
      return (last ?? nil).map { $0 + 1 }
    }
  }

  func removeHistory(before time: Date) async throws {
    try await removeOldest("push_event", "sequence", "created < $1", time)
    // A queued job may wait longer than that: for its time, or for an operator to repair the lane.
    try await removeAmongQueued(
      before: time, from: "job", where: "state <> 'queued' AND updated < $3",
      created: "SELECT created FROM job JOIN push ON push.id = job.push "
        + "JOIN notification ON notification.id = push.notification WHERE job.id = $1")
    // So may devices that are still to get jobs.
    try await removeAmongQueued(
      before: time, from: "push",
      where: """
        NOT EXISTS (SELECT 1 FROM job WHERE job.push = push.id)
        AND NOT EXISTS (SELECT 1 FROM audience_part WHERE audience_part.push = push.id)
        AND NOT EXISTS (
          SELECT 1 FROM notification WHERE notification.id = push.notification AND created >= $3)
        """,
      created: "SELECT created FROM push JOIN notification ON notification.id = push.notification "
        + "WHERE push.id = $1")
    // Of a lane that nothing is to be sent by any more: a service that a device had chosen, for instance.
    try await database.run(
      """
      DELETE FROM lane_pause WHERE NOT EXISTS (
        SELECT 1 FROM job WHERE state = 'queued' AND job.lane = lane_pause.lane)
      """)
    let firstKept = try await database.read { connection in
      try connection.value(
        "SELECT id FROM notification WHERE created >= $1 ORDER BY id LIMIT 1", time, as: Int.self)
    }
    // Without one, none is removed: the first may be created meanwhile, with its key.
    guard let firstKept else { return }
    // A copy of a published file finds what it was sent as by its key.
    try await removeAll(
      """
      DELETE FROM idempotency WHERE notification IN (
        SELECT notification FROM idempotency WHERE notification < $1 AND NOT EXISTS (
          SELECT 1 FROM published_file
          WHERE published_file.notification = idempotency.notification)
        LIMIT \(Self.batch))
      """, firstKept)
  }

  func removeEvents(before time: Date, keeping count: Int) async throws {
    try await removeOldest("event", "sequence", "created < $1", time)
    try await removeOldest("event", "sequence", "sequence <= $1", try await latestEvent() - count)
  }

  func removeAuditEntries(before time: Date, keeping count: Int) async throws {
    try await removeOldest("audit", "id", "time < $1", time)
    for share in AuditShare.allCases.map(\.rawValue) {
      let last = try await database.read { connection in
        try connection.value(
          "SELECT id FROM audit WHERE share = $1 ORDER BY id DESC LIMIT 1 OFFSET $2", share, count,
          as: Int.self)
      }
      guard let last else { continue }
      try await removeAll(
        """
        DELETE FROM audit WHERE id IN (
          SELECT id FROM audit WHERE share = \(share) AND id <= $1 LIMIT \(Self.batch))
        """, last)
    }
  }

  /// Removes rows that meet a condition on `old`.
  ///
  /// Numbers rise with time: if none of the oldest batch is old enough, none is.
  private func removeOldest(
    _ table: String, _ number: String, _ condition: String,
    _ value: some Parameter & Sendable
  ) async throws {
    try await removeAll(
      """
      DELETE FROM \(table) WHERE \(number) IN (
        SELECT \(number) FROM (SELECT * FROM \(table) ORDER BY \(number) LIMIT \(Self.batch)) AS old
        WHERE \(condition))
      """, value)
  }

  /// Removes rows that meet a condition, which requires that they are older than `$3`, a time; any number of queued ones,
  /// which stay, may lie between them.
  ///
  /// `created` selects when the notification of a row was created: later rows are not old enough, and not looked at.
  private func removeAmongQueued(
    before time: Date, from table: String, where condition: String, created: String
  ) async throws {
    var last = 0
    while let next = try await lastOfBatch(of: table, after: last) {
      let isLast = try await database.read { [next] connection in
        try connection.value(created, next, as: Date.self).map { $0 >= time } ?? false
      }
      try await database.write { [last] transaction in
        guard try transaction.takesUpkeep() else { return }
        try transaction.run(
          "DELETE FROM \(table) WHERE id > $1 AND id <= $2 AND \(condition)", last, next, time)
      }
      if isLast { return }
      last = next
    }
  }

  private func lastOfBatch(of table: String, after last: Int) async throws -> Int? {
    try await database.read { connection in
      try connection.value(
        """
        SELECT max(id) FROM (
          SELECT id FROM \(table) WHERE id > $1 ORDER BY id LIMIT \(Self.batch)) AS few
        """, last, as: Int?.self) ?? nil
    }
  }

  func removeAssetVersions(endedBefore time: Date, keepingBytes bytes: Int) async throws {
    let key = ["rich_type", "name", "blob"]
    let old = "FROM asset_version WHERE ended <= $1 LIMIT \(Self.batch)"
    while try await removeSome({ transaction in
      let isAmong = transaction.isAmong(old, of: "asset_version", key: key)
      return try transaction.run("DELETE FROM asset_version WHERE \(isAmong)", time)
    }) > 0 {}
    // What something else refers to takes no space of its own.
    try await removeAll(
      """
      DELETE FROM asset_version WHERE blob IN (
        SELECT blob FROM (
          SELECT blob, sum(bytes) OVER (ORDER BY ended DESC, blob) AS total FROM (
            SELECT blob, max(bytes) AS bytes, max(ended) AS ended FROM asset_version
            WHERE NOT EXISTS (SELECT 1 FROM asset WHERE asset.blob = asset_version.blob)
              AND NOT EXISTS (SELECT 1 FROM notification WHERE notification.blob = asset_version.blob)
            GROUP BY blob) AS content) AS summed
        WHERE total > CAST($1 AS bigint) ORDER BY total DESC LIMIT \(Self.batch))
      """, bytes)
  }

  func removeEndedRegistrations(before time: Date) async throws {
    while true {
      let count = try await removeSome { transaction in
        let ended: [String] = try transaction.column(
          """
          SELECT id FROM (
            SELECT id, ended, row_number() OVER (PARTITION BY user_id ORDER BY ended DESC) AS number
            FROM registration WHERE ended IS NOT NULL) AS ended_ones
          WHERE ended < $1 OR number > $2 LIMIT \(Self.batch)
          """, time, UserQuota.devices)
        // One may have been renewed meanwhile.
        let users = try transaction.column(
          """
          DELETE FROM registration WHERE id \(transaction.isIn("$1")) AND ended IS NOT NULL
          RETURNING user_id
          """, ended, as: UserID.self)
        transaction.effects.add(users.map(Effect.credentialsEnded))
        return users.count
      }
      if count == 0 { return }
    }
  }

  func removeExpiredAccessTokens(before time: Date) async throws {
    try await removeAll(
      """
      DELETE FROM access_token
      WHERE id IN (SELECT id FROM access_token WHERE expires < $1 LIMIT \(Self.batch))
      """, time)
  }

  func removeFailedDeliveries(before time: Date) async throws {
    try await removeAll(
      """
      DELETE FROM webhook_delivery
      WHERE id IN (SELECT id FROM webhook_delivery WHERE failed < $1 LIMIT \(Self.batch))
      """, time)
  }

  func removeExpiredPairings(before time: Date) async throws {
    try await removeAll(
      "DELETE FROM pairing WHERE id IN (SELECT id FROM pairing WHERE expires < $1 LIMIT \(Self.batch))",
      time)
  }

  func removeDailyPushes(before time: Date) async throws {
    let old = "FROM daily_push WHERE sent <= $1 LIMIT \(Self.batch)"
    while try await removeSome({ transaction in
      let isAmong = transaction.isAmong(old, of: "daily_push", key: ["user_id", "subject"])
      return try transaction.run("DELETE FROM daily_push WHERE \(isAmong)", time)
    }) > 0 {}
  }

  func removeAbandonedSignUps() async throws {
    let now = now()
    while true {
      let count = try await removeSome { transaction in
        let names = try transaction.column(
          """
          SELECT name FROM sign_up CROSS JOIN users
          WHERE users.id = sign_up.user_id
            AND NOT EXISTS (SELECT 1 FROM registration WHERE registration.user_id = users.id)
            AND NOT EXISTS (SELECT 1 FROM pairing WHERE pairing.user_id = users.id)
          LIMIT 100
          """, as: String.self)
        for name in names { _ = try transaction.removeUser(named: name, at: now) }
        return names.count
      }
      if count == 0 { return }
    }
  }

  /// Repeats a statement, a commit each, until it changes nothing; returns the rows it changed.
  ///
  /// Only one node at a time does such work; the others find nothing to do.
  @discardableResult
  private func removeAll(
    _ sql: String, _ value: some Parameter & Sendable
  ) async throws -> Int {
    var total = 0
    while case let count = try await removeSome({ try $0.run(sql, value) }), count > 0 {
      total += count
    }
    return total
  }

  private func removeSome(
    _ remove: @escaping @Sendable (Database.Transaction) throws -> Int
  ) async throws -> Int {
    try await database.write { transaction in
      guard try transaction.takesUpkeep() else { return 0 }
      return try transaction.planningForValues { try remove(transaction) }
    }
  }
}

extension Queryable {
  /// The notifications whose recipients an audience asks for that is found later: of a scheduled notification, or saved.
  fileprivate func notificationsOfAudiences() throws -> Set<Int> {
    let texts = try column(
      """
      SELECT audience FROM due_audience CROSS JOIN notification
      WHERE notification.id = due_audience.notification AND audience LIKE '%pened:%'
      UNION ALL SELECT content FROM segment WHERE content LIKE '%pened"%'
      """, as: String.self)
    return texts.reduce(into: []) { found, text in
      // "notOpened:5" and {"opened":5} alike.
      let words = text.split { !$0.isLetter && !$0.isNumber }
      for (word, next) in zip(words, words.dropFirst())
      where word == "opened" || word == "notOpened" {
        if let id = Int(next) { found.insert(id) }
      }
    }
  }
}

extension Set<Int> {
  /// The condition that a column has none of these numbers.
  fileprivate func isNot(_ column: String) -> String {
    isEmpty ? "true" : "\(column) NOT IN (\(sorted().map(String.init).joined(separator: ", ")))"
  }
}
