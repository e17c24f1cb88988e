import FoundationEssentials

extension PostgresTables {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: SendingLane, limit: Int, until: Date
  ) async throws -> Lease {
    let (now, owner) = (now(), owner)
    return try await database.write { transaction in
      let settled = try transaction.settle(outcomes, of: lane, owner: owner, at: now)
      // Before what was refused is known, so that most exchanges are one message.
      let jobs = try transaction.leaseUndoubted(
        lane, limit: limit, owner: owner, at: now, until: until)
      let ended = try transaction.recordAcceptance(settled, by: lane, at: now)
      var lease =
        jobs.isEmpty
        ? try transaction.lease(lane, limit: limit, owner: owner, at: now, until: until)
        : Lease(jobs: jobs)
      lease.ended = settled.ended + ended
      return lease
    }
  }

  func nextDue(lane: String) async throws -> Date? {
    try await database.read { connection in
      try connection.value(
        "SELECT due FROM job WHERE state = 'queued' AND lane = $1 ORDER BY due LIMIT 1", lane)
    }
  }

  func lanes(beginningWith prefix: String) async throws -> [String] {
    try await database.read { connection in
      try connection.column(
        """
        WITH RECURSIVE found(lane) AS (
          (SELECT lane FROM job WHERE state = 'queued' AND lane >= $1 ORDER BY lane LIMIT 1)
          UNION ALL
          SELECT (SELECT job.lane FROM job WHERE state = 'queued' AND job.lane > found.lane
            ORDER BY job.lane LIMIT 1)
          FROM found WHERE starts_with(lane, $1))
        SELECT lane FROM found WHERE starts_with(lane, $1)
        """, prefix)
    }
  }

  func failJobsOfRemovedDevices(inLanesBeginningWith prefix: String) async throws {
    let now = now()
    try await database.write { transaction in
      try transaction.updateJobs(
        from: .queued, to: .failed,
        """
        UPDATE job SET state = 'failed', updated = $1, reason = 'the device is gone'
        WHERE id IN (
          SELECT id FROM job WHERE state = 'queued' AND owner IS NULL
            AND lane >= $2 AND starts_with(lane, $2) AND registration IS NOT NULL
            AND NOT EXISTS (
              SELECT 1 FROM registration
              WHERE registration.id = job.registration AND registration.user_id = job.user_id
                AND registration.ended IS NULL)
          LIMIT $3 FOR UPDATE SKIP LOCKED)
        """, now, prefix, failedJobs)
    }
  }

  func explain(_ reason: String, lanes: [String]) async throws {
    try await database.write { transaction in
      for lane in lanes {
        try transaction.run(
          """
          UPDATE job SET reason = $2 WHERE reason IS DISTINCT FROM $2 AND id IN (
            SELECT id FROM job WHERE state = 'queued' AND lane = $1 ORDER BY due, id LIMIT $3
            FOR UPDATE SKIP LOCKED)
          """, lane, reason, explainedJobs)
      }
    }
  }

  func pendingCollapseIDs(before job: Int, since: Date) async throws -> Int {
    // Literals, for the partial indexes job_in_order and job_collapsed.
    let earlier = { @Sendable (state: String) -> String in
      """
      SELECT earlier.collapse FROM job JOIN job AS earlier
        ON earlier.line = job.line AND earlier.id < job.id
        AND earlier.lane = 'fcm' AND earlier.state = '\(state)'
        AND earlier.collapse IS NOT NULL AND earlier.collapse <> job.collapse
        JOIN push ON push.id = earlier.push
      WHERE job.id = $1 AND job.registration IS NOT NULL AND earlier.updated > $2 AND NOT EXISTS (
        SELECT 1 FROM device_receipt AS receipt
        WHERE receipt.notification = push.notification AND receipt.user_id = earlier.user_id
          AND receipt.registration = earlier.registration)
      """
    }
    return try await database.read { connection in
      try connection.value(
        "SELECT count(*) FROM (\(earlier("queued")) UNION \(earlier("sent"))) AS pending", job,
        since) ?? 0
    }
  }

  /// Makes jobs due that earlier starts of a node had leased when they ended.
  func releaseLeases(ofNode node: String) {
    let now = now()
    database.writeSoon { transaction in
      // A literal, for the partial indexes.
      for state in [JobState.queued, .cancelled] {
        try transaction.run(
          """
          UPDATE job SET owner = NULL, due = least(due, $1)
          WHERE state = '\(state.rawValue)' AND owner IS NOT NULL AND starts_with(owner, $2)
          """, now, NodeStart.prefix(of: node))
      }
    }
  }
}

