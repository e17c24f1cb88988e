import FoundationEssentials

// MARK: - For lanes

extension SQLiteTables {
  func begin(_ lane: SendingLane) async throws {
    let now = now()
    let isConcerned = try database.value(
      """
      SELECT EXISTS (SELECT 1 FROM lane_pause WHERE lane = ?1) OR EXISTS (
        SELECT 1 FROM job WHERE state = 'queued' AND refused IS NOT NULL AND lane = ?1)
      """, lane.name, as: Bool.self)
    guard isConcerned == true else { return }
    try await database.write { connection in
      try connection.run(
        "UPDATE lane_pause SET until = ? WHERE lane = ? AND settings = ? AND since IS NOT NULL",
        now, lane.name, lane.settings)
      try connection.run(
        "DELETE FROM lane_pause WHERE lane = ? AND settings <> ?", lane.name, lane.settings)
      // Without a pause also under these settings: what was wrong may have been mended at the service.
      try connection.sendAgain(
        try connection.column(
          """
          SELECT id FROM job
          WHERE state = 'queued' AND refused IS NOT NULL AND lane = ?1 AND (refused <> ?2
            OR NOT EXISTS (SELECT 1 FROM lane_pause WHERE lane = ?1 AND since IS NOT NULL))
          """, lane.name, lane.settings), at: now)
    }
  }
}

extension SQLiteConnection {
  /// Whether a pause of the lane, or a refused push of it or of its family, has to be looked at when a push is
  /// accepted.
  func hasRefusals(_ lane: SendingLane) throws -> Bool {
    try value(
      """
      SELECT EXISTS (SELECT 1 FROM lane_pause WHERE lane = ?1 AND settings = ?2) OR EXISTS (
        SELECT 1 FROM job WHERE state = 'queued' AND refused IS NOT NULL
          AND (lane = ?1 OR lane >= ?3 AND substr(lane, 1, length(?3)) = ?3))
      """, lane.name, lane.settings, lane.family, as: Bool.self) == true
  }

  /// Whether one of the jobs is for a device that the lane's service has refused under these settings.
  func wereRefused(_ jobs: [Int], by lane: SendingLane) throws -> Bool {
    try value(
      """
      SELECT EXISTS (
        SELECT 1 FROM json_each(?) AS given JOIN job ON job.id = given.value
          JOIN job AS refused ON refused.registration = job.registration
        WHERE refused.state = 'queued' AND refused.refused IS NOT NULL AND refused.lane = ?
          AND refused.refused = ?)
      """, Self.list(jobs), lane.name, lane.settings, as: Bool.self) == true
  }

