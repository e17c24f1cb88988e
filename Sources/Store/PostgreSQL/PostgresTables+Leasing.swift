import FoundationEssentials

extension PostgresTransaction {
  func leaseDue(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
    try leaseDue(lane, limit: limit, owner: owner, at: now, until: until, unlessRefused: nil)
  }

  /// Leases the due jobs of a lane that is not paused and whose service has refused few; otherwise none.
  func leaseUndoubted(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
    try leaseDue(
      lane, limit: limit, owner: owner, at: now, until: until, unlessRefused: RefusalRule.doubt)
  }

  /// Leases due jobs; with `unlessRefused` none of a lane that is paused or has so many refused ones.
  private func leaseDue(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date,
    unlessRefused most: Int?
  ) throws -> [LeasedJob] {
    guard limit > 0 else { return [] }
    return try leaseAwake(lane, limit: limit, at: now) { limit in
      let leased = try leaseNext(
        lane, limit: limit, owner: owner, at: now, until: until, unlessRefused: most)
      return (try complete(leased, at: now), leased.count)
    }
  }

  private func leaseNext(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date,
    unlessRefused most: Int?
  ) throws -> [LeasedRow] {
    // A cancelled job with an owner is still being sent: a later push must not overtake it. One that waits for the end
    // of quiet hours lets a later one pass, which waits for it, too, unless it is urgent.
    // OFFSET 0: each job looks for those before it by an index. While the planner believes that nothing is queued
    // (``isStillQueued``), it would join all with all.
    try all(
      """
      WITH ready AS (
        SELECT id, due FROM job
        WHERE state = 'queued' AND lane = $1 AND due <= $2 AND NOT EXISTS (
          SELECT 1 FROM job AS earlier
          WHERE earlier.state = 'queued' AND earlier.lane = job.lane AND earlier.line = job.line
            AND earlier.collapse = job.collapse AND earlier.id < job.id
            AND (earlier.quiet IS NULL OR earlier.quiet <= $2) OFFSET 0)
        AND NOT EXISTS (
          SELECT 1 FROM job AS cancelled
          WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
            AND cancelled.lane = job.lane AND cancelled.line = job.line
            AND cancelled.collapse = job.collapse AND cancelled.id < job.id AND cancelled.due > $2
          OFFSET 0)
        AND ($7::bigint IS NULL OR (NOT EXISTS (
            SELECT 1 FROM lane_pause
            WHERE lane_pause.lane = $1 AND settings = $6 AND since IS NOT NULL)
          AND (SELECT count(*) FROM (
            SELECT 1 FROM job AS held
            WHERE held.state = 'queued' AND held.lane = $1 AND held.refused = $6 LIMIT $7
          ) AS few) < $7))
        ORDER BY due, id LIMIT $3 FOR UPDATE OF job SKIP LOCKED
      ), \(leasing("$4", owner: "$5", at: "$2"))
      """, lane.name, now, limit, until, owner, lane.settings, most,
      read: LeasedRow.init)
  }

  func lease(_ jobs: [Int], owner: String, at now: Date, until: Date) throws -> [LeasedJob] {
    if jobs.isEmpty { return [] }
    let leased = try all(
      """
      WITH ready AS (SELECT id, due FROM job WHERE id = ANY($1)),
        \(leasing("$2", owner: "$3", at: "$4"))
      """, jobs, until, owner, now, read: LeasedRow.init)
    return try complete(leased, at: now)
  }

  /// The rest of a query that leases what is `ready`.
  private func leasing(_ until: String, owner: String, at now: String) -> String {
    """
    leased AS (
      UPDATE job SET due = \(until), owner = \(owner), updated = \(now), refused = NULL,
        refused_since = NULL
      FROM ready WHERE job.id = ready.id
      RETURNING job.*, ready.due AS was_due
    )
    SELECT leased.id, line, token, push.id, notification, leased.user_id, handle, platform, keys,
      audience, kind, push.collapse, expires, attempts, registration.language,
      \(QuietDevices.column(rules)), leased.quiet IS NOT NULL, push.urgent IS NOT NULL
    FROM leased JOIN push ON push.id = leased.push
      LEFT JOIN registration ON registration.id = leased.registration
        AND registration.user_id = leased.user_id AND registration.ended IS NULL
    ORDER BY was_due, leased.id
    """
  }

  /// The jobs that can be sent now, each with what was sent to its device before.
  private func complete(_ leased: [LeasedRow], at now: Date) throws -> [LeasedJob] {
    let silent = leased.filter { $0.kind == "background" }.map(\.line)
    let pushes = silent.isEmpty ? [:] : try silentPushes(to: silent, since: now - 3600)
    return try sendable(
      leased.map { row in
        DueJob(
          id: row.id, job: row.job(recentSilentPushes: pushes[row.line] ?? []), quiet: row.quiet,
          hasWaited: row.hasWaited, isUrgent: row.isUrgent)
      }, at: now)
  }