// MARK: - Inserting

extension PostgresTransaction {
  /// Inserts a push without jobs, and returns its number.
  func insert(_ new: PushInsert, notification: Int?, expires: Date?) throws -> Int {
    let id = notification ?? 0
    let push: Int? = try value(
      """
      INSERT INTO push(notification, lane, kind, text, fallback, collapse, expires)
      VALUES ($1, $2, $3, $4, $5, $6, $7) RETURNING id
      """, notification, new.lane, new.kind, new.text(id), new.fallback?(id), new.collapseID?(id),
      expires)
    guard let push else { throw StoreError(.failed, "the push was not stored") }
    return push
  }

  /// Inserts the jobs of a push for devices that are still registered.
  func insertJobs(of push: Int, for devices: [String], due: Date, at now: Date) throws {
    try sendJobs(
      from: nil, to: .queued,
      """
      INSERT INTO job(push, lane, token, user_id, registration, collapse, state, due, updated)
      SELECT push.id, push.lane, gen_random_uuid(), user_id, registration.id, collapse, 'queued',
        $1, $2
      FROM unnest($3::text[]) WITH ORDINALITY AS device(id, number)
        JOIN registration ON registration.id = device.id AND registration.ended IS NULL
        JOIN push ON push.id = $4
      ORDER BY device.number
      """, due, now, devices, push)
  }
}

/// A job whose state has changed.
struct ChangedJob {
  let id: Int
  let lane: String
  let notification: Int?
  let updated: Date
}

extension PostgresTransaction {
  /// Runs an UPDATE of jobs, counts them in their new state, and collects their receipts.
  ///
  /// `old` is the state that all of them had, and `new` the one that they get.
  @discardableResult
  func updateJobs(
    from old: JobState?, to new: JobState, _ sql: String, _ values: any PostgresParameter...
  ) throws -> [ChangedJob] {
    try changedJobs(execute(Self.changedJobs(by: sql), values), from: old, to: new)
  }

  /// The same for an INSERT or UPDATE whose result is not needed at once; `old` is nil for new jobs.
  func sendJobs(
    from old: JobState?, to new: JobState, _ sql: String, _ values: any PostgresParameter...
  ) throws {
    try sendRows()
    try send(Self.changedJobs(by: sql), values) { [self] result in
      _ = try changedJobs(result, from: old, to: new)
    }
  }

  private static func changedJobs(by sql: String) -> String {
    """
    WITH changed AS (
      \(sql)
      RETURNING job.id, push, user_id, registration, job.lane, state, reason, updated
    )
    SELECT changed.id, user_id, registration, changed.lane, state, reason, updated,
      push.notification, sender
    FROM changed JOIN push ON push.id = changed.push
      LEFT JOIN notification ON notification.id = push.notification
    ORDER BY changed.id
    """
  }

  private func changedJobs(
    _ result: borrowing PostgresResult, from old: JobState?, to new: JobState
  ) throws -> [ChangedJob] {
    let jobs = try result.map { row in try changedJob(&row) }
    for job in jobs {
      if let notification = job.notification {
        count(notification, from: old, to: new, at: job.updated)
      }
    }
    return jobs
  }

  private func changedJob(_ row: inout PostgresRow) throws -> ChangedJob {
    let (id, user, device): (Int, UserID?, String?) = (
      try row.next(), try row.next(), try row.next()
    )
    let (lane, state): (String, JobState) = (try row.next(), try row.next())
    let (reason, updated): (String?, Date) = (try row.next(), try row.next())
    let (notification, sender): (Int?, UserID?) = (try row.next(), try row.next())
    if let notification {
      collected.events.append(
        .job(
          id, of: notification, sender: sender, user: user, device: device, lane: lane,
          state: state, reason: reason, at: updated))
    }
    return ChangedJob(id: id, lane: lane, notification: notification, updated: updated)
  }

