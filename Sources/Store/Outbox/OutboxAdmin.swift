import FoundationEssentials

extension Outbox {
  /// Jobs, newest first, at most `limit`, with numbers below `before`.
  package func jobs(
    in state: JobState? = nil, lane: String? = nil, limit: Int, before: Int? = nil
  ) throws -> [JobRecord] {
    try database.all(
      """
      SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
      WHERE job.id < ?1 AND (?2 IS NULL OR state = ?2) AND (?3 IS NULL OR job.lane = ?3)
      ORDER BY job.id DESC LIMIT ?4
      """, before ?? .max, state, lane, max(0, limit), as: JobRecord.init)
  }

  /// The jobs of a notification, oldest first.
  package func deliveries(of notification: Int) throws -> [JobRecord] {
    try database.all(
      """
      SELECT \(JobRecord.columns) FROM push JOIN job ON job.push = push.id
      WHERE notification = ? ORDER BY job.id
      """, notification, as: JobRecord.init)
  }

  /// The user and the device of the job with this number, token and notification; nil if there is none.
  ///
  /// `user` and `registration` are nil for an audience.
  package func addressee(
    of job: Int, token: String, notification: Int
  ) throws -> (user: UserID?, registration: String?)? {
    try database.first(
      """
      SELECT user, registration FROM job JOIN push ON push.id = job.push
      WHERE job.id = ? AND token = ? AND notification = ?
      """, job, token, notification
    ) { row in (try row.next(), try row.next()) }
  }

  /// Queues a dead letter again with no attempts; false if there is no such dead letter.
  package func replay(job: Int) async throws -> Bool {
    try await replay("id = ?", job) == 1
  }

  /// Queues all dead letters of a lane again, or of every lane, and returns how many.
  package func replayAll(lane: String? = nil) async throws -> Int {
    try await replay("lane = coalesce(?, lane)", lane)
  }

  private func replay(_ condition: String, _ value: some Column & Sendable) async throws -> Int {
    let now = now()
    let lanes = try await database.write { connection in
      try connection.column(
        """
        UPDATE job SET state = 'queued', attempts = 0, due = ?, updated = ?, owner = NULL
        WHERE state = 'failed' AND \(condition) RETURNING lane
        """, now, now, value, as: String.self)
    }
    notifyObserver(lanes)
    return lanes.count
  }

  /// Cancels a job; false if it is not queued any more.
  ///
  /// One that is being sent may still arrive; it is then recorded as sent.
  package func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.run(
      "UPDATE job SET state = 'cancelled', updated = ? WHERE id = ? AND state = 'queued'",
      now, job) == 1
  }

  /// The number of jobs by lane and state.
  package func counts() throws -> [(lane: String, state: JobState, count: Int)] {
    try database.all(
      "SELECT lane, state, count(*) FROM job GROUP BY lane, state ORDER BY lane, state"
    ) { ($0, $1, $2) }
  }
}

extension JobRecord {
  fileprivate static let columns = """
    job.id, notification, job.lane, (SELECT name FROM user WHERE user.id = job.user), registration,
    state, attempts, due, updated, reference, reason
    """
}
