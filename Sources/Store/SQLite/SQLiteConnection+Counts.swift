import FoundationEssentials

/// The counts change in the transaction that changes what they count.
extension SQLiteConnection {
  /// Adds to a count of notifications, by their IDs, and sets the time of the first addition if it has one.
  func count(
    _ column: CountColumn, of notifications: [Int: (number: Int, time: Date)]
  ) throws {
    let added = "UPDATE notification_count SET \(column) = \(column) + $1"
    guard let first = column.first else {
      _ = try changes("\(added) WHERE notification = $2", Array(notifications)) {
        ($0.value.number, $0.key)
      }
      return
    }
    _ = try changes(
      "\(added), first_\(first) = coalesce(first_\(first), $2) WHERE notification = $3",
      Array(notifications)
    ) { ($0.value.number, $0.value.time, $0.key) }
  }

  func count(_ column: CountColumn, of notification: Int, at time: Date) throws {
    try count(column, of: [notification: (1, time)])
  }

  /// Counts jobs in their new state instead of the old one, which is nil for new jobs.
  func count(_ jobs: [Int], from old: JobState?, to new: JobState) throws {
    let (old, new) = (old?.count, new.count)
    let time = new == "sent" ? "first_sent = coalesce(first_sent, jobs.time)" : nil
    let changes =
      [old.map { "\($0) = \($0) - number" }, new.map { "\($0) = \($0) + number" }, time]
      .compactMap(\.self)
    guard !jobs.isEmpty, old != new, !changes.isEmpty else { return }
    // CROSS JOIN keeps the order of the jobs.
    try run(
      """
      UPDATE notification_count SET \(changes.joined(separator: ", ")) FROM (
        SELECT push.notification AS id, count(*) AS number, min(updated) AS time
        FROM json_each($1) AS changed CROSS JOIN job ON job.id = changed.value
          JOIN push ON push.id = job.push
        WHERE push.notification IS NOT NULL GROUP BY push.notification
      ) AS jobs WHERE notification_count.notification = jobs.id
      """, jobs)
  }
}

extension JobState {
  /// The column of `notification_count` that counts jobs in this state.
  fileprivate var count: String? {
    switch self {
    case .queued: "queued"
    case .sent: "sent"
    case .failed, .expired: "failed"
    case .cancelled: nil
    }
  }
}
