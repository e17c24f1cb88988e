package import FoundationEssentials

/// The pushes on their way out: one job for each device, worked off by lanes, at least once.
///
/// A lane leases what is due and settles it. What it neither settles nor gives back is due again
/// when the lease ends, so that nothing is lost with a crash. Jobs are written with `Store.create`.
package final class Outbox: Sendable {
  let database: Database
  let now: @Sendable () -> Date
  /// Whose leases these are: a lease that ended and went to another may not be settled any more.
  let owner = UUID().uuidString
  private let observer = Observer<Set<String>>()

  init(_ database: Database, now: @escaping @Sendable () -> Date) {
    self.database = database
    self.now = now
  }

  /// Calls `body` with the names of lanes for which jobs were committed; it only hurries.
  ///
  /// A later observer replaces an earlier one. Jobs that another process commits are not told.
  package func observe(_ body: @escaping @Sendable (Set<String>) -> Void) {
    observer.observe(body)
  }

  func tellObserver(_ lanes: Set<String>) {
    if !lanes.isEmpty { observer.tell(lanes) }
  }

  /// Takes up to `limit` jobs of the lane that are due, oldest first, until a moment.
  ///
  /// Of a lane's jobs with the same device (or audience) and collapse id only the oldest unsettled one is given out, and
  /// none while one that was called off in the middle of being sent is not settled. A
  /// job whose device is gone, or another user's now, is no longer sent but recorded as failed.
  package func lease(lane: String, limit: Int, until: Date) async throws -> [LeasedJob] {
    try await exchange([], lane: lane, limit: limit, until: until)
  }

  /// Does both in one commit, ``settle(_:)`` and ``lease(lane:limit:until:)``, in this order.
  package func exchange(
    _ outcomes: [(job: Int, outcome: JobOutcome)], lane: String, limit: Int, until: Date
  ) async throws -> [LeasedJob] {
    let moment = now()
    let owner = owner
    return try await database.write { connection in
      try connection.settle(outcomes, owner: owner, at: moment)
      guard limit > 0 else { return [] }
      return try connection.lease(lane, limit: limit, owner: owner, at: moment, until: until)
    }
  }

  /// When a job of the lane next comes due, a lease's end included; nil when none waits.
  package func nextDue(lane: String) throws -> Date? {
    try database.read { connection in
      try connection.value(
        "SELECT due FROM job WHERE state = 'queued' AND lane = ? ORDER BY due LIMIT 1", lane)
    }
  }

  /// Makes jobs due that an earlier process of this folder had leased when it ended.
  func releaseAbandonedLeases() {
    let moment = now()
    database.writeSoon { connection in
      for state in [JobState.queued, .cancelled] {
        try connection.run(
          """
          UPDATE job SET owner = NULL, due = min(due, ?)
          WHERE state = '\(state.rawValue)' AND owner IS NOT NULL
          """, moment)
      }
    }
  }
}

extension Connection {
  fileprivate func lease(
    _ lane: String, limit: Int, owner: String, at moment: Date, until: Date
  ) throws -> [LeasedJob] {
    let due = try dueJobs(of: lane, at: moment, limit: limit)
    for gone in due where gone.job == nil {
      try run(
        """
        UPDATE job SET state = 'failed', updated = ?, reason = 'the device is gone', owner = NULL
        WHERE id = ?
        """, moment, gone.id)
    }
    let jobs = due.compactMap(\.job)
    try run(
      """
      UPDATE job SET due = ?, owner = ?, updated = ?
      WHERE id IN (SELECT value FROM json_each(?))
      """, until, owner, moment, "[\(jobs.map { String($0.id) }.joined(separator: ","))]")
    return jobs
  }

  /// Jobs that are due and no earlier one stands before; `job` is nil when the device is gone.
  fileprivate func dueJobs(
    of lane: String, at moment: Date, limit: Int
  ) throws -> [(id: Int, job: LeasedJob?)] {
    try all(
      """
      SELECT job.id, token, notification, job.user, handle, platform, audience, kind, text,
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
        SELECT 1 FROM job AS called_off
        WHERE called_off.state = 'cancelled' AND called_off.owner IS NOT NULL
          AND called_off.registration IS job.registration
          AND called_off.audience IS job.audience AND called_off.collapse = job.collapse
          AND called_off.lane = job.lane AND called_off.id < job.id AND called_off.due > ?2)
      ORDER BY due, job.id LIMIT ?3
      """, lane, moment, max(0, limit)
    ) { row in
      let id: Int = try row.next()
      return (id, try LeasedJob(id: id, &row, on: self, at: moment))
    }
  }
}

extension Connection {
  /// When background pushes were sent to a device or an audience, the newest first.
  fileprivate func wakes(
    of registration: String?, _ audience: String?, since moment: Date
  ) throws -> [Date] {
    try all(
      """
      SELECT updated FROM job WHERE state = 'sent' AND sent_as = 'background'
        AND registration IS ? AND audience IS ? AND updated > ? ORDER BY updated DESC LIMIT 10
      """, registration, audience, moment
    ) { try $0.next() }
  }
}

extension LeasedJob {
  fileprivate init?(
    id: Int, _ row: inout Row, on connection: borrowing Connection, at moment: Date
  ) throws {
    self.id = id
    token = try row.next()
    notificationID = try row.next()
    user = try row.next()
    let handle: String? = try row.next()
    let platform: String? = try row.next()
    let audience: String? = try row.next()
    kind = try row.next()
    text = try row.next()
    fallback = try row.next()
    collapseID = try row.next()
    expires = try row.next()
    attempts = try row.next()
    let registration: String? = try row.next()
    recentWakes =
      kind == "background"
      ? try connection.wakes(of: registration, audience, since: moment - 3600) : []
    if let audience {
      target = .audience(audience)
    } else if let handle, let platform {
      target = .device(handle: handle, platform: platform)
    } else {
      return nil
    }
  }
}
