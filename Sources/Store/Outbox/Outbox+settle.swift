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
    let (plain, others) = Plain.divide(outcomes)
    for delivered in plain { try settle(delivered, owner: owner, at: moment) }
    for (job, outcome) in others where try settle(job, outcome, owner: owner, at: moment) == 0 {
      // Of one that was called off meanwhile nothing is recorded, but its lease ends as well.
      try run("UPDATE job SET owner = NULL WHERE id = ? AND owner = ?", job, owner)
    }
  }

  /// Writes that all of them were delivered, in one statement: most outcomes are like that.
  private func settle(_ delivered: Plain, owner: String, at moment: Date) throws {
    try run(
      """
      UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = ?1,
        reference = given.value ->> 1, reason = NULL, updated = ?2, owner = NULL
      FROM json_each(?3) AS given WHERE job.id = given.value ->> 0 AND owner = ?4
      """, delivered.kind, moment, delivered.jobs, owner)
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

/// Jobs that were delivered as the same kind of push, and nothing more is to be said.
private struct Plain {
  let kind: String
  /// `[[job, reference], …]` as JSON.
  let jobs: String

  /// Divides outcomes into those that are plain, by kind, and the others.
  static func divide(
    _ outcomes: [(job: Int, outcome: JobOutcome)]
  ) -> (plain: [Plain], others: [(job: Int, outcome: JobOutcome)]) {
    var pairs: [String: [String]] = [:]
    var others: [(job: Int, outcome: JobOutcome)] = []
    for (job, outcome) in outcomes {
      guard case .delivered(let kind, let reference, nil) = outcome,
        let quoted = reference.map(quoted) ?? "null"
      else {
        others.append((job, outcome))
        continue
      }
      pairs[kind, default: []].append("[\(job),\(quoted)]")
    }
    return (pairs.map { Plain(kind: $0, jobs: "[\($1.joined(separator: ","))]") }, others)
  }

  /// A JSON string; nil for a reference that would have to be escaped.
  private static func quoted(_ reference: String) -> String? {
    let isPlain = reference.utf8.allSatisfy { $0 >= 0x20 && $0 != 0x22 && $0 != 0x5C }
    return isPlain ? "\"\(reference)\"" : nil
  }
}
