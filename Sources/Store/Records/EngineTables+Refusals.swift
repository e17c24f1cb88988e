import FoundationEssentials

// MARK: - For lanes

extension EngineTables {
  func begin(_ lane: SendingLane) async throws {
    let now = now()
    let isConcerned = try await database.read { connection in
      try connection.value(
        """
        SELECT EXISTS (SELECT 1 FROM lane_pause WHERE lane = $1) OR EXISTS (
          SELECT 1 FROM job WHERE state = 'queued' AND refused IS NOT NULL AND lane = $1)
        """, lane.name, as: Bool.self)
    }
    guard isConcerned == true else { return }
    try await database.write { transaction in
      try transaction.run(
        "UPDATE lane_pause SET until = $1 WHERE lane = $2 AND settings = $3 AND since IS NOT NULL",
        now, lane.name, lane.settings)
      try transaction.run(
        "DELETE FROM lane_pause WHERE lane = $1 AND settings <> $2", lane.name, lane.settings)
      // Without a pause also under these settings: what was wrong may have been mended at the service.
      try transaction.sendAgain(
        try transaction.column(
          """
          SELECT id FROM job
          WHERE state = 'queued' AND refused IS NOT NULL AND lane = $1 AND (refused <> $2
            OR NOT EXISTS (
              SELECT 1 FROM lane_pause WHERE lane_pause.lane = $1 AND since IS NOT NULL))
          ORDER BY id \(transaction.lock("FOR UPDATE SKIP LOCKED"))
          """, lane.name, lane.settings), at: now)
    }
  }
}

extension Changing {
  /// Selects whether a pause of a lane (its name, settings and family), or a refused push of it or of its family, has
  /// to be looked at when a push is accepted.
  static var refusalsToLookAt: String {
    """
    SELECT EXISTS (SELECT 1 FROM lane_pause WHERE lane = $1 AND settings = $2) OR EXISTS (
      SELECT 1 FROM job WHERE state = 'queued' AND refused IS NOT NULL
        AND (lane = $1 OR lane >= $3 AND substr(lane, 1, length($3)) = $3))
    """
  }

  /// Whether one of the jobs is for a device that the lane's service has refused under these settings.
  func wereRefused(_ jobs: [Int], by lane: SendingLane) throws -> Bool {
    try value(
      """
      SELECT EXISTS (
        SELECT 1 FROM job JOIN job AS refused ON refused.registration = job.registration
        WHERE job.id \(isIn("$1")) AND refused.state = 'queued' AND refused.refused IS NOT NULL
          AND refused.lane = $2 AND refused.refused = $3)
      """, jobs, lane.name, lane.settings, as: Bool.self) == true
  }

  /// Acts on refusals when the lane's service has accepted another push, of a device that it had refused before with
  /// `wasRefused`: ends the registrations, or sends the pushes again if the refusals were wrong.
  ///
  /// What was refused after the last accepted push, `refusedLater`, is not believed.
  ///
  /// - Returns: the number of registrations that have ended.
  func recordAcceptance(
    by lane: SendingLane, ofRefusedDevice wasRefused: Bool, refusedLater: Set<Int> = [],
    at now: Date
  ) throws -> Int {
    // A pause because of a few users' devices proves nothing about the others.
    let isClosed = try condition(of: lane).isClosed
    let wasPaused = try endPause(of: lane.name, settings: lane.settings) && isClosed
    let refused = try refusedJobs(of: lane.name, settings: lane.settings)
      .filter { !refusedLater.contains($0) }
    var ended = 0
    if wasPaused || wasRefused {
      try sendAgain(refused, at: now)
    } else {
      ended = try end(refused, by: lane.name, at: now)
    }
    guard let family = lane.family else { return ended }
    let others: [String] = try column(
      """
      SELECT DISTINCT lane FROM job
      WHERE state = 'queued' AND refused = $1 AND lane >= $2 AND substr(lane, 1, length($2)) = $2
        AND lane <> $3
      """, lane.settings, family, lane.name)
    for other in others where try isSmall(other) {
      _ = try endPause(of: other, settings: lane.settings)
      ended += try end(
        refusedJobs(of: other, settings: lane.settings), by: other, at: now)
    }
    return ended
  }

