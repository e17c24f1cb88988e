import FoundationEssentials

extension Outbox {
  /// Jobs, the newest first, at most `limit`, with numbers below `before`.
  package func jobs(
    in state: JobState? = nil, lane: String? = nil, limit: Int, before: Int? = nil
  ) throws -> [Delivery] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(Delivery.columns) FROM job JOIN push ON push.id = job.push
        WHERE job.id < ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR job.lane = ?3)
        ORDER BY job.id DESC LIMIT ?4
        """, before ?? .max, state, lane, max(0, limit), read: Delivery.init)
    }
  }

  /// The deliveries of a notification to the devices, in the order of their jobs.
  package func deliveries(of notification: Int) throws -> [Delivery] {
    try database.read { connection in
      try connection.all(
        """
        SELECT \(Delivery.columns) FROM push JOIN job ON job.push = push.id
        WHERE notification = ? ORDER BY job.id
        """, notification, read: Delivery.init)
    }
  }

  /// Whom a job with this number, token and notification is for: its user and the id of the device's
  /// registration, each nil where it has none; nil when there is no such job.
  package func addressee(
    of job: Int, token: String, notification: Int
  ) throws -> (user: UserID?, registration: String?)? {
    try database.read { connection in
      try connection.first(
        """
        SELECT user, registration FROM job JOIN push ON push.id = job.push
        WHERE job.id = ? AND token = ? AND notification = ?
        """, job, token, notification
      ) { row in (try row.next(), try row.next()) }
    }
  }

  /// Makes a dead letter due again as if never tried; false when there is no such dead letter.
  package func replay(job: Int) async throws -> Bool {
    try await replay("id = ?", job) == 1
  }

  /// Makes all dead letters of a lane due again, or of every lane, and returns how many.
  package func replayAll(lane: String? = nil) async throws -> Int {
    try await replay("lane = coalesce(?, lane)", lane)
  }

  private func replay(_ condition: String, _ value: some Column & Sendable) async throws -> Int {
    let moment = now()
    let lanes = try await database.write { connection in
      try connection.all(
        """
        UPDATE job SET state = 'queued', attempts = 0, due = ?, updated = ?, owner = NULL
        WHERE state = 'failed' AND \(condition) RETURNING lane
        """, moment, moment, value
      ) { try $0.next(String.self) }
    }
    tellObserver(Set(lanes))
    return lanes.count
  }

  /// Calls a job off; false when it has been sent or has failed already.
  ///
  /// One that is being sent at this moment may arrive nevertheless, and is then recorded as sent.
  package func cancel(job: Int) async throws -> Bool {
    let moment = now()
    return try await database.write { connection in
      try connection.run(
        "UPDATE job SET state = 'cancelled', updated = ? WHERE id = ? AND state = 'queued'",
        moment, job) == 1
    }
  }

  /// How many jobs there are of each lane in each state.
  package func counts() throws -> [(lane: String, state: JobState, count: Int)] {
    try database.read { connection in
      try connection.all(
        "SELECT lane, state, count(*) FROM job GROUP BY lane, state ORDER BY lane, state"
      ) { row in (try row.next(), try row.next(), try row.next()) }
    }
  }
}

extension Delivery {
  /// The columns that `init(_:)` reads, in its order.
  fileprivate static let columns = """
    job.id, notification, job.lane,
    (SELECT name FROM user WHERE user.id = job.user), registration, state, attempts, due, updated, reference,
    reason
    """

  fileprivate init(_ row: inout Row) throws {
    job = try row.next()
    notificationID = try row.next()
    lane = try row.next()
    user = try row.next()
    registration = try row.next()
    state = try row.next()
    attempts = try row.next()
    due = try row.next()
    updated = try row.next()
    reference = try row.next()
    reason = try row.next()
  }
}
