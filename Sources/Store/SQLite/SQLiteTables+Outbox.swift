import FoundationEssentials

extension SQLiteTables {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: SendingLane, limit: Int, until: Date
  ) async throws -> Lease {
    let (now, owner) = (now(), owner)
    return try await database.write { connection in
      let ended = try connection.settle(outcomes, of: lane, owner: owner, at: now)
      var lease = try connection.lease(lane, limit: limit, owner: owner, at: now, until: until)
      lease.ended = ended
      return lease
    }
  }

  func nextDue(lane: String) throws -> Date? {
    try database.value(
      "SELECT due FROM job WHERE state = 'queued' AND lane = ? ORDER BY due LIMIT 1", lane)
  }

  func lanes(beginningWith prefix: String) throws -> [String] {
    try database.column(
      """
      WITH RECURSIVE found(lane) AS (
        SELECT min(lane) FROM job WHERE state = 'queued' AND lane >= ?1
        UNION ALL
        SELECT (SELECT min(lane) FROM job WHERE state = 'queued' AND lane > found.lane)
        FROM found WHERE substr(lane, 1, length(?1)) = ?1)
      SELECT lane FROM found WHERE substr(lane, 1, length(?1)) = ?1
      """, prefix)
  }

  func failJobsOfRemovedDevices(inLanesBeginningWith prefix: String) async throws {
    let now = now()
    try await database.write { connection in
      try connection.updateJobs(
        from: .queued, to: .failed,
        """
        UPDATE job SET state = 'failed', updated = ?1, reason = 'the device is gone'
        WHERE id IN (
          SELECT id FROM job WHERE state = 'queued' AND owner IS NULL
            AND lane >= ?2 AND substr(lane, 1, length(?2)) = ?2 AND registration IS NOT NULL
            AND NOT EXISTS (
              SELECT 1 FROM registration
              WHERE registration.id = job.registration AND registration.user = job.user
                AND registration.ended IS NULL)
          LIMIT ?3)
        """, now, prefix, failedJobs)
    }
  }

  func explain(_ reason: String, lanes: [String]) async throws {
    try await database.write { connection in
      for lane in lanes {
        try connection.run(
          """
          UPDATE job SET reason = ?2 WHERE reason IS NOT ?2 AND id IN (
            SELECT id FROM job WHERE state = 'queued' AND lane = ?1 ORDER BY due, id LIMIT ?3)
          """, lane, reason, explainedJobs)
      }
    }
  }

  func pendingCollapseIDs(before job: Int, since: Date) throws -> Int {
    // Literals, for the partial indexes job_in_order and job_collapsed.
    let earlier = { (state: String) -> String in
      """
      SELECT earlier.collapse FROM job JOIN job AS earlier
        ON earlier.registration = job.registration AND earlier.id < job.id
        AND earlier.lane = 'fcm' AND earlier.state = '\(state)'
        AND earlier.collapse IS NOT NULL AND earlier.collapse <> job.collapse
        JOIN push ON push.id = earlier.push
      WHERE job.id = ?1 AND earlier.updated > ?2 AND NOT EXISTS (
        SELECT 1 FROM device_receipt AS receipt
        WHERE receipt.notification = push.notification AND receipt.user = earlier.user
          AND receipt.registration = earlier.registration)
      """
    }
    let count: Int? = try database.value(
      "SELECT count(*) FROM (\(earlier("queued")) UNION \(earlier("sent")))", job, since)
    return count ?? 0
  }

  /// Makes jobs due that earlier starts of a node had leased when they ended.
  func releaseLeases(ofNode node: String) {
    let now = now()
    database.writeSoon { connection in
      // A literal, for the partial indexes.
      for state in [JobState.queued, .cancelled] {
        try connection.run(
          """
          UPDATE job SET owner = NULL, due = min(due, ?)
          WHERE state = '\(state.rawValue)' AND owner GLOB ?
          """, now, NodeStart.prefix(of: node) + "*")
      }
    }
  }
}

// MARK: - Inserting