  /// Counts a job of a notification in its new state instead of the old one.
  func count(_ notification: Int, from old: JobState?, to new: JobState, at time: Date) {
    for (state, difference) in [(old, -1), (new, 1)] {
      guard let column = state?.count else { continue }
      collected.counts.append(
        .init(notification: notification, column: column, difference: difference, time: time))
    }
  }
}

extension JobState {
  /// The count of jobs in this state.
  fileprivate var count: CountColumn? {
    switch self {
    case .queued: .queued
    case .sent: .sent
    case .failed, .expired: .failed
    case .cancelled: nil
    }
  }
}

// MARK: - For operators and publishers

extension PostgresTables {
  func jobs(in state: JobState?, limit: Int) async throws -> [JobRecord] {
    try await jobs(in: state, lane: nil, before: nil, limit: limit)
  }

  func deliveries(
    of notification: Int, in state: JobState?, lane: String?, after: Int, limit: Int
  ) async throws -> [JobRecord] {
    try await database.read { connection in
      let pushes: [Int] = try connection.column(
        """
        SELECT id FROM push WHERE notification = $1 AND ($2::text IS NULL OR lane = $2)
        """, notification, lane)
      var jobs: [Int] = []
      // An index has the jobs of each push and state in order.
      for push in pushes {
        for state in state.map({ [$0] }) ?? JobState.allCases {
          jobs += try connection.column(
            """
            SELECT id FROM job WHERE push = $1 AND state = $2 AND id > $3 ORDER BY id LIMIT $4
            """, push, state, after, max(0, limit))
        }
      }
      return try connection.all(
        """
        SELECT \(JobRecord.postgresColumns) FROM job JOIN push ON push.id = job.push
        WHERE job.id = ANY($1) ORDER BY job.id
        """, Array(jobs.sorted().prefix(max(0, limit))), as: JobRecord.init)
    }
  }

  func addressee(
    of job: Int, token: String, notification: Int
  ) async throws -> (user: UserID?, registration: String?)? {
    try await database.read { connection in
      try connection.first(
        """
        SELECT user_id, registration FROM job JOIN push ON push.id = job.push
        WHERE job.id = $1 AND token = $2 AND notification = $3
        """, job, token, notification
      ) { row in (try row.next(), try row.next()) }
    }
  }

  func replay(_ job: Int?) async throws -> Int { try await replay(job: job, lane: nil) }

  /// Replays dead letters: one, or those of a lane, or all.
  func replay(job: Int?, lane: String?) async throws -> Int {
    let now = now()
    return try await database.write { transaction in
      let jobs = try transaction.updateJobs(
        from: .failed, to: .queued,
        """
        UPDATE job SET state = 'queued', attempts = 0, due = $1, updated = $1, owner = NULL
        WHERE state = 'failed' AND ($2::bigint IS NULL OR id = $2)
          AND ($3::text IS NULL OR lane = $3)
        """, now, job, lane)
      transaction.effects.add(jobs.map { .jobs(lane: $0.lane) })
      return jobs.count
    }
  }

  func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      try transaction.updateJobs(
        from: .queued, to: .cancelled,
        "UPDATE job SET state = 'cancelled', updated = $1 WHERE id = $2 AND state = 'queued'",
        now, job
      ).count == 1
    }
  }
}

extension JobRecord {
  static let postgresColumns = """
    job.id, push.notification, job.lane, job.user_id, (SELECT name FROM users WHERE users.id = job.user_id),
    registration, state, attempts, due, updated, reference, reason
    """
}

extension PostgresConnection {
  /// Those of some lanes that have queued jobs.
  func lanesWithJobs(among lanes: [String]) throws -> [String] {
    try column(
      """
      SELECT name FROM unnest($1::text[]) AS name
      WHERE EXISTS (SELECT 1 FROM job WHERE state = 'queued' AND lane = name)
      """, lanes)
  }
}
