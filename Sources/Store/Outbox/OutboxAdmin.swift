import FoundationEssentials

extension Outbox {
  /// Jobs, newest first, at most `limit`.
  package func jobs(
    in state: JobState? = nil, limit: Int
  ) throws -> [JobRecord] {
    try database.all(
      """
      SELECT \(JobRecord.columns) FROM job JOIN push ON push.id = job.push
      WHERE ?1 IS NULL OR state = ?1 ORDER BY job.id DESC LIMIT ?2
      """, state, max(0, limit), as: JobRecord.init)
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

  /// Queues one dead letter again with no attempts, or all of them, and returns how many.
  package func replay(_ job: Int? = nil) async throws -> Int {
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
    notifyObserver(lanes)
    return count
  }

  /// Cancels a job; false if it is not queued any more.
  ///
  /// One that is being sent may still arrive; it is then recorded as sent.
  package func cancel(job: Int) async throws -> Bool {
    let now = now()
    return try await database.write { connection in
      try connection.updateJobs(
        "UPDATE job SET state = 'cancelled', updated = ? WHERE id = ? AND state = 'queued'",
        now, job
      ).count == 1
    }
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
