import FoundationEssentials

extension SQLiteTables {
  func pendingCollapseIDs(before job: Int, since: Date) throws -> Int {
    // Literals, for the partial indexes; that of a lane's jobs would read all of them.
    let earlier = { @Sendable (state: String, index: String) -> String in
      """
      SELECT earlier.collapse FROM job JOIN job AS earlier INDEXED BY \(index)
        ON earlier.registration = job.registration AND earlier.audience IS NULL
        AND earlier.id < job.id AND earlier.lane = job.lane AND earlier.state = '\(state)'
        AND earlier.collapse IS NOT NULL AND earlier.collapse <> job.collapse
        JOIN push ON push.id = earlier.push
      WHERE job.id = $1 AND earlier.updated > $2 AND NOT EXISTS (
        SELECT 1 FROM device_receipt AS receipt
        WHERE receipt.notification = push.notification AND receipt.user_id = earlier.user_id
          AND receipt.registration = earlier.registration)
      """
    }
    return try database.read { connection in
      let (queued, sent) = (earlier("queued", "job_in_order"), earlier("sent", "job_sent"))
      return try connection.value(
        "SELECT count(*) FROM (\(queued) UNION \(sent))", job, since) ?? 0
    }
  }
}

// MARK: - Inserting

extension SQLiteConnection {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], of lane: SendingLane, limit: Int, owner: String,
    at now: Date, until: Date
  ) throws -> Lease {
    let ended = try settle(outcomes, of: lane, owner: owner, at: now)
    var lease = try lease(lane, limit: limit, owner: owner, at: now, until: until)
    lease.ended = ended
    return lease
  }

  /// Inserts a push without jobs, and returns its number.
  func insert(_ new: PushInsert, notification: Int?, expires: Date?) throws -> Int {
    let push: Int? = try value(
      """
      INSERT INTO push(notification, lane, kind, message, media, collapse, expires, urgent, scheduled)
      VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9) RETURNING id
      """, notification, new.lane, new.kind, new.message, new.media,
      new.collapseID(of: notification), expires, new.urgent, new.scheduled)
    guard let push else { throw StoreError(.failed, "the push was not stored") }
    return push
  }

  /// Inserts the job of a push for an audience that the push service resolves.
  func insertJob(
    of push: Int, for expression: String, user: UserID?, due: Date, at now: Date
  ) throws {
    try queue(
      """
      INSERT INTO job(push, lane, token, user_id, audience, collapse, state, due, updated)
      SELECT id, lane, \(Self.newToken), $2, $3, collapse, 'queued', $4, $5 FROM push WHERE id = $1
      """, push, user, expression, due, now)
  }

  /// Inserts the jobs of a push for devices, a list, that are still registered.
  func insertJobs(of push: Int, for devices: any Parameter, due: Date, at now: Date) throws {
    try queue(
      """
      INSERT INTO job(push, lane, token, user_id, registration, collapse, state, due, updated)
      SELECT push.id, push.lane, \(Self.newToken), user_id, registration.id, collapse, 'queued', $2, $3
      FROM json_each($4) AS device
        CROSS JOIN registration INDEXED BY registration_in_order
          ON registration.id = device.value AND registration.ended IS NULL
        CROSS JOIN push ON push.id = $1
      """, push, due, now, devices)
  }

  /// Runs an INSERT of jobs of one push, which is `$1`, counts them and inserts their receipts.
  private func queue(_ sql: String, _ push: Int, _ values: any Parameter...) throws {
    let number = try run(sql, values: [push] + values)
    guard number > 0 else { return }
    try run(
      """
      UPDATE notification_count SET queued = queued + $1
      WHERE notification = (SELECT notification FROM push WHERE id = $2)
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

  @discardableResult
  func updateJobs(
    from old: JobState, to new: JobState, _ sql: String, _ values: any Parameter...
  ) throws -> [ChangedJob] {
    let jobs = try rows(sql + " RETURNING id, lane", values: values, limit: .max) { row in
      try row.decode(ChangedJob.init)
    }
    try count(jobs.map(\.id), from: old, to: new)
    try insertReceipts(ofJobs: jobs.map(\.id))
    return jobs
  }

  func moveJobs(of registration: String, to lane: String) throws {
    try run(
      """
      UPDATE job SET lane = $2 WHERE registration = $1 AND state = 'queued' AND lane <> $2
        AND lane = (SELECT lane FROM registration WHERE id = $1)
      """, registration, lane)
  }
}
