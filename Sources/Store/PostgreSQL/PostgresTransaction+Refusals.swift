import FoundationEssentials

extension PostgresTransaction {
  /// Tells with the next statement whether a pause of the lane, or a refused push of it or of its family, has to be
  /// looked at when a push is accepted.
  func checkRefusals(_ lane: SendingLane, receive: @escaping (Bool) -> Void) throws {
    try send(Self.refusalsToLookAt, lane.name, lane.settings, lane.family) { result in
      receive(try result.map { row in try row.next(Bool.self) }.first == true)
    }
  }

  /// Acts on refusals when the lane's service has accepted another push.
  ///
  /// - Returns: the number of registrations that have ended.
  func recordAcceptance(
    _ settled: SettledOutcomes, by lane: SendingLane, at now: Date
  ) throws -> Int {
    if settled.delivered.isEmpty { return 0 }
    if awaitsResults { try connection.synchronize() }
    guard settled.hasRefusals else { return 0 }
    return try recordAcceptance(
      by: lane, ofRefusedDevice: wereRefused(settled.delivered, by: lane),
      refusedLater: settled.refusedLater, at: now)
  }

  func jobsOfLatestContact(_ lane: String, limit: Int, at now: Date) throws -> [Int] {
    // OFFSET 0: as in `leaseNext`. State and time once more: once a row is locked, only conditions of its own notice
    // that another node has leased it meanwhile.
    try column(
      """
      SELECT job.id FROM job JOIN registration
        ON registration.id = job.registration AND registration.user_id = job.user_id
      WHERE job.id = ANY(ARRAY(
          SELECT id FROM job WHERE state = 'queued' AND lane = $1 AND due <= $2
          ORDER BY due, id LIMIT $4))
        AND \(Self.isStillQueued) AND job.due <= $2 AND registration.ended IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM job AS other WHERE other.registration = job.registration
            AND other.state = 'queued' AND other.refused IS NOT NULL OFFSET 0)
        AND NOT EXISTS (
          SELECT 1 FROM job AS earlier
          WHERE earlier.state = 'queued' AND earlier.lane = job.lane AND earlier.line = job.line
            AND earlier.collapse = job.collapse AND earlier.id < job.id OFFSET 0)
        AND NOT EXISTS (
          SELECT 1 FROM job AS cancelled
          WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
            AND cancelled.lane = job.lane AND cancelled.line = job.line
            AND cancelled.collapse = job.collapse AND cancelled.id < job.id AND cancelled.due > $2
          OFFSET 0)
      ORDER BY \(Self.latestContact) LIMIT $3 FOR UPDATE OF job SKIP LOCKED
      """, lane, now, limit, RefusalRule.trialCandidates)
  }
}

/// What the acceptance of a push has to do with the refusals before it.
final class SettledOutcomes {
  /// The accepted jobs.
  let delivered: [Int]
  /// The jobs that were refused after the last of those was accepted.
  let refusedLater: Set<Int>
  /// The number of registrations that have ended at once.
  var ended = 0
  /// Whether there are refusals to look at; known with the next result.
  var hasRefusals = false

  init(_ outcomes: [(job: Int, outcome: JobOutcome)]) {
    delivered = outcomes.filter(\.outcome.isDelivered).map(\.job)
    let later = outcomes.lastIndex(where: \.outcome.isDelivered).map { $0 + 1 } ?? 0
    refusedLater = Set(outcomes[later...].map(\.job))
  }
}
