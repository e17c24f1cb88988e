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
  /// Of jobs with the same device and collapse id only the oldest unsettled one is given out. A
  /// job whose device is gone, or another user's now, is no longer sent but recorded as failed.
  package func lease(lane: String, limit: Int, until: Date) async throws -> [LeasedJob] {
    let moment = now()
    let owner = owner
    return try await database.write { connection in
      try connection.dueJobs(of: lane, at: moment, limit: limit).compactMap { due in
        guard let job = due.job else {
          try connection.run(
            """
            UPDATE job SET state = 'failed', updated = ?, reason = 'the device is gone'
            WHERE id = ?
            """, moment, due.id)
          return nil
        }
        try connection.run(
          "UPDATE job SET due = ?, owner = ?, updated = ? WHERE id = ?", until, owner, moment,
          due.id)
        return job
      }
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
      try connection.run(
        "UPDATE job SET owner = NULL, due = min(due, ?) WHERE owner IS NOT NULL", moment)
    }
  }
}

extension Connection {
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
      WHERE state = 'queued' AND job.lane = ? AND due <= ? AND NOT EXISTS (
        SELECT 1 FROM job AS earlier
        WHERE earlier.state = 'queued' AND earlier.registration = job.registration
          AND earlier.collapse IS NOT NULL AND earlier.collapse = job.collapse
          AND earlier.id < job.id)
      ORDER BY due, job.id LIMIT ?
      """, lane, moment, max(0, limit)
    ) { row in
      let id: Int = try row.next()
      return (id, try LeasedJob(id: id, &row, on: self, at: moment))
    }
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
    recentWakes = try connection.all(
      """
      SELECT updated FROM job WHERE state = 'sent' AND registration = ?
        AND sent_as = 'background' AND updated > ? ORDER BY updated DESC LIMIT 10
      """, registration, moment.addingTimeInterval(-3600)
    ) { try $0.next() }
    if let audience {
      target = .audience(audience)
    } else if let handle, let platform {
      target = .device(handle: handle, platform: platform)
    } else {
      return nil
    }
  }
}