extension SQLiteConnection {
  /// Inserts a push without jobs, and returns its number.
  func insert(_ new: PushInsert, notification: Int?, expires: Date?) throws -> Int {
    let id = notification ?? 0
    let push: Int? = try value(
      """
      INSERT INTO push(notification, lane, kind, text, fallback, collapse, expires)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, notification, new.lane, new.kind, new.text(id), new.fallback?(id), new.collapseID?(id),
      expires)
    guard let push else { throw StoreError(.failed, "the push was not stored") }
    effects.add(.jobs(lane: new.lane))
    return push
  }

  /// Inserts the job of a push for an audience that the push service resolves.
  func insertJob(
    of push: Int, for expression: String, user: UserID?, due: Date, at now: Date
  ) throws {
    try queue(
      """
      INSERT INTO job(push, lane, token, user, audience, collapse, state, due, updated)
      SELECT id, lane, \(Self.newToken), ?2, ?3, collapse, 'queued', ?4, ?5 FROM push WHERE id = ?1
      """, push, user, expression, due, now)
  }

  /// Inserts the jobs of a push for devices, an array in JSON, that are still registered.
  func insertJobs(of push: Int, for devices: String, due: Date, at now: Date) throws {
    try queue(
      """
      INSERT INTO job(push, lane, token, user, registration, collapse, state, due, updated)
      SELECT push.id, push.lane, \(Self.newToken), user, registration.id, collapse, 'queued', ?2, ?3
      FROM json_each(?4) AS device
        CROSS JOIN registration INDEXED BY registration_in_order
          ON registration.id = device.value AND registration.ended IS NULL
        CROSS JOIN push ON push.id = ?1
      """, push, due, now, devices)
  }

  /// Runs an INSERT of jobs of one push, which is `?1`, counts them and inserts their receipts.
  private func queue(_ sql: String, _ push: Int, _ values: any Column...) throws {
    let number = try run(sql, values: [push] + values)
    guard number > 0 else { return }
    try run(
      """
      UPDATE notification_count SET queued = queued + ?
      WHERE notification = (SELECT notification FROM push WHERE id = ?)
      """, number, push)
    // The rows of one INSERT have consecutive numbers.
    let last = lastInsertedRow
    try insertReceipts(ofNewJobs: last - number + 1...last, of: push)
  }

  /// An expression for a new UUID (version 4) in lower case, by which a device can tell a repetition.
  private static let newToken = """
    printf('%08x-%04x-4%03x-%04x-%012x', random() & 0xffffffff, random() & 0xffff, random() & 0xfff,
      0x8000 | (random() & 0x3fff), random() & 0xffffffffffff)
    """

  /// Runs an UPDATE of the states of jobs, inserts their receipts, and returns the jobs.
  ///
  /// `old` is the state that all of them had, `new` the one that they get.
  @discardableResult
  func updateJobs(
    from old: JobState, to new: JobState, _ sql: String, _ values: any Column...
  ) throws -> [Int] {
    let jobs = try rows(sql + " RETURNING id", values: values, limit: .max) {
      try $0.next(Int.self)
    }
    try count(jobs, from: old, to: new)
    try insertReceipts(ofJobs: jobs)
    return jobs
  }
}

// MARK: - For operators and publishers

extension SQLiteTables {
  func jobs(in state: JobState?, limit: Int) throws -> [JobRecord] {
    try jobs(in: state, lane: nil, before: nil, limit: limit)
  }

  func deliveries(
    of notification: Int, in state: JobState?, lane: String?, after: Int, limit: Int
  ) throws -> [JobRecord] {
    try database.read { connection in
      let pushes: [Int] = try connection.column(
        "SELECT id FROM push WHERE notification = ?1 AND (?2 IS NULL OR lane = ?2)", notification,
        lane)
      var jobs: [Int] = []
      // An index has the jobs of each push and state in order.
      for push in pushes {
        for state in state.map({ [$0] }) ?? JobState.allCases {
          jobs += try connection.column(
            "SELECT id FROM job WHERE push = ? AND state = ? AND id > ? ORDER BY id LIMIT ?", push,
            state, after, max(0, limit))
        }
      }
      return try connection.all(
        """
        SELECT \(JobRecord.columns)
        FROM json_each(?) AS wanted CROSS JOIN job ON job.id = wanted.value
          JOIN push ON push.id = job.push
        ORDER BY job.id
        """, SQLiteConnection.list(Array(jobs.sorted().prefix(max(0, limit)))), as: JobRecord.init)
    }
  }

  func addressee(
    of job: Int, token: String, notification: Int
  ) throws -> (user: UserID?, registration: String?)? {
    try database.first(
      """
      SELECT user, registration FROM job JOIN push ON push.id = job.push
      WHERE job.id = ? AND token = ? AND notification = ?
      """, job, token, notification
    ) { row in (try row.next(), try row.next()) }
  }

  func replay(_ job: Int?) async throws -> Int {
    guard let job else { return try await replay(lane: nil) }
    return try await replay(where: "id = ?1", job)
  }

  /// Replays the dead letters that meet a condition on `?1`.
  func replay(where condition: String, _ value: some Column & Sendable) async throws -> Int {
    let now = now()
    return try await database.write { connection in
      let jobs = try connection.updateJobs(
        from: .failed, to: .queued,
        """
        UPDATE job SET state = 'queued', attempts = 0, due = ?2, updated = ?2, owner = NULL
        WHERE state = 'failed' AND \(condition)
        """, value, now)
      let lanes = try connection.column(
        "SELECT DISTINCT lane FROM job WHERE id IN (SELECT value FROM json_each(?))",
        SQLiteConnection.list(jobs), as: String.self)
      connection.effects.add(lanes.map { .jobs(lane: $0) })
      return jobs.count
    }
  }

  func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.updateJobs(
        from: .queued, to: .cancelled,
        "UPDATE job SET state = 'cancelled', updated = ? WHERE id = ? AND state = 'queued'",
        now, job
      ).count == 1
    }
  }
}

extension JobRecord {
  static let columns = """
    job.id, notification, job.lane, job.user, (SELECT name FROM user WHERE user.id = job.user), registration,
    state, attempts, due, updated, reference, reason
    """
}