  /// Push allows three an hour; a larger budget would fit as well.
  private static var silentPushHistory: Int { 10 }

  /// When background pushes were sent to devices or audiences, newest first.
  private func silentPushes(to lines: [String], since time: Date) throws -> [String: [Date]] {
    let pushes = try all(
      """
      SELECT given.line, sent.updated FROM unnest($1::text[]) AS given(line), LATERAL (
        SELECT updated FROM job WHERE state = 'sent' AND sent_as = 'background'
          AND job.line = given.line AND updated > $2 ORDER BY updated DESC LIMIT $3) AS sent
      ORDER BY sent.updated DESC
      """, Array(Set(lines)), time, Self.silentPushHistory
    ) { ($0 as String, $1 as Date) }
    return Dictionary(grouping: pushes) { $0.0 }.mapValues { $0.map(\.1) }
  }
}

/// A row of the query that leases.
private struct LeasedRow {
  let id: Int
  let line: String
  let token: String
  let push: Int
  let notification: Int?
  let user: UserID?
  /// Nil if the registration is gone.
  let target: LeasedJob.Target?
  let kind: String
  let collapseID: String?
  let expires: Date?
  let attempts: Int
  let language: String?
  /// What ``QuietDevices`` selects of its device.
  let quiet: String?
  /// Whether it has waited for the end of a quiet period.
  let hasWaited: Bool
  /// Whether no rule keeps it from being sent.
  let isUrgent: Bool

  init(_ row: inout PostgresRow) throws {
    (id, line, token) = (try row.next(), try row.next(), try row.next())
    (push, notification, user) = (try row.next(), try row.next(), try row.next())
    let (handle, platform): (String?, String?) = (try row.next(), try row.next())
    let (keys, audience): (String?, String?) = (try row.next(), try row.next())
    kind = try row.next()
    (collapseID, expires, attempts) = (try row.next(), try row.next(), try row.next())
    (language, quiet, hasWaited) = (try row.next(), try row.next(), try row.next())
    isUrgent = try row.next()
    target =
      if let audience {
        .audience(audience)
      } else if let handle, let keys {
        .subscription(endpoint: handle, keys: keys)
      } else if let handle, let platform {
        .device(handle: handle, platform: platform)
      } else {
        nil
      }
  }

  func job(recentSilentPushes: [Date]) -> LeasedJob? {
    target.map { target in
      LeasedJob(
        id: id, token: token, push: push, notificationID: notification, user: user, target: target,
        kind: kind, collapseID: collapseID, expires: expires, attempts: attempts,
        language: language,
        recentSilentPushes: kind == "background" ? recentSilentPushes : [])
    }
  }
}

// MARK: - Settling

extension PostgresTransaction {
  /// Records the outcomes of jobs leased to `owner`, in the order of the answers, and ends their leases.
  ///
  /// Ignores an outcome if the lease has passed to another process. If the job was cancelled meanwhile,
  /// only `delivered` counts.
  func settle(
    _ outcomes: [(job: Int, outcome: JobOutcome)], of lane: SendingLane, owner: String, at now: Date
  ) throws -> SettledOutcomes {
    let settled = SettledOutcomes(outcomes)
    settled.ended = try settleEach(outcomes[...], by: lane, owner: owner, at: now)
    if !settled.delivered.isEmpty {
      try checkRefusals(lane) { settled.hasRefusals = $0 }
    }
    return settled
  }

  func settle(_ jobs: [DeliveredJob], sentAs kind: String, owner: String, at now: Date) throws {
    let numbers = jobs.map(\.id)
    try send(
      """
      SELECT push.notification FROM job JOIN push ON push.id = job.push
      WHERE job.id = ANY($1) AND owner = $2 AND state = 'cancelled'
      """, numbers, owner
    ) { [self] result in
      for case let notification? in try result.map({ row in try row.next(Int?.self) }) {
        count(notification, from: .cancelled, to: .queued, at: now)
      }
    }
    try sendJobs(
      from: .queued, to: .sent,
      """
      UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = $1,
        reference = given.reference, reason = given.note, updated = $2, owner = NULL
      FROM unnest($3::bigint[], $4::text[], $5::text[]) AS given(id, reference, note)
      WHERE job.id = given.id AND owner = $6
      """, kind, now, numbers, jobs.map(\.reference), jobs.map(\.note), owner)
  }
}
