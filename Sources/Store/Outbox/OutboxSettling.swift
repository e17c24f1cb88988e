import FoundationEssentials

extension SQLiteConnection {
  /// Records the outcomes of jobs leased to `owner`, and ends their leases.
  ///
  /// Ignores an outcome if the lease has passed to another process. If the job was cancelled meanwhile,
  /// only `delivered` counts.
  func settle(
    _ outcomes: [(job: Int, outcome: JobOutcome)], owner: String, at now: Date
  ) throws {
    let (delivered, others) = DeliveredJobs.split(outcomes)
    for jobs in delivered { try settle(jobs, owner: owner, at: now) }
    for (job, outcome) in others where try settle(job, outcome, owner: owner, at: now) == 0 {
      // The job was cancelled while it was sent; only its lease ends.
      try run("UPDATE job SET owner = NULL WHERE id = ? AND owner = ?", job, owner)
    }
  }

  private func settle(_ delivered: DeliveredJobs, owner: String, at now: Date) throws {
    try run(
      """
      UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = ?1,
        reference = given.value ->> 1, reason = given.value ->> 2, updated = ?2, owner = NULL
      FROM json_each(?3) AS given WHERE job.id = given.value ->> 0 AND owner = ?4
      """, delivered.kind, now, delivered.jobs, owner)
  }

  /// Records one outcome; 0 if the job is no longer the owner's, or no longer queued.
  private func settle(
    _ job: Int, _ outcome: JobOutcome, owner: String, at now: Date
  ) throws -> Int {
    switch outcome {
    case .delivered: return 1  // by the statement for all
    case .retry(let due, let reason):
      return try update(job, .queued, due: due, attempts: 1, reason, owner: owner, at: now)
    case .released(let due, let reason):
      return try update(job, .queued, due: due, attempts: 0, reason, owner: owner, at: now)
    case .deadToken(let since, let reason):
      // While the job is leased, `updated` is the time of the lease.
      try run(
        """
        DELETE FROM registration WHERE id = (SELECT registration FROM job WHERE id = ?1 AND owner = ?2)
          AND updated <= coalesce(?3, (SELECT updated FROM job WHERE id = ?1))
        """, job, owner, since)
      return try update(job, .failed, attempts: 1, reason, owner: owner, at: now)
    case .rejected(let reason):
      return try update(job, .failed, attempts: 1, reason, owner: owner, at: now)
    case .expired:
      return try update(job, .expired, attempts: 0, nil, owner: owner, at: now)
    }
  }

  private func update(
    _ job: Int, _ state: JobState, due: Date? = nil, attempts: Int, _ reason: String?,
    owner: String, at now: Date
  ) throws -> Int {
    try run(
      """
      UPDATE job SET state = ?, due = coalesce(?, due), attempts = attempts + ?,
        reason = coalesce(?, reason), updated = ?, owner = NULL
      WHERE id = ? AND owner = ? AND state = 'queued'
      """, state, due, attempts, reason, now, job, owner)
  }
}

/// Jobs delivered as the same kind of push: most outcomes, so one statement for all.
private struct DeliveredJobs {
  let kind: String
  /// `[[job, reference, note], …]` as JSON.
  let jobs: String

  /// Groups such outcomes by kind, and leaves the others.
  static func split(
    _ outcomes: [(job: Int, outcome: JobOutcome)]
  ) -> (delivered: [DeliveredJobs], others: [(job: Int, outcome: JobOutcome)]) {
    var delivered: [String: [String]] = [:]
    var others: [(job: Int, outcome: JobOutcome)] = []
    for (job, outcome) in outcomes {
      if case .delivered(let kind, let reference, let note) = outcome {
        delivered[kind, default: []].append("[\(job),\(json(reference)),\(json(note))]")
      } else {
        others.append((job, outcome))
      }
    }
    return (
      delivered.map { DeliveredJobs(kind: $0, jobs: "[\($1.joined(separator: ","))]") }, others
    )
  }

  private static func json(_ text: String?) -> String {
    guard let text else { return "null" }
    // Nearly all need no escape, and the encoder is slow.
    let isPlain = text.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    return isPlain ? "\"\(text)\"" : String(StringList([text]).rawValue.dropFirst().dropLast())
  }
}
