import FoundationEssentials

extension EngineTables {
  /// The rows that are read at once, so that a reader is not held for long.
  private static var batch: Int { 10_000 }

  func statistics(
    of notification: Int, since start: Date, hasEnded: Bool, unserved: Set<String>,
    among users: Set<UserID>?
  ) async throws -> CountedNotification {
    let pushes = try await pushes(of: notification)
    var count = StatisticsCount(
      since: start, hasEnded: hasEnded, unserved: unserved, pushes: pushes)
    var last = 0
    while true {
      let after = last
      let (recipients, devices) = try await database.read { connection in
        try connection.recipients(of: notification, after: after, limit: Self.batch)
      }
      for recipient in recipients where users?.contains(UserID(rawValue: recipient.user)) ?? true {
        count.include(recipient, with: devices[recipient.user] ?? [])
      }
      guard recipients.count == Self.batch, let user = recipients.last?.user else { break }
      last = user
      await Task.yield()
    }
    try await addInteractions(of: notification, by: users, to: &count)
    return count.result
  }

  /// The last pushes to each recipient.
  private func pushes(of notification: Int) async throws -> UserPushes {
    let ids: [Int] = try await database.read { connection in
      try connection.column("SELECT id FROM push WHERE notification = $1", notification)
    }
    var pushes = UserPushes()
    for push in ids {
      // What is settled meanwhile is found in the state that is read later, or in both.
      for state in JobState.allCases.filter({ $0 != .sent }) + [.sent] {
        var last: Int?
        repeat {
          let after = last ?? 0
          let jobs = try await database.read { connection in
            try connection.all(
              """
              SELECT id, user_id, reason, updated FROM job
              WHERE push = $1 AND state = $2 AND id > $3 ORDER BY id LIMIT $4
              """, push, state, after, Self.batch
            ) { row in
              UserPushes.Job(
                id: try row.next(), user: try row.next(), reason: try row.next(),
                updated: try row.next())
            }
          }
          for job in jobs { pushes.include(job, state) }
          last = jobs.count == Self.batch ? jobs.last?.id : nil
          await Task.yield()
        } while last != nil
      }
    }
    return pushes
  }

  private func addInteractions(
    of notification: Int, by users: Set<UserID>?, to count: inout StatisticsCount
  ) async throws {
    var last: Int? = 0
    while let after = last {
      let found = try await database.read { connection in
        try connection.all(
          """
          SELECT id, event, created, user_id FROM interaction WHERE notification = $1 AND id > $2
          ORDER BY id LIMIT $3
          """, notification, after, Self.batch
        ) { row in
          (
            id: try row.next(Int.self), event: try row.next(String.self),
            time: try row.next(Date.self), user: try row.next(UserID.self)
          )
        }
      }
      for one in found where users?.contains(one.user) ?? true {
        count.include(
          one.event == InteractionInsert.Event.reply.rawValue ? .replies : .actions, at: one.time)
      }
      last = found.count == Self.batch ? found.last?.id : nil
    }
  }

  func counts(
    by sender: UserID?, in starts: [Date], until end: Date
  ) async throws -> [PeriodCounts] {
    guard let first = starts.first else { return [] }
    let condition = sender == nil ? "CAST($1 AS bigint) IS NULL" : "sender = $1"
    let now = now()
    var periods = [PeriodCounts](repeating: PeriodCounts(), count: starts.count)
    var last: Int? = -1
    while let after = last {
      let found = try await database.read { connection in
        try connection.all(
          """
          SELECT id, COALESCE(not_before, created), withdrawn, \(NotificationCounts.columns)
          FROM notification LEFT JOIN notification_count AS total
            ON total.notification = notification.id
          WHERE \(condition) AND notification.id > $2
            AND COALESCE(not_before, created) >= $3 AND COALESCE(not_before, created) < $4
            AND COALESCE(not_before, created) <= $5 AND held IS NULL
            AND (withdrawn IS NULL OR not_before IS NULL OR withdrawn >= not_before)
          ORDER BY notification.id LIMIT $6
          """, sender, after, first, end, now, Self.batch
        ) { row in
          (
            id: try row.next(Int.self), time: try row.next(Date.self),
            withdrawn: try row.next(Date?.self), counts: try NotificationCounts(&row)
          )
        }
      }
      for one in found {
        let period = starts.lastIndex { $0 <= one.time } ?? 0
        periods[period].include(one.counts, isWithdrawn: one.withdrawn != nil)
      }
      last = found.count == Self.batch ? found.last?.id : nil
      await Task.yield()
    }
    return periods
  }
}

extension PeriodCounts {
  fileprivate mutating func include(_ counts: NotificationCounts, isWithdrawn: Bool) {
    notifications += 1
    withdrawn += isWithdrawn ? 1 : 0
    recipients += counts.recipients
    sent += counts.sent
    failed += counts.failed
    for (step, number) in [
      (CourseStep.displayed, counts.displayed), (.fetched, counts.fetched),
      (.opened, counts.opened), (.read, counts.read), (.dismissed, counts.dismissed),
      (.actions, counts.actions), (.replies, counts.replies),
    ] {
      steps[step, default: 0] += number
    }
  }
}

extension Queryable {
  /// The recipients of a notification with the next larger IDs, and their devices.
  fileprivate func recipients(
    of notification: Int, after: Int, limit: Int
  ) throws -> ([CountedRecipient], [Int: [CountedDevice]]) {
    var users: [Int] = []
    // An index has the recipients in each state in order.
    for state in ReceiptState.allCases {
      users += try column(
        """
        SELECT user_id FROM recipient
        WHERE notification = $1 AND \(progress) = \(state.progress) AND user_id > $2
        ORDER BY user_id LIMIT $3
        """, notification, after, limit)
    }
    users = Array(users.sorted().prefix(limit))
    let recipients = try all(
      """
      SELECT user_id, sent, displayed, fetched, opened, read, dismissed FROM recipient
      WHERE notification = $1 AND user_id \(isIn("$2")) ORDER BY user_id
      """, notification, users
    ) { row in
      CountedRecipient(
        user: try row.next(),
        times: [
          (.sent, try row.next()), (.displayed, try row.next()), (.fetched, try row.next()),
          (.opened, try row.next()), (.read, try row.next()), (.dismissed, try row.next()),
        ])
    }
    let devices = try all(
      """
      SELECT user_id, platform, language, updated FROM registration
      WHERE user_id \(isIn("$1")) AND ended IS NULL
      """, users
    ) { row in
      (
        user: try row.next(Int.self),
        device: CountedDevice(
          platform: try row.next(), language: try row.next(), updated: try row.next())
      )
    }
    return (recipients, Dictionary(grouping: devices, by: \.user).mapValues { $0.map(\.device) })
  }
}