  /// Whether the pause had begun.
  private func endPause(of lane: String, settings: String) throws -> Bool {
    // SQLite 3.40 takes `since IS NOT NULL` after RETURNING for true.
    try value(
      "DELETE FROM lane_pause WHERE lane = $1 AND settings = $2 RETURNING coalesce(since, 0) > 0",
      lane, settings, as: Bool.self) == true
  }

  /// Only one node acts on a refusal.
  private func refusedJobs(of lane: String, settings: String) throws -> [Int] {
    try column(
      """
      SELECT id FROM job WHERE state = 'queued' AND lane = $1 AND refused = $2
      ORDER BY id \(lock("FOR UPDATE SKIP LOCKED"))
      """, lane, settings)
  }

  private func isSmall(_ lane: String) throws -> Bool {
    try value(
      """
      SELECT count(*) < $2 FROM (SELECT 1 FROM registration WHERE lane = $1 LIMIT $2) AS few
      """, lane, RefusalRule.smallService, as: Bool.self) == true
  }

  /// Makes refused jobs due.
  func sendAgain(_ jobs: [Int], at now: Date) throws {
    if jobs.isEmpty { return }
    try run(
      "UPDATE job SET due = $1, refused = NULL, refused_since = NULL WHERE id \(isIn("$2"))", now,
      jobs)
  }

  /// Ends the registrations of refused jobs, and fails the jobs.
  private func end(_ jobs: [Int], by lane: String, at now: Date) throws -> Int {
    if jobs.isEmpty { return 0 }
    let ended = try run(
      """
      UPDATE registration SET ended = $1, ended_by = $2
      WHERE ended IS NULL AND id IN (
        SELECT registration.id FROM job JOIN registration ON registration.id = job.registration
          AND registration.user_id = job.user_id AND registration.updated <= job.refused_since
        WHERE job.id \(isIn("$3")) ORDER BY 1 \(lock("FOR UPDATE OF registration")))
      """, now, lane, jobs)
    try updateJobs(
      from: .queued, to: .failed,
      """
      UPDATE job SET state = 'failed', attempts = attempts + 1, updated = $1, owner = NULL,
        refused = NULL, refused_since = NULL
      WHERE id \(isIn("$2"))
      """, now, jobs)
    return ended
  }

  /// Records that a job was refused; false if it is no longer the owner's, or no longer queued.
  func refuse(
    _ job: Int, by lane: SendingLane, endsRegistration: Bool, since: Date?, reason: String,
    owner: String, at now: Date
  ) throws -> Bool {
    // While the job is leased, `updated` is the time of the lease.
    try run(
      """
      UPDATE job SET due = $1, reason = $2, refused = $3,
        refused_since = CASE WHEN $4 THEN coalesce($5, updated) END, updated = $6, owner = NULL
      WHERE id = $7 AND owner = $8 AND \(Self.isStillQueued)
      """, StoredNotification.untilReleased, reason, lane.settings, endsRegistration, since, now,
      job, owner) == 1
  }

  /// Pauses a lane, unless it is paused; with `isStopped` because of the operator's error.
  func pause(_ lane: SendingLane, _ reason: String, isStopped: Bool, at now: Date) throws {
    let begun = try run(
      """
      INSERT INTO lane_pause AS known (lane, settings, since, until, reason, stopped)
      VALUES ($1, $2, $3, $4, $5, $6)
      ON CONFLICT (lane, settings) DO UPDATE SET since = excluded.since, until = excluded.until,
        reason = excluded.reason,
        stopped = CASE WHEN known.stopped > 0 THEN 1 ELSE excluded.stopped END
      WHERE known.since IS NULL
      """, lane.name, lane.settings, now, now + LanePause.length(after: 0), reason,
      isStopped ? 1 : 0)
    if begun == 1 { return try audit(.servicePaused, .service(lane.name), by: .server, at: now) }
    // Another answer of the same moment, or another node, has begun it.
    try run(
      """
      UPDATE lane_pause SET reason = $3, stopped = CASE WHEN stopped > 0 THEN 1 ELSE $4 END
      WHERE lane = $1 AND settings = $2
      """, lane.name, lane.settings, reason, isStopped ? 1 : 0)
  }
}

// MARK: - Leasing

