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
      return try settleEach(outcomes[...], by: lane, owner: owner, at: now)
    }
    // What was refused before the last accepted push is believed, what was refused after it is not.
    var ended = try settleEach(outcomes[...last], by: lane, owner: owner, at: now)
    if try hasRefusals(lane) {
      let delivered = outcomes.filter(\.outcome.isDelivered).map(\.job)
      ended += try recordAcceptance(
        by: lane, ofRefusedDevice: wereRefused(delivered, by: lane), at: now)
    }
    return ended + (try settleEach(outcomes[(last + 1)...], by: lane, owner: owner, at: now))
  }

  func settle(_ jobs: [DeliveredJob], sentAs kind: String, owner: String, at now: Date) throws {
    // `[[job, reference, note], …]` as JSON.
    let list = jobs.map { job in
      let texts = [job.reference, job.note].map { $0.map(JSONText.quoted) ?? "null" }
      return "[\(job.id),\(texts[0]),\(texts[1])]"
    }
    let jobs = "[\(list.joined(separator: ","))]"
    let cancelled: [Int] = try column(
      """
      SELECT job.id FROM json_each($1) AS given JOIN job ON job.id = given.value ->> 0
      WHERE owner = $2 AND state = 'cancelled'
      """, jobs, owner)
    try count(cancelled, from: .cancelled, to: .queued)
    try updateJobs(
      from: .queued, to: .sent,
      """
      UPDATE job SET state = 'sent', attempts = attempts + 1, sent_as = $1,
        reference = given.value ->> 1, reason = given.value ->> 2, updated = $2, owner = NULL
      FROM json_each($3) AS given WHERE job.id = given.value ->> 0 AND owner = $4
      """, kind, now, jobs, owner)
  }
}
