import FoundationEssentials

extension SQLiteTables {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: String, limit: Int, until: Date
  ) async throws -> [LeasedJob] {
    let (now, owner) = (now(), owner)
    let (jobs, former) = try await database.write { connection in
      let former = try connection.settle(outcomes, owner: owner, at: now)
      guard limit > 0 else { return ([LeasedJob](), former) }
      return (
        try connection.lease(lane, limit: limit, owner: owner, at: now, until: until), former
      )
    }
    for user in former { observers.onCredentialsEnded(user) }
    return jobs
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
  /// Inserts a push and its jobs, which are due at `due`.
  func insert(
    _ new: PushInsert, notification: Int?, due: Date, expires: Date?, created: Date
  ) throws {
    let id = notification ?? 0
    let collapse = new.collapseID?(id)
    let push: Int? = try value(
      """
      INSERT INTO push(notification, lane, kind, text, fallback, collapse, expires)
      VALUES (?, ?, ?, ?, ?, ?, ?) RETURNING id
      """, notification, new.lane, new.kind, new.text(id), new.fallback?(id), collapse, expires)
    var jobs: [Int] = []
    switch new.target {
    case .audience(let expression, let user):
      jobs = try column(
        """
        INSERT INTO job(push, lane, token, user, audience, collapse, state, due, updated)
        VALUES (?, ?, ?, ?, ?, ?, 'queued', ?, ?) RETURNING id
        """, push, new.lane, Self.newToken(), user, expression, collapse, due, created)
    case .devices(let registrations):
      for registration in registrations {
        jobs += try column(
          """
          INSERT INTO job(push, lane, token, user, registration, collapse, state, due, updated)
          SELECT ?, ?, ?, user, id, ?, 'queued', ?, ? FROM registration WHERE id = ? RETURNING id
          """, push, new.lane, Self.newToken(), collapse, due, created, registration)
      }
    }
    try insertReceipts(ofJobs: jobs)
  }

  /// Runs an UPDATE of the states of jobs, inserts their receipts, and returns the jobs.
  @discardableResult
  func updateJobs(_ sql: String, _ values: any Column...) throws -> [Int] {
    let jobs = try rows(sql + " RETURNING id", values: values, limit: .max) {
      try $0.next(Int.self)
    }
    try insertReceipts(ofJobs: jobs)
    return jobs
  }

  /// A lower-case UUID, by which a device can tell a repetition.
  private static func newToken() -> String { UUID().uuidString.lowercased() }
}

// MARK: - Leasing

extension SQLiteConnection {
  fileprivate func lease(
    _ lane: String, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
    let due = try dueJobs(of: lane, at: now, limit: limit)
    let gone = due.filter { $0.job == nil }.map(\.id)
    if !gone.isEmpty {
      try updateJobs(
        """
        UPDATE job SET state = 'failed', updated = ?, reason = 'the device is gone', owner = NULL
        WHERE id IN (SELECT value FROM json_each(?))
        """, now, Self.list(gone))
    }
    let jobs = due.compactMap(\.job)
    try run(
      """
      UPDATE job SET due = ?, owner = ?, updated = ?
      WHERE id IN (SELECT value FROM json_each(?))
      """, until, owner, now, Self.list(jobs.map(\.id)))
    return jobs
  }

  /// The due jobs that no earlier one blocks; `job` is nil if the registration is gone.
  private func dueJobs(
    of lane: String, at now: Date, limit: Int
  ) throws -> [(id: Int, job: LeasedJob?)] {
    // A cancelled job with an owner is still being sent: a later push must not overtake it.
    try all(
      """
      SELECT job.id, token, notification, job.user, handle, platform, keys, audience, kind, text,
        fallback, push.collapse, expires, attempts, job.registration
      FROM job JOIN push ON push.id = job.push
        LEFT JOIN registration
          ON registration.id = job.registration AND registration.user = job.user
      WHERE state = 'queued' AND job.lane = ?1 AND due <= ?2 AND NOT EXISTS (
        SELECT 1 FROM job AS earlier
        WHERE earlier.state = 'queued' AND earlier.registration IS job.registration
          AND earlier.audience IS job.audience
          AND earlier.collapse IS NOT NULL AND earlier.collapse = job.collapse
          AND earlier.lane = job.lane AND earlier.id < job.id)
      AND NOT EXISTS (
        SELECT 1 FROM job AS cancelled
        WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
          AND cancelled.registration IS job.registration
          AND cancelled.audience IS job.audience AND cancelled.collapse = job.collapse
          AND cancelled.lane = job.lane AND cancelled.id < job.id AND cancelled.due > ?2)
      ORDER BY due, job.id LIMIT ?3
      """, lane, now, max(0, limit)
    ) { row in
      let id: Int = try row.next()
      return (id, try leasedJob(id, &row, at: now))
    }
  }

