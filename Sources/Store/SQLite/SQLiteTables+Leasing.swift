import FoundationEssentials

extension SQLiteConnection {
  func leaseDue(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
    try leaseAwake(lane, limit: limit, at: now) { limit in
      let due = try dueJobs(of: lane.name, at: now, limit: limit)
      return (try lease(due, owner: owner, at: now, until: until), due.count)
    }
  }

  func lease(_ jobs: [Int], owner: String, at now: Date, until: Date) throws -> [LeasedJob] {
    try lease(dueJobs(jobs, at: now), owner: owner, at: now, until: until)
  }

  /// Leases those due jobs that can be sent now.
  private func lease(
    _ due: [DueJob], owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
    let jobs = try sendable(due, at: now)
    try run(
      """
      UPDATE job SET due = $1, owner = $2, updated = $3, refused = NULL, refused_since = NULL
      WHERE id \(isIn("$4"))
      """, until, owner, now, jobs.map(\.id))
    return jobs
  }

  /// What is leased of a job, and with which registration.
  private var leasedColumns: String {
    """
    SELECT job.id, token, push.id, notification, job.user_id, handle, platform, keys, audience, kind,
      push.collapse, expires, attempts, job.registration, registration.language,
      \(QuietDevices.column(rules)), job.quiet IS NOT NULL, push.urgent IS NOT NULL
    FROM job JOIN push ON push.id = job.push
      LEFT JOIN registration ON registration.id = job.registration AND registration.user_id = job.user_id
        AND registration.ended IS NULL
    """
  }

  /// These jobs; `job` is nil if the registration is gone.
  private func dueJobs(_ jobs: [Int], at now: Date) throws -> [DueJob] {
    try all(
      """
      \(leasedColumns) WHERE job.id \(isIn("$1")) ORDER BY job.id
      """, jobs
    ) { row in try dueJob(&row, at: now) }
  }

  /// The due jobs that no earlier one blocks; `job` is nil if the registration is gone.
  private func dueJobs(
    of lane: String, at now: Date, limit: Int
  ) throws -> [DueJob] {
    // A cancelled job with an owner is still being sent: a later push must not overtake it. One that waits for the end
    // of quiet hours lets a later one pass, which waits for it, too, unless it is urgent.
    try all(
      """
      \(leasedColumns)
      WHERE state = 'queued' AND job.lane = $1 AND due <= $2 AND NOT EXISTS (
        SELECT 1 FROM job AS earlier
        WHERE earlier.state = 'queued' AND earlier.registration IS job.registration
          AND earlier.audience IS job.audience
          AND earlier.collapse IS NOT NULL AND earlier.collapse = job.collapse
          AND earlier.lane = job.lane AND earlier.id < job.id
          AND (earlier.quiet IS NULL OR earlier.quiet <= $2))
      AND NOT EXISTS (
        SELECT 1 FROM job AS cancelled
        WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
          AND cancelled.registration IS job.registration
          AND cancelled.audience IS job.audience AND cancelled.collapse = job.collapse
          AND cancelled.lane = job.lane AND cancelled.id < job.id AND cancelled.due > $2)
      ORDER BY due, job.id LIMIT $3
      """, lane, now, max(0, limit)
    ) { row in try dueJob(&row, at: now) }
  }

  private func dueJob(_ row: inout SQLiteRow, at now: Date) throws -> DueJob {
    let id: Int = try row.next()
    let job = try leasedJob(id, &row, at: now)
    return DueJob(
      id: id, job: job, quiet: try row.next(), hasWaited: try row.next(),
      isUrgent: try row.next())
  }

  private func leasedJob(_ id: Int, _ row: inout SQLiteRow, at now: Date) throws -> LeasedJob? {
    let (token, push): (String, Int) = (try row.next(), try row.next())
    let notification: Int? = try row.next()
    let user: UserID? = try row.next()
    let (handle, platform): (String?, String?) = (try row.next(), try row.next())
    let keys: String? = try row.next()
    let audience: String? = try row.next()
    let (kind, collapseID): (String, String?) = (try row.next(), try row.next())
    let (expires, attempts): (Date?, Int) = (try row.next(), try row.next())
    let (registration, language): (String?, String?) = (try row.next(), try row.next())
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
      id: id, token: token, push: push, notificationID: notification, user: user, target: target,
      kind: kind, collapseID: collapseID, expires: expires, attempts: attempts,
      language: language,
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
        AND registration IS $1 AND audience IS $2 AND updated > $3 ORDER BY updated DESC LIMIT $4
      """, registration, audience, time, Self.silentPushHistory)
  }
}
