import FoundationEssentials

extension PostgresTransaction {
  /// Leases due jobs that no earlier one blocks and that no other node is leasing now; fails those whose
  /// device is gone.
  func lease(
    _ lane: String, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob] {
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
        ORDER BY due, id LIMIT $3 FOR UPDATE OF job SKIP LOCKED
      ), leased AS (
        UPDATE job SET due = $4, owner = $5, updated = $2 FROM ready WHERE job.id = ready.id
        RETURNING job.*, ready.due AS was_due
      )
      SELECT leased.id, line, token, notification, leased.user_id, handle, platform, keys, audience,
        kind, text, fallback, push.collapse, expires, attempts
      FROM leased JOIN push ON push.id = leased.push
        LEFT JOIN registration
          ON registration.id = leased.registration AND registration.user_id = leased.user_id
      ORDER BY was_due, leased.id
      """, lane, now, max(0, limit), until, owner, read: LeasedRow.init)
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
  /// Records the outcomes of jobs leased to `owner`, and ends their leases.
  ///
  /// Ignores an outcome if the lease has passed to another process. If the job was cancelled meanwhile,
  /// only `delivered` counts.
  ///
  /// - Returns: the users whose registrations were removed.
  func settle(
    _ outcomes: [(job: Int, outcome: JobOutcome)], owner: String, at now: Date
  ) throws -> [UserID] {
    let former = try outcomes.compactMap { job, outcome in
      guard case .deadToken(let since, _) = outcome else { return nil as UserID? }
      return try removeRegistration(ofJob: job, unlessUpdatedSince: since, owner: owner)
    }
    collected.messages += former.map(NodeMessage.credentialsEnded)
    var delivered: [String: [(job: Int, reference: String?, note: String?)]] = [:]
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        delivered[kind, default: []].append((job, reference, note))
      } else if try !settle(job, outcome, owner: owner, at: now) {
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
    return former
  }

  /// Removes the registration that a push service no longer knows, and returns its user; nil if it was renewed.
  private func removeRegistration(
    ofJob job: Int, unlessUpdatedSince since: Date?, owner: String
  ) throws -> UserID? {
    // While the job is leased, `updated` is the time of the lease.
    try value(
      """
      DELETE FROM registration
      WHERE id = (SELECT registration FROM job WHERE id = $1 AND owner = $2)
        AND updated <= coalesce($3, (SELECT updated FROM job WHERE id = $1)) RETURNING user_id
      """, job, owner, since)
  }

  /// Records an outcome other than `delivered`; false if the job is no longer the owner's, or no longer queued.
  private func settle(
    _ job: Int, _ outcome: JobOutcome, owner: String, at now: Date
  ) throws -> Bool {
    let (state, due, attempts, reason): (JobState, Date?, Int, String?) =
      switch outcome {
      case .delivered: (.sent, nil, 1, nil)
      case .retry(let due, let reason): (.queued, due, 1, reason)
      case .released(let due, let reason): (.queued, due, 0, reason)
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
