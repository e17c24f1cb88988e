import FoundationEssentials
import Primitives

extension SQLiteConnection {
  /// Records the outcomes of jobs leased to `owner`, in the order of the answers, and ends their leases.
  ///
  /// Ignores an outcome if the lease has passed to another process. If the job was cancelled meanwhile,
  /// only `delivered` counts.
  ///
  /// - Returns: the number of registrations that have ended.
  func settle(
    _ outcomes: [(job: Int, outcome: JobOutcome)], of lane: SendingLane, owner: String, at now: Date
  ) throws -> Int {
    guard let last = outcomes.lastIndex(where: \.outcome.isDelivered) else {
      return try settle(outcomes[...], by: lane, owner: owner, at: now)
    }
    // What was refused before the last accepted push is believed, what was refused after it is not.
    var ended = try settle(outcomes[...last], by: lane, owner: owner, at: now)
    if try hasRefusals(lane) {
      let delivered = outcomes.filter(\.outcome.isDelivered).map(\.job)
      ended += try recordAcceptance(
        by: lane, ofRefusedDevice: wereRefused(delivered, by: lane), at: now)
    }
    return ended + (try settle(outcomes[(last + 1)...], by: lane, owner: owner, at: now))
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
    var delivered: [String: [String]] = [:]
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        let texts = [reference, note].map { $0.map(JSONText.quoted) ?? "null" }
        delivered[kind, default: []].append("[\(job),\(texts[0]),\(texts[1])]")
      } else if try !settle(job, outcome, by: lane, owner: owner, at: now) {
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
      UPDATE registration SET ended = ?4, ended_by = ?5
      WHERE id = (SELECT registration FROM job WHERE id = ?1 AND owner = ?2) AND ended IS NULL
        AND updated <= coalesce(?3, (SELECT updated FROM job WHERE id = ?1))
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
