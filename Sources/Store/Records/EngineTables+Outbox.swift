import FoundationEssentials

extension EngineTables {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: SendingLane, limit: Int, until: Date
  ) async throws -> Lease {
    let (now, owner) = (now(), owner)
    return try await database.write { transaction in
      try transaction.settleAndLease(
        outcomes, of: lane, limit: limit, owner: owner, at: now, until: until)
    }
  }

  func push(_ push: Int) async throws -> StoredPush? {
    try await database.read { connection in
      // Before the push: a change between the two statements gives the push the message that is read here.
      let notification = try connection.first(
        """
        SELECT \(StoredNotification.columns) FROM notification
        WHERE id = (SELECT notification FROM push WHERE id = $1)
        """, push, read: StoredNotification.init)
      let found = try connection.first(
        "SELECT message, members, form, media FROM push WHERE id = $1", push
      ) { row in
        (
          text: try row.next(String?.self), members: try row.next(String?.self),
          form: try row.next(String?.self), media: try row.next(String?.self)
        )
      }
      guard let found else { return nil }
      let own = found.text.map { StoredMessage($0, members: found.members, form: found.form ?? "") }
      guard let message = own ?? notification?.version else { return nil }
      return StoredPush(message: message, media: found.media, notification: notification)
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
          SELECT min(lane) FROM job WHERE state = 'queued' AND lane >= $1
          UNION ALL
          SELECT (SELECT min(job.lane) FROM job WHERE state = 'queued' AND job.lane > found.lane)
          FROM found WHERE substr(lane, 1, length($1)) = $1)
        SELECT lane FROM found WHERE substr(lane, 1, length($1)) = $1
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
            AND lane >= $2 AND substr(lane, 1, length($2)) = $2 AND registration IS NOT NULL
            AND NOT EXISTS (
              SELECT 1 FROM registration
              WHERE registration.id = job.registration AND registration.user_id = job.user_id
                AND registration.ended IS NULL)
          LIMIT $3 \(transaction.lock("FOR UPDATE SKIP LOCKED")))
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
            \(transaction.lock("FOR UPDATE SKIP LOCKED")))
          """, lane, reason, explainedJobs)
      }
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
          UPDATE job SET owner = NULL, due = CASE WHEN due < $1 THEN due ELSE $1 END
          WHERE state = '\(state.rawValue)' AND owner IS NOT NULL AND substr(owner, 1, length($2)) = $2
          """, now, NodeStart.prefix(of: node))
      }
    }
  }
}

// MARK: - For operators and publishers

extension EngineTables {
  func jobs(in state: JobState?, limit: Int) async throws -> [JobRecord] {
    try await jobs(in: state, lane: nil, before: nil, limit: limit)
  }

  func deliveries(
    of notification: Int, in state: JobState?, lane: String?, after: Int, limit: Int
  ) async throws -> [JobRecord] {
    try await database.read { connection in
      let pushes: [Int] = try connection.column(
        """
        SELECT id FROM push WHERE notification = $1 AND (CAST($2 AS text) IS NULL OR lane = $2)
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
        SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
        WHERE job.id \(connection.isIn("$1")) ORDER BY job.id
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

  func addressee(of job: Int) async throws -> JobAddressee? {
    try await database.read { connection in
      try connection.all(
        """
        SELECT token, notification, job.user_id, users.name, registration,
          registration IS NULL OR EXISTS (
            SELECT 1 FROM registration AS device
            WHERE device.id = job.registration AND device.user_id = job.user_id)
        FROM job JOIN push ON push.id = job.push JOIN users ON users.id = job.user_id
        WHERE job.id = $1 AND notification IS NOT NULL
        """, job, as: JobAddressee.init
      ).first
    }
  }

  func replay(_ job: Int?) async throws -> Int { try await replay(job: job, lane: nil) }

  /// Replays dead letters: one, or those of a lane, or all; not those of a notification whose place another has taken,
  /// also on the device.
  func replay(job: Int?, lane: String?) async throws -> Int {
    let now = now()
    var (total, last) = (0, 0)
    while true {
      // In the order of the numbers: one that fails again meanwhile is not replayed again.
      let (count, next) = try await database.write { [last] transaction in
        let failed: [Int] = try transaction.column(
          """
          SELECT id FROM job
          WHERE state = 'failed' AND id > $1 AND (CAST($2 AS bigint) IS NULL OR id = $2)
            AND (CAST($3 AS text) IS NULL OR lane = $3)
            AND NOT EXISTS (
              SELECT 1 FROM push JOIN notification ON notification.id = push.notification
              WHERE push.id = job.push AND replaced_by IS NOT NULL AND NOT EXISTS (
                SELECT 1 FROM recipient WHERE recipient.user_id = job.user_id
                  AND recipient.notification = notification.id AND kept IS NOT NULL))
          ORDER BY id LIMIT $4
          """, last, job, lane, replayedJobs)
        try transaction.lockJobs(failed)
        let jobs = try transaction.updateJobs(
          from: .failed, to: .queued,
          """
          UPDATE job SET state = 'queued', attempts = 0, due = $1, updated = $1, owner = NULL
          WHERE id \(transaction.isIn("$2")) AND state = 'failed'
          """, now, failed)
        transaction.effects.add(jobs.map { .jobs(lane: $0.lane) })
        if !jobs.isEmpty {
          let object = job.map(AuditObject.push) ?? lane.map(AuditObject.service)
          try transaction.audit(.pushReplayed, object, count: jobs.count, at: now)
        }
        return (jobs.count, failed.count == replayedJobs ? failed.last : nil)
      }
      total += count
      guard let next else { return total }
      last = next
    }
  }

  func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.write { transaction in
      let cancelled = try transaction.updateJobs(
        from: .queued, to: .cancelled,
        """
        UPDATE job SET state = 'cancelled', updated = $1, reason = NULL
        WHERE id = $2 AND state = 'queued'
        """, now, job)
      if cancelled.count == 1 { try transaction.audit(.pushCancelled, .push(job), at: now) }
      return cancelled.count == 1
    }
  }
}

extension JobRecord {
  static let columns = """
    job.id, push.notification, job.lane, job.user_id, (SELECT name FROM users WHERE users.id = job.user_id),
    registration, state, attempts, due, updated, reference, reason
    """
}