extension Changing {
  /// What is known of the lane before jobs are leased.
  func condition(of lane: SendingLane) throws -> LaneCondition {
    let found = try first(
      """
      SELECT since, until, reason, probes, trials, stopped, number, CASE WHEN number < $3 THEN 0 ELSE (
        SELECT CAST(sum(CASE WHEN count < $4 THEN count ELSE $4 END) AS bigint)
        FROM (SELECT count(*) AS count FROM job
          WHERE state = 'queued' AND lane = $1 AND refused = $2 GROUP BY user_id) AS by_user) END
      FROM (SELECT count(*) AS number FROM (
          SELECT 1 FROM job WHERE state = 'queued' AND lane = $1 AND refused = $2 LIMIT $3
        ) AS few) AS refusals
        LEFT JOIN lane_pause ON lane = $1 AND settings = $2
      """, lane.name, lane.settings, RefusalRule.doubt, RefusalRule.doubtPerUser
    ) { row in
      try LaneCondition(
        lane.name, since: row.next(), until: row.next(), reason: row.next(), probes: row.next(),
        trials: row.next(), stopped: row.next(), refused: row.next(), widelyRefused: row.next())
    }
    return found
      ?? LaneCondition(
        lane.name, since: nil, until: nil, reason: nil, probes: nil, trials: nil, stopped: nil,
        refused: 0, widelyRefused: 0)
  }

  /// The jobs of a paused lane to lease, and its pause: one when it is over, else none.
  func probe(
    _ lane: SendingLane, _ condition: LaneCondition, _ pause: LanePause, limit: Int, at now: Date
  ) throws -> (jobs: [Int], pause: LanePause) {
    guard pause.isOver(at: now), limit > 0 else { return ([], pause) }
    let next = now + LanePause.length(after: condition.probes + 1)
    let extended = LanePause(
      lane: pause.lane, since: pause.since, until: next, reason: pause.reason)
    // Another node may be sending the probe.
    let isOurs = try run(
      """
      UPDATE lane_pause SET until = $1, probes = probes + 1
      WHERE lane = $2 AND settings = $3 AND (until <= $4 OR until > $5)
      """, next, lane.name, lane.settings, now, LanePause.latestEnd(at: now))
    guard isOurs == 1 else { return ([], extended) }
    try holdQuietCandidates(of: lane, at: now)
    let jobs = try jobsOfLatestContact(lane.name, limit: 1, at: now)
    guard jobs.isEmpty else { return (jobs, extended) }
    // One that is refused is due again only later, and its device may have a quiet period.
    let candidates = try all(
      """
      SELECT job.id, \(QuietDevices.column(rules))
      FROM job JOIN push ON push.id = job.push
        LEFT JOIN registration ON registration.id = job.registration
      WHERE state = 'queued' AND job.lane = $1 AND (refused = $2 OR due <= $3)
      ORDER BY \(Self.latestContact) LIMIT $4
      \(lock("FOR UPDATE OF job SKIP LOCKED"))
      """, lane.name, lane.settings, now, RefusalRule.doubt
    ) { ($0 as Int, $1 as String?) }
    var devices = QuietDevices(rules, at: now)
    let awake = candidates.first { devices.end(of: $0.1) == nil }
    return (awake.map { [$0.0] } ?? [], extended)
  }

  /// Has those jobs of a lane wait whose devices have a quiet period, before some are chosen to try the service.
  private func holdQuietCandidates(of lane: SendingLane, at now: Date) throws {
    for _ in 0..<10 {
      let held = try holdQuiet(of: lane, limit: RefusalRule.trialCandidates, at: now)
      if held == 0 { return }
    }
  }

