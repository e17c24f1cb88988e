import FoundationEssentials

extension PostgresTransaction {
  /// Leases due jobs that no earlier one blocks and that no other node is leasing now; fails those whose
  /// device is gone.
  func lease(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> Lease {
    let condition = try condition(of: lane)
    if let pause = condition.pause {
      if !condition.isClosed {
        let jobs = try leaseDue(lane, limit: limit, owner: owner, at: now, until: until)
        if !jobs.isEmpty { return Lease(jobs: jobs, pause: pause) }
      }
      let (jobs, pause) = try probe(lane, condition, pause, limit: limit, at: now)
      return Lease(jobs: try lease(jobs, owner: owner, at: now, until: until), pause: pause)
    }
    guard limit > 0 else { return Lease() }
    if !condition.isDoubtful {
      if condition.trials > 0 { try endDoubt(about: lane) }
      let jobs = try leaseDue(lane, limit: limit, owner: owner, at: now, until: until)
      if !jobs.isEmpty || condition.refused < RefusalRule.doubt { return Lease(jobs: jobs) }
    }
    let (jobs, pause) = try trial(lane, condition, limit: limit, at: now, until: until)
    return Lease(jobs: try lease(jobs, owner: owner, at: now, until: until), pause: pause)
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
    unlessRefused most: Int? = nil
  ) throws -> [LeasedJob] {
    guard limit > 0 else { return [] }
    // A cancelled job with an owner is still being sent: a later push must not overtake it.
    let leased = try all(
      """
      WITH ready AS (
        SELECT id, due FROM job
        WHERE state = 'queued' AND lane = $1 AND due <= $2 AND NOT EXISTS (
          SELECT 1 FROM job AS earlier
          WHERE earlier.state = 'queued' AND earlier.lane = job.lane AND earlier.line = job.line
            AND earlier.collapse = job.collapse AND earlier.id < job.id)
        AND NOT EXISTS (
          SELECT 1 FROM job AS cancelled
          WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
            AND cancelled.lane = job.lane AND cancelled.line = job.line
            AND cancelled.collapse = job.collapse AND cancelled.id < job.id AND cancelled.due > $2)
        AND ($7::bigint IS NULL OR (NOT EXISTS (
            SELECT 1 FROM lane_pause
            WHERE lane_pause.lane = $1 AND settings = $6 AND since IS NOT NULL)
          AND (SELECT count(*) FROM (
            SELECT 1 FROM job AS held
            WHERE held.state = 'queued' AND held.lane = $1 AND held.refused = $6 LIMIT $7
          ) AS few) < $7))
        ORDER BY due, id LIMIT $3 FOR UPDATE OF job SKIP LOCKED
      ), \(Self.leasing("$4", owner: "$5", at: "$2"))
      """, lane.name, now, limit, until, owner, lane.settings, most,
      read: LeasedRow.init)
    return try complete(leased, at: now)
  }

  /// Leases these jobs.
  private func lease(_ jobs: [Int], owner: String, at now: Date, until: Date) throws -> [LeasedJob]
  {
    if jobs.isEmpty { return [] }
    let leased = try all(
      """
      WITH ready AS (SELECT id, due FROM job WHERE id = ANY($1)),
        \(Self.leasing("$2", owner: "$3", at: "$4"))
      """, jobs, until, owner, now, read: LeasedRow.init)
    return try complete(leased, at: now)
  }

  /// The rest of a query that leases what is `ready`.
  private static func leasing(_ until: String, owner: String, at now: String) -> String {
    """
    leased AS (
      UPDATE job SET due = \(until), owner = \(owner), updated = \(now), refused = NULL,
        refused_since = NULL
      FROM ready WHERE job.id = ready.id
      RETURNING job.*, ready.due AS was_due
    )
    SELECT leased.id, line, token, notification, leased.user_id, handle, platform, keys, audience,
      kind, text, fallback, push.collapse, expires, attempts
    FROM leased JOIN push ON push.id = leased.push
      LEFT JOIN registration ON registration.id = leased.registration
        AND registration.user_id = leased.user_id AND registration.ended IS NULL
    ORDER BY was_due, leased.id
    """
  }

  /// Fails those whose device is gone, and adds to the others what was sent to their devices before.
  private func complete(_ leased: [LeasedRow], at now: Date) throws -> [LeasedJob] {
    let gone = leased.filter { $0.target == nil }.map(\.id)
    if !gone.isEmpty {
      try updateJobs(
        from: .queued, to: .failed,
        """
        UPDATE job SET state = 'failed', updated = $1, reason = 'the device is gone', owner = NULL
        WHERE id = ANY($2)
        """, now, gone)
    }
    let silent = leased.filter { $0.kind == "background" }.map(\.line)
    let pushes = silent.isEmpty ? [:] : try silentPushes(to: silent, since: now - 3600)
    return leased.compactMap { row in row.job(recentSilentPushes: pushes[row.line] ?? []) }
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
  let notification: Int?
  let user: UserID?
  /// Nil if the registration is gone.
  let target: LeasedJob.Target?
  let kind: String
  let text: String
  let fallback: String?
  let collapseID: String?
  let expires: Date?
  let attempts: Int

  init(_ row: inout PostgresRow) throws {
    (id, line, token) = (try row.next(), try row.next(), try row.next())
    (notification, user) = (try row.next(), try row.next())
    let (handle, platform): (String?, String?) = (try row.next(), try row.next())
    let (keys, audience): (String?, String?) = (try row.next(), try row.next())
    (kind, text, fallback) = (try row.next(), try row.next(), try row.next())
    (collapseID, expires, attempts) = (try row.next(), try row.next(), try row.next())
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
        id: id, token: token, notificationID: notification, user: user, target: target, kind: kind,
        text: text, fallback: fallback, collapseID: collapseID, expires: expires,
        attempts: attempts,
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
    settled.ended = try settle(outcomes[...], by: lane, owner: owner, at: now)
    if !settled.delivered.isEmpty {
      try checkRefusals(lane) { settled.hasRefusals = $0 }
    }
    return settled
  }

  private func settle(
    _ outcomes: ArraySlice<(job: Int, outcome: JobOutcome)>, by lane: SendingLane, owner: String,
    at now: Date
  ) throws -> Int {
    var ended = 0
    for case (let job, .deadToken(let since, _)) in outcomes {
      ended += try endRegistration(
        ofJob: job, by: lane, unlessUpdatedSince: since, owner: owner, at: now)
    }
    var delivered: [String: [(job: Int, reference: String?, note: String?)]] = [:]
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        delivered[kind, default: []].append((job, reference, note))
      } else if try !settle(job, outcome, by: lane, owner: owner, at: now) {
        // The job was cancelled while it was sent; only its lease ends.
        try run("UPDATE job SET owner = NULL WHERE id = $1 AND owner = $2", job, owner)
      }
    }
    // Most outcomes: one statement for all of a kind.
    for (kind, jobs) in delivered {
      let numbers = jobs.map(\.job)
      try send(
        """
        SELECT push.notification FROM job JOIN push ON push.id = job.push
        WHERE job.id = ANY($1) AND owner = $2 AND state = 'cancelled' FOR UPDATE OF job
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
    return ended
  }

  /// Ends the registration that a push service no longer knows, and returns their number; 0 if it was renewed.
  private func endRegistration(
    ofJob job: Int, by lane: SendingLane, unlessUpdatedSince since: Date?, owner: String,
    at now: Date
  ) throws -> Int {
    // While the job is leased, `updated` is the time of the lease.
    try run(
      """
      UPDATE registration SET ended = $4, ended_by = $5
      WHERE id = (SELECT registration FROM job WHERE id = $1 AND owner = $2) AND ended IS NULL
        AND updated <= coalesce($3, (SELECT updated FROM job WHERE id = $1))
      """, job, owner, since, now, lane.name)
  }

  /// Records an outcome other than `delivered`; false if the job is no longer the owner's, or no longer queued.
  private func settle(
    _ job: Int, _ outcome: JobOutcome, by lane: SendingLane, owner: String, at now: Date
  ) throws -> Bool {
    if case .refused(let endsRegistration, let since, let reason) = outcome {
      return try refuse(
        job, by: lane, endsRegistration: endsRegistration, since: since, reason: reason,
        owner: owner, at: now)
    }
    if case .stopped(let reason) = outcome { try pause(lane, reason, isStopped: true, at: now) }
    let (state, due, attempts, reason): (JobState, Date?, Int, String?) =
      switch outcome {
      case .delivered: (.sent, nil, 1, nil)
      case .retry(let due, let reason): (.queued, due, 1, reason)
      case .released(let due, let reason): (.queued, due, 0, reason)
      case .stopped(let reason), .refused(_, _, let reason): (.queued, now, 0, reason)
      case .deadToken(_, let reason), .rejected(let reason): (.failed, nil, 1, reason)
      case .expired: (.expired, nil, 0, nil)
      }
    let sql = """
      UPDATE job SET state = $1, due = coalesce($2, due), attempts = attempts + $3,
        reason = coalesce($4, reason), updated = $5, owner = NULL
      WHERE job.id = $6 AND owner = $7 AND state = 'queued'
      """
    guard state != .queued else {
      return try run(sql, state, due, attempts, reason, now, job, owner) == 1
    }
    return try updateJobs(
      from: .queued, to: state, sql, state, due, attempts, reason, now, job, owner
    ).count == 1
  }
}
