import FoundationEssentials

extension Outbox {
  /// Records what became of leased jobs, all in one commit, and ends their leases.
  ///
  /// An outcome for a job whose lease went to another process is left out. One for a job that was
  /// called off meanwhile counts only if the push was sent nevertheless.
  package func settle(_ outcomes: [(job: Int, outcome: JobOutcome)]) async throws {
    let moment = now()
    let owner = owner
    try await database.write { connection in
      try connection.settle(outcomes, owner: owner, at: moment)
    }
  }
}

extension Connection {
  /// Records what became of the owner's jobs.
  func settle(
    _ outcomes: [(job: Int, outcome: JobOutcome)], owner: String, at moment: Date
  ) throws {
    for (job, outcome) in outcomes where try settle(job, outcome, owner: owner, at: moment) == 0 {
      // Of one that was called off meanwhile nothing is recorded, but its lease ends as well.
      try run("UPDATE job SET owner = NULL WHERE id = ? AND owner = ?", job, owner)
    }
  }

  /// Writes one outcome; gives 0 when the job is no longer the owner's, or no longer waits.
  fileprivate func settle(
    _ job: Int, _ outcome: JobOutcome, owner: String, at moment: Date
  ) throws -> Int {
    switch outcome {
    case .delivered(let kind, let reference, let note):
      return try run(
        """
        UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = ?, reference = ?,
          reason = ?, updated = ?, owner = NULL
        WHERE id = ? AND owner = ?
        """, kind, reference, note, moment, job, owner)
    case .retry(let due, let reason):
      return try postpone(job, to: due, attempts: 1, reason, owner: owner, at: moment)
    case .released(let due, let reason):
      return try postpone(job, to: due, attempts: 0, reason, owner: owner, at: moment)
    case .deadToken(let since, let reason):
      try run(
        """
        DELETE FROM registration WHERE id = (SELECT registration FROM job WHERE id = ?1 AND owner = ?2)
          AND updated <= coalesce(?3, (SELECT updated FROM job WHERE id = ?1))
        """, job, owner, since)
      return try end(job, .failed, attempts: 1, reason, owner: owner, at: moment)
    case .rejected(let reason):
      return try end(job, .failed, attempts: 1, reason, owner: owner, at: moment)
    case .expired:
      return try end(job, .expired, attempts: 0, nil, owner: owner, at: moment)
    }
  }

  private func postpone(
    _ job: Int, to due: Date, attempts: Int, _ reason: String, owner: String, at moment: Date
  ) throws -> Int {
    try run(
      """
      UPDATE job SET due = ?, attempts = attempts + ?, reason = ?, updated = ?, owner = NULL
      WHERE id = ? AND owner = ? AND state = 'queued'
      """, due, attempts, reason, moment, job, owner)
  }

  private func end(
    _ job: Int, _ state: JobState, attempts: Int, _ reason: String?, owner: String, at moment: Date
  ) throws -> Int {
    try run(
      """
      UPDATE job SET state = ?, attempts = attempts + ?, reason = coalesce(?, reason), updated = ?,
        owner = NULL
      WHERE id = ? AND owner = ? AND state = 'queued'
      """, state, attempts, reason, moment, job, owner)
  }
}
