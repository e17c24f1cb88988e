import FoundationEssentials

/// A due job that was found, or leased.
struct DueJob {
  let id: Int
  /// Nil if its device is gone.
  let job: LeasedJob?
  /// What ``QuietDevices`` selects of its device.
  let quiet: String?
  /// Whether it has waited for the end of a quiet period.
  let hasWaited: Bool
  /// Whether no rule keeps it from being sent.
  let isUrgent: Bool
}

extension Changing {
  /// The due jobs that can be sent now.
  ///
  /// A job whose device is gone fails. One whose device or team has a quiet period now waits for its end, as if it were due then,
  /// and is cancelled if the user has read or hidden the notification by that time. One of a user who has had enough
  /// within a day is cancelled.
  func sendable(_ due: [DueJob], at now: Date) throws -> [LeasedJob] {
    let gone = due.filter { $0.job == nil }.map(\.id)
    if !gone.isEmpty {
      try updateJobs(
        from: .queued, to: .failed,
        """
        UPDATE job SET state = 'failed', updated = $1, reason = 'the device is gone', owner = NULL
        WHERE id \(isIn("$2"))
        """, now, gone)
    }
    var sendable = due
    if due.contains(where: { $0.quiet != nil || $0.hasWaited }) {
      let there = due.compactMap { due in due.job.map { (due.id, due.quiet, $0.expires) } }
      let held = try hold(there, at: now)
      let waited = due.filter { $0.hasWaited && $0.job != nil && !held.contains($0.id) }.map(\.id)
      let excluded = held.union(try cancelUseless(waited, at: now))
      sendable.removeAll { excluded.contains($0.id) }
    }
    let above = try cancelAboveDailyLimit(sendable, at: now)
    return sendable.compactMap { above.contains($0.id) ? nil : $0.job }
  }

  /// Has due jobs of a lane wait whose devices have a quiet period now, among the `limit` that are due longest; returns
  /// how many.
  ///
  /// Without a lease, for many of them at once, and before a few are chosen to try a service.
  func holdQuiet(of lane: SendingLane, limit: Int, at now: Date) throws -> Int {
    let due: [Int] = try column(
      "SELECT id FROM job WHERE state = 'queued' AND lane = $1 AND due <= $2 ORDER BY due, id LIMIT $3",
      lane.name, now, limit)
    let quiet = try all(
      """
      SELECT job.id, \(QuietDevices.column(rules)), push.expires
      FROM job JOIN push ON push.id = job.push
        LEFT JOIN registration ON registration.id = job.registration
          AND registration.user_id = job.user_id
      WHERE job.id \(isIn("$1")) AND \(Self.isStillQueued) AND due <= $2
        AND registration.ended IS NULL AND \(QuietDevices.condition(rules))
      ORDER BY job.id \(lock("FOR UPDATE OF job SKIP LOCKED"))
      """, due, now
    ) { ($0 as Int, $1 as String?, $2 as Date?) }
    return try hold(quiet, at: now).count
  }

  /// Has those wait whose device or team has a quiet period now, until it is over or the push expires; returns which.
  private func hold(
    _ jobs: [(id: Int, quiet: String?, expires: Date?)], at now: Date
  ) throws -> Set<Int> {
    var devices = QuietDevices(rules, at: now)
    var ends: [QuietDevices.End: [Int]] = [:]
    for (id, quiet, expires) in jobs {
      // One that has expired is settled as such.
      guard let end = devices.end(of: quiet), expires.map({ $0 > now }) ?? true else { continue }
      let until = min(end.time, expires ?? end.time)
      ends[QuietDevices.End(time: until, isTeams: end.isTeams), default: []].append(id)
    }
    for (end, jobs) in ends.sorted(by: { $0.key.time < $1.key.time }) {
      try run(
        """
        UPDATE job SET due = $1, quiet = $1, owner = NULL, updated = $2, reason = $4
        WHERE id \(isIn("$3"))
        """, end.time, now, jobs,
        end.isTeams ? "these are quiet hours for all devices" : "the device has quiet hours")
    }
    return Set(ends.values.joined())
  }

  /// Cancels those of the jobs whose users have read or hidden the notification, and returns which.
  private func cancelUseless(_ jobs: [Int], at now: Date) throws -> Set<Int> {
    if jobs.isEmpty { return [] }
    let cancelled = try updateJobs(
      from: .queued, to: .cancelled,
      """
      UPDATE job SET state = 'cancelled', updated = $1, owner = NULL,
        reason = 'it was read in the quiet hours'
      WHERE id \(isIn("$2")) AND EXISTS (
        SELECT 1 FROM push JOIN recipient ON recipient.notification = push.notification
        WHERE push.id = job.push AND recipient.user_id = job.user_id
          AND (recipient.read IS NOT NULL OR recipient.hidden IS NOT NULL))
      """, now, jobs)
    return Set(cancelled.map(\.id))
  }

  /// Looks at once at the jobs of a registration that wait for the end of its quiet period, which may be another now.
  func endWaiting(of registration: String, at now: Date) throws {
    let lanes: [String] = try column(
      """
      UPDATE job SET due = $1, quiet = $1
      WHERE registration = $2 AND state = 'queued' AND quiet > $1 AND due > $1 RETURNING lane
      """, now, registration)
    effects.add(Set(lanes).sorted().map { .jobs(lane: $0) })
  }
}
