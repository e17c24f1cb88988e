import FoundationEssentials

extension PostgresTables {
  func pendingCollapseIDs(before job: Int, since: Date) async throws -> Int {
    // Literals, for the partial indexes job_in_order and job_sent.
    let earlier = { @Sendable (state: String) -> String in
      """
      SELECT earlier.collapse FROM job JOIN job AS earlier
        ON earlier.line = job.line AND earlier.id < job.id
        AND earlier.lane = job.lane AND earlier.state = '\(state)'
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
}

// MARK: - Inserting

extension PostgresTransaction {
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], of lane: SendingLane, limit: Int, owner: String,
    at now: Date, until: Date
  ) throws -> Lease {
    let settled = try settle(outcomes, of: lane, owner: owner, at: now)
    // Before what was refused is known, so that most exchanges are one message.
    let jobs = try leaseUndoubted(lane, limit: limit, owner: owner, at: now, until: until)
    let ended = try recordAcceptance(settled, by: lane, at: now)
    var lease =
      jobs.isEmpty
      ? try lease(lane, limit: limit, owner: owner, at: now, until: until) : Lease(jobs: jobs)
    lease.ended = settled.ended + ended
    return lease
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

extension PostgresTransaction {
  @discardableResult
  func updateJobs(
    from old: JobState, to new: JobState, _ sql: String, _ values: any Parameter...
  ) throws -> [ChangedJob] {
    try changedJobs(execute(Self.changedJobs(by: sql), values), from: old, to: new)
  }

  /// The same as `updateJobs` for an INSERT or UPDATE whose result is not needed at once; `old` is nil for new jobs.
  func sendJobs(
    from old: JobState?, to new: JobState, _ sql: String, _ values: any Parameter...
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
    try result.map { row in try changedJob(&row, from: old, to: new) }
  }

  private func changedJob(
    _ row: inout PostgresRow, from old: JobState?, to new: JobState
  ) throws -> ChangedJob {
    let (id, user, device): (Int, UserID?, String?) = (
      try row.next(), try row.next(), try row.next()
    )
    let (lane, state): (String, JobState) = (try row.next(), try row.next())
    let (reason, updated): (String?, Date) = (try row.next(), try row.next())
    let (notification, sender): (Int?, UserID?) = (try row.next(), try row.next())
    if let notification {
      count(notification, from: old, to: new, at: updated)
      collected.events.append(
        .job(
          id, of: notification, sender: sender, user: user, device: device, lane: lane,
          state: state, reason: reason, at: updated))
    }
    return ChangedJob(id: id, lane: lane)
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

extension PostgresTransaction {
  func moveJobs(of registration: String, to lane: String) throws {
    try run(
      """
      UPDATE job SET lane = $2
      WHERE lane = (SELECT lane FROM registration WHERE id = $1) AND line = $1
        AND state = 'queued' AND lane <> $2
      """, registration, lane)
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
