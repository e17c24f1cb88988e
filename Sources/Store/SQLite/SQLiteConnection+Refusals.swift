import FoundationEssentials

extension SQLiteConnection {
  /// Whether a pause of the lane, or a refused push of it or of its family, has to be looked at when a push is
  /// accepted.
  func hasRefusals(_ lane: SendingLane) throws -> Bool {
    try value(
      Self.refusalsToLookAt, lane.name, lane.settings, lane.family, as: Bool.self) == true
  }

  /// Due jobs of devices that are not refused, those first that were heard of last.
  func jobsOfLatestContact(_ lane: String, limit: Int, at now: Date) throws -> [Int] {
    try column(
      """
      SELECT job.id FROM (
          SELECT id, registration, user_id, collapse FROM job
          WHERE state = 'queued' AND lane = $1 AND due <= $2 ORDER BY due, id LIMIT $4
        ) AS job JOIN registration
          ON registration.id = job.registration AND registration.user_id = job.user_id
      WHERE registration.ended IS NULL
        AND NOT EXISTS (
          SELECT 1 FROM job AS other WHERE other.registration = job.registration
            AND other.state = 'queued' AND other.refused IS NOT NULL)
        AND NOT EXISTS (
          SELECT 1 FROM job AS earlier
          WHERE earlier.state = 'queued' AND earlier.registration = job.registration
            AND earlier.collapse IS NOT NULL AND earlier.collapse = job.collapse
            AND earlier.lane = $1 AND earlier.id < job.id)
        AND NOT EXISTS (
          SELECT 1 FROM job AS cancelled
          WHERE cancelled.state = 'cancelled' AND cancelled.owner IS NOT NULL
            AND cancelled.registration = job.registration AND cancelled.collapse = job.collapse
            AND cancelled.lane = $1 AND cancelled.id < job.id AND cancelled.due > $2)
      ORDER BY \(Self.latestContact) LIMIT $3
      """, lane, now, limit, RefusalRule.trialCandidates)
  }
}
