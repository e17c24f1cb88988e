import FoundationEssentials
import Primitives

extension SQLiteConnection {
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
    var delivered: [String: [String]] = [:]
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        let texts = [reference, note].map { $0.map(JSONText.quoted) ?? "null" }
        delivered[kind, default: []].append("[\(job),\(texts[0]),\(texts[1])]")
      } else if try !settle(job, outcome, owner: owner, at: now) {
        // The job was cancelled while it was sent; only its lease ends.
        try run("UPDATE job SET owner = NULL WHERE id = ? AND owner = ?", job, owner)
      }
    }
    // Most outcomes: one statement for all of a kind, with `[[job, reference, note], …]` as JSON.
    for (kind, jobs) in delivered {
      let jobs = "[\(jobs.joined(separator: ","))]"
      let cancelled: [Int] = try column(
        """
        SELECT job.id FROM json_each(?) AS given JOIN job ON job.id = given.value ->> 0
        WHERE owner = ? AND state = 'cancelled'
        """, jobs, owner)
      try count(cancelled, from: .cancelled, to: .queued)
      try updateJobs(
        from: .queued, to: .sent,
        """
        UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = ?1,
          reference = given.value ->> 1, reason = given.value ->> 2, updated = ?2, owner = NULL
        FROM json_each(?3) AS given WHERE job.id = given.value ->> 0 AND owner = ?4
        """, kind, now, jobs, owner)
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
      DELETE FROM registration WHERE id = (SELECT registration FROM job WHERE id = ?1 AND owner = ?2)
        AND updated <= coalesce(?3, (SELECT updated FROM job WHERE id = ?1)) RETURNING user
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
    let isSettled =
      try run(
        """
        UPDATE job SET state = ?, due = coalesce(?, due), attempts = attempts + ?,
          reason = coalesce(?, reason), updated = ?, owner = NULL
        WHERE id = ? AND owner = ? AND state = 'queued'
        """, state, due, attempts, reason, now, job, owner) == 1
    if isSettled, state != .queued {
      try count([job], from: .queued, to: state)
      try insertReceipts(ofJobs: [job])
    }
    return isSettled
  }
}
