import FoundationEssentials

extension SendingRules {
  /// The period in which a person gets at most ``mostADay`` notifications, in seconds.
  static let day: TimeInterval = 86_400
}

extension Changing {
  /// Counts the notifications that users are pushed by due jobs, and cancels the jobs of users who have had as many
  /// within a day as there may be; returns which.
  ///
  /// A notification counts once for all devices of a user and all attempts, and so does what takes its place: they have
  /// a collapse ID in common. Urgent ones count, but are not limited.
  func cancelAboveDailyLimit(_ due: [DueJob], at now: Date) throws -> Set<Int> {
    guard let most = rules.mostADay else { return [] }
    var counted: [(id: Int, user: UserID, subject: String, isUrgent: Bool)] = []
    for due in due {
      // One that has expired is settled as such.
      guard let job = due.job, job.notificationID != nil, let user = job.user,
        let subject = job.collapseID, job.expires.map({ $0 > now }) ?? true
      else { continue }
      counted.append((due.id, user, subject, due.isUrgent))
    }
    if counted.isEmpty { return [] }
    let users = Set(counted.map(\.user)).sorted()
    // Another node may be leasing jobs of the same users.
    let lock = lock("FOR NO KEY UPDATE")
    if !lock.isEmpty {
      _ = try column(
        "SELECT id FROM users WHERE id \(isIn("$1")) ORDER BY id \(lock)", users, as: UserID.self)
    }
    let known = try all(
      "SELECT user_id, subject FROM daily_push WHERE user_id \(isIn("$1")) AND sent > $2", users,
      now - SendingRules.day
    ) { ($0 as UserID, $1 as String) }
    var pushed = Dictionary(grouping: known, by: \.0).mapValues { Set($0.map(\.1)) }
    var (new, above): ([Int], [Int]) = ([], [])
    for (id, user, subject, isUrgent) in counted {
      let own = pushed[user] ?? []
      if own.contains(subject) { continue }
      if own.count >= most, !isUrgent {
        above.append(id)
      } else {
        pushed[user, default: []].insert(subject)
        new.append(id)
      }
    }
    if !new.isEmpty {
      try send(
        """
        INSERT INTO daily_push(user_id, subject, sent)
        SELECT DISTINCT users.id, collapse, CAST($1 AS bigint)
        FROM job JOIN users ON users.id = job.user_id WHERE job.id \(isIn("$2"))
        ON CONFLICT (user_id, subject) DO UPDATE SET sent = excluded.sent
        """, now, new)
    }
    if !above.isEmpty {
      try updateJobs(
        from: .queued, to: .cancelled,
        """
        UPDATE job SET state = 'cancelled', updated = $1, owner = NULL, reason = $2
        WHERE id \(isIn("$3"))
        """, now, "the person had \(most) notifications in 24 hours", above)
    }
    return Set(above)
  }
}