  /// Acts on refusals of the lane when its service has accepted another push: ends the registrations, or sends the
  /// pushes again if the refusals were wrong.
  ///
  /// - Returns: the number of registrations that have ended.
  func recordAcceptance(
    by lane: SendingLane, ofRefusedDevice wasRefused: Bool, at now: Date
  ) throws -> Int {
    // A pause because of a few users' devices proves nothing about the others.
    let isClosed = try condition(of: lane).isClosed
    let wasPaused = try endPause(of: lane.name, settings: lane.settings) && isClosed
    let refused = try refusedJobs(of: lane.name, settings: lane.settings)
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
      WHERE state = 'queued' AND refused = ?1 AND lane >= ?2 AND substr(lane, 1, length(?2)) = ?2
        AND lane <> ?3
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
      "DELETE FROM lane_pause WHERE lane = ? AND settings = ? RETURNING coalesce(since, 0) > 0",
      lane, settings, as: Bool.self) == true
  }

  private func refusedJobs(of lane: String, settings: String) throws -> [Int] {
    try column(
      """
      SELECT id FROM job WHERE state = 'queued' AND lane = ? AND refused = ? ORDER BY id
      """, lane, settings)
  }

  private func isSmall(_ lane: String) throws -> Bool {
    try value(
      "SELECT count(*) < ?2 FROM (SELECT 1 FROM registration WHERE lane = ?1 LIMIT ?2)", lane,
      RefusalRule.smallService, as: Bool.self) == true
  }

  /// Makes refused jobs due.
  func sendAgain(_ jobs: [Int], at now: Date) throws {
    if jobs.isEmpty { return }
    try run(
      """
      UPDATE job SET due = ?, refused = NULL, refused_since = NULL
      WHERE id IN (SELECT value FROM json_each(?))
      """, now, Self.list(jobs))
  }

  /// Ends the registrations of refused jobs, and fails the jobs.
  private func end(_ jobs: [Int], by lane: String, at now: Date) throws -> Int {
    if jobs.isEmpty { return 0 }
    let list = Self.list(jobs)
    let ended = try run(
      """
      UPDATE registration SET ended = ?1, ended_by = ?2
      FROM json_each(?3) AS given JOIN job ON job.id = given.value
      WHERE registration.id = job.registration AND registration.user = job.user
        AND registration.ended IS NULL AND registration.updated <= job.refused_since
      """, now, lane, list)
    try updateJobs(
      from: .queued, to: .failed,
      """
      UPDATE job SET state = 'failed', attempts = attempts + 1, updated = ?, owner = NULL, refused = NULL,
        refused_since = NULL
      WHERE id IN (SELECT value FROM json_each(?))
      """, now, list)
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
      UPDATE job SET due = ?1, reason = ?2, refused = ?3,
        refused_since = iif(?4, coalesce(?5, updated), NULL), updated = ?6, owner = NULL
      WHERE id = ?7 AND owner = ?8 AND state = 'queued'
      """, StoredNotification.untilReleased, reason, lane.settings, endsRegistration, since, now,
      job, owner) == 1
  }

  /// Pauses a lane, unless it is paused; with `isStopped` because of the operator's error.
  func pause(_ lane: SendingLane, _ reason: String, isStopped: Bool, at now: Date) throws {
    try run(
      """
      INSERT INTO lane_pause(lane, settings, since, until, reason, stopped) VALUES (?, ?, ?, ?, ?, ?)
      ON CONFLICT (lane, settings) DO UPDATE SET reason = excluded.reason,
        until = iif(since IS NULL, excluded.until, until), since = coalesce(since, excluded.since),
        stopped = max(stopped, excluded.stopped)
      """, lane.name, lane.settings, now, now + LanePause.length(after: 0), reason, isStopped)
  }
}

// MARK: - Leasing

extension SQLiteConnection {
  /// What is known of the lane before jobs are leased.
  func condition(of lane: SendingLane) throws -> LaneCondition {
    let found = try first(
      """
      SELECT since, until, reason, probes, trials, stopped, number, iif(number < ?3, 0, (
        SELECT sum(min(count, ?4)) FROM (SELECT count(*) AS count FROM job
          WHERE state = 'queued' AND lane = ?1 AND refused = ?2 GROUP BY user)))
      FROM (SELECT count(*) AS number FROM (
          SELECT 1 FROM job WHERE state = 'queued' AND lane = ?1 AND refused = ?2 LIMIT ?3))
        LEFT JOIN lane_pause ON lane = ?1 AND settings = ?2
      """, lane.name, lane.settings, RefusalRule.doubt, RefusalRule.doubtPerUser
    ) { row in
      try LaneCondition(
        lane.name, since: row.next(), until: row.next(), reason: row.next(), probes: row.next(),
        trials: row.next(), stopped: row.next(), refused: row.next(), widelyRefused: row.next())
    }
    return found
      ?? LaneCondition(
        lane.name, since: nil, until: nil, reason: nil, probes: nil, trials: nil,
        stopped: nil, refused: 0, widelyRefused: 0)
  }

  /// The jobs of a paused lane to lease, and its pause: one when it is over, else none.
  func probe(
    _ lane: SendingLane, _ condition: LaneCondition, _ pause: LanePause, limit: Int, at now: Date
  ) throws -> (jobs: [Int], pause: LanePause) {
    guard pause.until <= now, limit > 0 else { return ([], pause) }
    let next = now + LanePause.length(after: condition.probes + 1)
    try run(
      "UPDATE lane_pause SET until = ?, probes = probes + 1 WHERE lane = ? AND settings = ?", next,
      lane.name, lane.settings)
    let extended = LanePause(
      lane: pause.lane, since: pause.since, until: next, reason: pause.reason)
    let jobs = try jobsOfLatestContact(lane.name, limit: 1, at: now)
    guard jobs.isEmpty else { return (jobs, extended) }
    return (
      try column(
        """
        SELECT job.id FROM job LEFT JOIN registration ON registration.id = job.registration
        WHERE state = 'queued' AND job.lane = ?1 AND (refused = ?2 OR due <= ?3)
        ORDER BY \(Self.latestContact) LIMIT 1
        """, lane.name, lane.settings, now), extended
    )
  }

  /// The jobs of a lane to lease whose service is doubted, and the pause if it has refused them all.
  func trial(
    _ lane: SendingLane, _ condition: LaneCondition, limit: Int, at now: Date, until: Date
  ) throws -> (jobs: [Int], pause: LanePause?) {
    let left = RefusalRule.trials - condition.trials
    let jobs =
      left > 0 ? try jobsOfLatestContact(lane.name, limit: min(left, limit), at: now) : []
    if !jobs.isEmpty {
      try run(
        """
        INSERT INTO lane_pause(lane, settings, trials) VALUES (?, ?, ?)
        ON CONFLICT (lane, settings) DO UPDATE SET trials = trials + excluded.trials
        """, lane.name, lane.settings, jobs.count)
      return (jobs, nil)
    }
    // What is under way may still be accepted.
    let isAwaited = try value(
      """
      SELECT EXISTS (SELECT 1 FROM job WHERE state = 'queued' AND lane = ? AND due > ? AND due <= ?
        AND owner IS NOT NULL)
      """, lane.name, now, until, as: Bool.self)
    if isAwaited == true { return ([], nil) }
    if left > 0, try hasPartsToWrite(of: lane.name, at: now) { return ([], nil) }
    let (refused, last) =
      try first(
        """
        SELECT count(*), (SELECT reason FROM job WHERE state = 'queued' AND lane = ?1 AND refused = ?2
          ORDER BY updated DESC LIMIT 1)
        FROM job WHERE state = 'queued' AND lane = ?1 AND refused = ?2
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
      SELECT EXISTS (SELECT 1 FROM audience_part JOIN push ON push.id = audience_part.push
        WHERE push.lane = ? AND (due IS NULL OR due <= ?))
      """, lane, now, as: Bool.self) == true
  }

  /// Forgets the doubt about a lane's service.
  func endDoubt(about lane: SendingLane) throws {
    try run(
      "DELETE FROM lane_pause WHERE lane = ? AND settings = ? AND since IS NULL", lane.name,
      lane.settings)
  }

  /// The last day of contact first; those of a day in any order, as it is not known better.
  private static let latestContact = """
    coalesce(registration.contact, registration.updated) / 86400000 DESC, random()
    """

  /// Due jobs of devices that are not refused, those first that were heard of last.
  private func jobsOfLatestContact(_ lane: String, limit: Int, at now: Date) throws -> [Int] {
    try column(
      """
      SELECT job.id FROM (
          SELECT id, registration, user, collapse FROM job
          WHERE state = 'queued' AND lane = ?1 AND due <= ?2 ORDER BY due, id LIMIT ?4
        ) AS job JOIN registration
          ON registration.id = job.registration AND registration.user = job.user
      WHERE registration.ended IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM job AS other WHERE other.registration = job.registration
            AND other.state = 'queued' AND other.refused IS NOT NULL)
        AND NOT EXISTS (
          SELECT 1 FROM job AS earlier
          WHERE earlier.state = 'queued' AND earlier.registration = job.registration
            AND earlier.collapse IS NOT NULL AND earlier.collapse = job.collapse
            AND earlier.lane = ?1 AND earlier.id < job.id)
        AND NOT EXISTS (
          SELECT 1 FROM job AS cancelled
          WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
            AND cancelled.registration = job.registration AND cancelled.collapse = job.collapse
            AND cancelled.lane = ?1 AND cancelled.id < job.id AND cancelled.due > ?2)
      ORDER BY \(Self.latestContact) LIMIT ?3
      """, lane, now, limit, RefusalRule.trialCandidates)
  }
}

// MARK: - For operators

extension SQLiteTables {
  func pauses() throws -> [LanePause] {
    try database.all(
      """
      SELECT lane, max(since), until, reason FROM lane_pause WHERE since IS NOT NULL
      GROUP BY lane ORDER BY lane
      """
    ) { row in
      try LanePause(lane: row.next(), since: row.next(), until: row.next(), reason: row.next())
    }
  }

  func resume(lane: String?) async throws -> Int {
    let now = now()
    return try await database.write { connection in
      let refused = try connection.all(
        """
        SELECT id, lane FROM job
        WHERE state = 'queued' AND refused IS NOT NULL AND (lane = ?1 OR ?1 IS NULL)
        """, lane
      ) { ($0 as Int, $1 as String) }
      let paused: [String] = try connection.column(
        "DELETE FROM lane_pause WHERE lane = ?1 OR ?1 IS NULL RETURNING lane", lane)
      try connection.sendAgain(refused.map(\.0), at: now)
      connection.effects.add((refused.map(\.1) + paused).map { .jobs(lane: $0) })
      return refused.count
    }
  }

  func restoreRegistrations(endedBy lane: String, since: Date) async throws -> Int {
    try await database.run(
      "UPDATE registration SET ended = NULL, ended_by = NULL WHERE ended_by = ? AND ended >= ?",
      lane, since)
  }
}