  /// The jobs of a lane to lease whose service is doubted, and the pause if it has refused them all.
  func trial(
    _ lane: SendingLane, _ condition: LaneCondition, limit: Int, at now: Date, until: Date
  ) throws -> (jobs: [Int], pause: LanePause?) {
    // Locked, so that all nodes together try no more.
    let trials =
      try value(
        """
        INSERT INTO lane_pause AS known (lane, settings) VALUES ($1, $2)
        ON CONFLICT (lane, settings) DO UPDATE SET trials = known.trials RETURNING trials
        """, lane.name, lane.settings, as: Int.self) ?? 0
    let left = RefusalRule.trials - trials
    if left > 0 { try holdQuietCandidates(of: lane, at: now) }
    let jobs =
      left > 0 ? try jobsOfLatestContact(lane.name, limit: min(left, limit), at: now) : []
    if !jobs.isEmpty {
      try run(
        "UPDATE lane_pause SET trials = trials + $1 WHERE lane = $2 AND settings = $3", jobs.count,
        lane.name, lane.settings)
      return (jobs, nil)
    }
    // What is under way may still be accepted.
    let isAwaited = try value(
      """
      SELECT EXISTS (SELECT 1 FROM job WHERE state = 'queued' AND lane = $1 AND due > $2
        AND due <= $3 AND owner IS NOT NULL)
      """, lane.name, now, until, as: Bool.self)
    if isAwaited == true { return ([], nil) }
    if left > 0, try hasPartsToWrite(of: lane.name, at: now) { return ([], nil) }
    let (refused, last) =
      try first(
        """
        SELECT count(*), (SELECT reason FROM job WHERE state = 'queued' AND lane = $1 AND refused = $2
          ORDER BY updated DESC LIMIT 1)
        FROM job WHERE state = 'queued' AND lane = $1 AND refused = $2
        """, lane.name, lane.settings
      ) { row in (try row.next(Int.self), try row.next(String?.self)) } ?? (0, nil)
    let reason = RefusalRule.sentence(lane: lane.name, refused: refused, last: last ?? "")
    try pause(lane, reason, isStopped: false, at: now)
    return (
      [],
      LanePause(
        lane: lane.name, since: now, until: now + LanePause.length(after: 0), reason: reason)
    )
  }

  /// Whether pushes of the lane are to be sent now that are not jobs yet.
  private func hasPartsToWrite(of lane: String, at now: Date) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM audience_part CROSS JOIN push
        WHERE push.id = audience_part.push AND push.lane = $1 AND (due IS NULL OR due <= $2))
      """, lane, now, as: Bool.self) == true
  }

  /// Forgets the doubt about a lane's service.
  func endDoubt(about lane: SendingLane) throws {
    try run(
      "DELETE FROM lane_pause WHERE lane = $1 AND settings = $2 AND since IS NULL", lane.name,
      lane.settings)
  }

  /// The last day of contact first; those of a day in any order, as it is not known better.
  static var latestContact: String {
    "coalesce(registration.contact, registration.updated) / 86400000 DESC NULLS LAST, random()"
  }
}

// MARK: - For operators

extension EngineTables {
  func pauses() async throws -> [LanePause] {
    try await database.read { connection in
      try connection.all(
        """
        SELECT lane, since, until, reason FROM lane_pause AS pause
        WHERE since IS NOT NULL AND NOT EXISTS (
          SELECT 1 FROM lane_pause AS later WHERE later.lane = pause.lane
            AND (later.since, later.settings) > (pause.since, pause.settings))
        ORDER BY lane
        """
      ) { row in
        try LanePause(lane: row.next(), since: row.next(), until: row.next(), reason: row.next())
      }
    }
  }

  func resume(lane: String?) async throws -> Int {
    let now = now()
    return try await database.write { transaction in
      let refused = try transaction.all(
        """
        SELECT id, lane FROM job
        WHERE state = 'queued' AND refused IS NOT NULL AND (CAST($1 AS text) IS NULL OR lane = $1)
        ORDER BY id \(transaction.lock("FOR UPDATE SKIP LOCKED"))
        """, lane
      ) { ($0 as Int, $1 as String) }
      let paused: [String] = try transaction.column(
        "DELETE FROM lane_pause WHERE CAST($1 AS text) IS NULL OR lane = $1 RETURNING lane", lane)
      try transaction.sendAgain(refused.map(\.0), at: now)
      transaction.effects.add((refused.map(\.1) + paused).map { .jobs(lane: $0) })
      if !refused.isEmpty || !paused.isEmpty {
        try transaction.audit(
          .serviceResumed, lane.map(AuditObject.service), count: refused.count, at: now)
      }
      return refused.count
    }
  }

  func restoreRegistrations(endedBy lane: String, since: Date) async throws -> Int {
    let now = now()
    return try await database.write { transaction in
      let count = try transaction.run(
        "UPDATE registration SET ended = NULL, ended_by = NULL WHERE ended_by = $1 AND ended >= $2",
        lane, since)
      if count > 0 {
        try transaction.audit(.serviceDevicesRestored, .service(lane), count: count, at: now)
      }
      return count
    }
  }
}