  private func leasedJob(_ id: Int, _ row: inout Row, at now: Date) throws -> LeasedJob? {
    let (token, notification): (String, Int?) = (try row.next(), try row.next())
    let user: UserID? = try row.next()
    let (handle, platform): (String?, String?) = (try row.next(), try row.next())
    let keys: String? = try row.next()
    let audience: String? = try row.next()
    let (kind, text): (String, String) = (try row.next(), try row.next())
    let (fallback, collapseID): (String?, String?) = (try row.next(), try row.next())
    let (expires, attempts): (Date?, Int) = (try row.next(), try row.next())
    let registration: String? = try row.next()
    let target: LeasedJob.Target
    if let audience {
      target = .audience(audience)
    } else if let handle, let keys {
      target = .subscription(endpoint: handle, keys: keys)
    } else if let handle, let platform {
      target = .device(handle: handle, platform: platform)
    } else {
      return nil
    }
    return LeasedJob(
      id: id, token: token, notificationID: notification, user: user, target: target, kind: kind,
      text: text, fallback: fallback, collapseID: collapseID, expires: expires,
      attempts: attempts,
      recentSilentPushes: kind == "background"
        ? try silentPushes(to: registration, audience, since: now - 3600) : [])
  }

  /// Push allows three an hour; a larger budget would fit as well.
  private static var silentPushHistory: Int { 10 }

  /// When background pushes were sent to a device or an audience, newest first.
  private func silentPushes(
    to registration: String?, _ audience: String?, since time: Date
  ) throws -> [Date] {
    try column(
      """
      SELECT updated FROM job WHERE state = 'sent' AND sent_as = 'background'
        AND registration IS ? AND audience IS ? AND updated > ? ORDER BY updated DESC LIMIT ?
      """, registration, audience, time, Self.silentPushHistory)
  }
}

// MARK: - For operators and publishers

extension SQLiteTables {
  func jobs(
    in state: JobState?, limit: Int
  ) throws -> [JobRecord] {
    try database.all(
      """
      SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
      WHERE ?1 IS NULL OR state = ?1 ORDER BY job.id DESC LIMIT ?2
      """, state, max(0, limit), as: JobRecord.init)
  }

  func deliveries(of notification: Int) throws -> [JobRecord] {
    try database.all(
      """
      SELECT \(JobRecord.columns) FROM push JOIN job ON job.push = push.id
      WHERE notification = ? ORDER BY job.id
      """, notification, as: JobRecord.init)
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
    let now = now()
    let (count, lanes): (Int, [String]) = try await database.write { connection in
      let jobs = try connection.updateJobs(
        """
        UPDATE job SET state = 'queued', attempts = 0, due = ?, updated = ?, owner = NULL
        WHERE state = 'failed' AND id = coalesce(?, id)
        """, now, now, job)
      let lanes = try connection.column(
        "SELECT DISTINCT lane FROM job WHERE id IN (SELECT value FROM json_each(?))",
        SQLiteConnection.list(jobs), as: String.self)
      return (jobs.count, lanes)
    }
    if !lanes.isEmpty { observers.onJobs(Set(lanes)) }
    return count
  }

  func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.updateJobs(
        "UPDATE job SET state = 'cancelled', updated = ? WHERE id = ? AND state = 'queued'",
        now, job
      ).count == 1
    }
  }
}

extension JobRecord {
  fileprivate static let columns = """
    job.id, notification, job.lane, (SELECT name FROM user WHERE user.id = job.user), registration,
    state, attempts, due, updated, reference, reason
    """
}
