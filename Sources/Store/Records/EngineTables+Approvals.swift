import FoundationEssentials
import Primitives

extension EngineTables {
  func awaitingApproval(before: Int?, limit: Int) async throws -> [SentNotification] {
    let now = now()
    return try await database.read { connection in
      try connection.all(
        """
        SELECT \(SentNotification.columns)
        WHERE \(StoredNotification.awaitsDecision("$1")) AND notification.id < $2
        ORDER BY notification.id DESC LIMIT $3
        """, now, before ?? .max, max(0, limit), read: SentNotification.init)
    }
  }

  func decide(
    _ id: Int, _ decision: NotificationDecision, by user: UserID, isAdmin: Bool
  ) async throws -> ApprovalResult {
    let now = now()
    let (result, cancelled): (ApprovalResult, Int) = try await database.write { transaction in
      guard let found = try transaction.lockedNotification(id, at: now) else {
        return (.missing, 0)
      }
      guard found.awaitsApproval else { return (.notAwaiting, 0) }
      if try found.sender == user || transaction.hasChanged(id, user) { return (.isOwn, 0) }
      guard try isAdmin || transaction.mayPublish(found.sender) else { return (.needsAdmin, 0) }
      var (reason, cancelled): (String?, Int) = (nil, 0)
      switch decision {
      case .approve(let version):
        guard found.contentVersion == version else { return (.changedMeanwhile, 0) }
        try transaction.release(found, at: now)
      case .refuse(let why):
        cancelled = try transaction.withdraw(id, at: now).cancelled
        reason = why
      }
      try transaction.run(
        """
        INSERT INTO approval(notification, user_id, reason, created) VALUES ($1, $2, $3, $4)
        ON CONFLICT (notification) DO UPDATE
          SET user_id = excluded.user_id, reason = excluded.reason, created = excluded.created
        """, id, user, reason, now)
      try transaction.audit(
        reason == nil ? .notificationApproved : .notificationDeclined,
        .notification(id, of: found.sender), at: now)
      try transaction.tell(of: id, reason == nil ? .approved : .refused, at: now)
      return (try transaction.approval(of: id).map(ApprovalResult.decided) ?? .missing, cancelled)
    }
    try await cancelRest(of: id, after: cancelled, at: now)
    return result
  }

  func approval(of id: Int) async throws -> StoredApproval? {
    try await database.read { try $0.approval(of: id) }
  }
}

/// What has become of a notification that needs approval, for the events of publishers.
enum ApprovalState: String {
  case awaiting, approved, refused
}

extension Queryable {
  func approval(of id: Int) throws -> StoredApproval? {
    try first(
      """
      SELECT name, reason, approval.created FROM approval LEFT JOIN users ON users.id = user_id
      WHERE notification = $1
      """, id
    ) { row in
      StoredApproval(user: try row.next(), reason: try row.next(), time: try row.next())
    }
  }

  /// Whether a notification's sender is still there, and may publish.
  fileprivate func mayPublish(_ sender: UserID?) throws -> Bool {
    // Those without a password are guests of the demonstration, who may.
    try value(
      "SELECT EXISTS (SELECT 1 FROM users WHERE id = $1 AND (role <> 'device' OR hash IS NULL))",
      sender, as: Bool.self) == true
  }

  /// Whether a user has changed a notification.
  fileprivate func hasChanged(_ id: Int, _ user: UserID) throws -> Bool {
    try value(
      "SELECT EXISTS (SELECT 1 FROM amendment WHERE notification = $1 AND editor = $2)", id, user,
      as: Bool.self) == true
  }

  /// How many people get the same by others of its sender's notifications of the last hour that await no approval, and
  /// are for several people.
  ///
  /// Only the sender's last thousand are looked at.
  fileprivate func peopleSentTheSame(
    as new: NotificationInsert, but id: Int, from sender: UserID, at now: Date
  ) throws -> Int {
    try value(
      """
      SELECT CAST(coalesce(sum(people), 0) AS bigint) FROM (
        SELECT id, created, message, members, rich_type, payload, people, awaits
        FROM notification WHERE sender = $1 ORDER BY id DESC LIMIT 1000) AS latest
      WHERE created > $2 AND message = $3 AND coalesce(members, '') = $4 AND rich_type = $5
        AND payload = $6 AND people > 1 AND awaits IS NULL AND id <> $7
      """, sender, now - Self.sameSendPeriod, new.message, new.members ?? "", new.richType,
      new.payload, id, as: Int.self) ?? 0
  }

  /// For how long parts of a send count together, in seconds.
  private static var sameSendPeriod: TimeInterval { 3600 }
}

extension Changing {
  /// A new notification as it is to be stored: one for more people than may be sent to without approval waits.
  ///
  /// Throws `conflict` if it has to wait, but is to take the place of another one.
  func waitingForApproval(
    _ new: NotificationInsert, people: Int, at now: Date
  ) throws -> NotificationInsert {
    var new = new
    guard let limit = new.approvalAbove else { return new }
    new.people = people
    guard try needsApproval(new, people, above: limit, but: -1, from: new.sender, at: now) else {
      return new
    }
    guard new.replaces == nil else {
      throw StoreError(
        .conflict,
        """
        It is for more than \(limit) people, so another publisher has to approve it, and what waits for that cannot \
        take the place of another notification: leave replaces out
        """)
    }
    (new.held, new.notBefore) = (new.notBefore ?? now, StoredNotification.untilReleased)
    return new
  }

  /// A change as it is to be stored: what awaits approval goes on waiting, and what was approved waits again.
  ///
  /// Throws `conflict` if it was sent already to more people than may be sent to without approval.
  func waitingForApproval(
    _ change: NotificationInsert, insteadOf old: StoredNotification, at now: Date
  ) throws -> NotificationInsert {
    var new = change
    if !old.awaitsApproval {
      guard let limit = new.approvalAbove else { return new }
      let people = try old.people ?? recipientCount(of: old.id)
      new.people = people
      guard
        try needsApproval(new, people, above: limit, but: old.id, from: old.sender, at: now)
      else { return new }
      guard old.isHeld(at: now) else {
        throw StoreError(
          .conflict,
          """
          It was sent to more than \(limit) people, so a change would need the approval of another publisher: send \
          another notification
          """)
      }
      try tell(of: old.id, .awaiting, at: now)
    }
    // What was held before keeps its time.
    let planned = new.notBefore == StoredNotification.untilReleased ? old.held : new.notBefore
    (new.held, new.notBefore) = (planned ?? old.created, StoredNotification.untilReleased)
    return new
  }

  /// Has a notification wait whose recipients are found only now, unless it was approved; false if it need not.
  func awaitApproval(
    of notification: StoredNotification, as new: NotificationInsert, people: Int, at now: Date
  ) throws -> Bool {
    let (id, sender) = (notification.id, notification.sender)
    guard let limit = new.approvalAbove, try approval(of: id) == nil,
      try needsApproval(new, people, above: limit, but: id, from: sender, at: now)
    else { return false }
    try run(
      """
      UPDATE notification SET held = coalesce(not_before, $1), not_before = $2, awaits = 1, people = $3
      WHERE id = $4
      """, now, StoredNotification.untilReleased, people, id)
    try tell(of: id, .awaiting, at: now)
    effects.add(.change(id))
    return true
  }

  private func needsApproval(
    _ new: NotificationInsert, _ people: Int, above limit: Int, but id: Int, from sender: UserID?,
    at now: Date
  ) throws -> Bool {
    if people > limit { return true }
    guard people > 1, let sender else { return false }
    // Two parts that are sent at once are counted one after the other.
    try waitForOthers("approval \(sender.rawValue)")
    return try people
      + peopleSentTheSame(as: new, but: id, from: sender, at: now) > limit
  }

  private func recipientCount(of id: Int) throws -> Int {
    try value("SELECT recipients FROM notification_count WHERE notification = $1", id) ?? 0
  }

  /// Lets what awaited approval go at its time, or now if that is past.
  fileprivate func release(_ notification: StoredNotification, at now: Date) throws {
    let id = notification.id
    try run(
      "UPDATE notification SET not_before = $1, held = NULL, awaits = NULL WHERE id = $2",
      max(notification.plannedTime ?? now, now), id)
    for span in try delays(of: notification, at: now) {
      let (earliest, latest) = (span.times.lowerBound, span.times.upperBound)
      if span.delay > 0 {
        try run(
          """
          UPDATE recipient SET due = due + $1 WHERE notification = $2 AND due BETWEEN $3 AND $4
          """, span.delay, id, earliest, latest)
        try run(
          """
          UPDATE audience_part SET due = due + $1
          WHERE push IS NULL AND notification = $2 AND due BETWEEN $3 AND $4
          """, span.delay, id, earliest, latest)
        try run(
          """
          UPDATE push SET scheduled = scheduled + $1
          WHERE notification = $2 AND scheduled BETWEEN $3 AND $4
          """, span.delay, id, earliest, latest)
      }
      let held = Self.whileHeld
      let values: [any Parameter] = [held - span.delay, id, earliest + held, latest + held]
      try run(
        """
        UPDATE held_event SET due = due - $1 WHERE notification = $2 AND due BETWEEN $3 AND $4
        """, values: values)
      // What becomes jobs only now comes first: another node may still be writing some of it.
      try run(
        """
        UPDATE audience_part SET due = due - $1
        WHERE push IS NOT NULL AND notification = $2 AND due BETWEEN $3 AND $4
        """, values: values)
      try run(
        """
        UPDATE job SET due = due - $1 WHERE state = 'queued' AND due BETWEEN $3 AND $4
          AND push IN (SELECT id FROM push WHERE notification = $2)
        """, values: values)
    }
    let lanes = try column(
      "SELECT DISTINCT lane FROM push WHERE notification = $1", id, as: String.self)
    effects.add(lanes.map { Effect.jobs(lane: $0) })
    effects.add(.change(id))
    effects.add(.events)
  }

  /// How much later times are while their notification awaits approval, in milliseconds.
  private static var whileHeld: Int {
    Int(StoredNotification.untilReleased.timeIntervalSince1970) * 1000
  }

  /// By how much the times of a notification that is released now have to be later, the last times first; in
  /// milliseconds.
  ///
  /// Times that have passed are at once, but where only so many may get it in a minute, one minute follows the other.
  private func delays(
    of notification: StoredNotification, at now: Date
  ) throws -> [(times: ClosedRange<Int>, delay: Int)] {
    guard notification.perMinute != nil else { return [(0...Self.whileHeld, 0)] }
    let times: [Int] = try column(
      """
      SELECT due - $2 FROM job WHERE push IN (SELECT id FROM push WHERE notification = $1)
        AND state = 'queued'
      UNION SELECT due - $2 FROM audience_part WHERE notification = $1 AND push IS NOT NULL AND due > 0
      UNION SELECT due - $2 FROM held_event WHERE notification = $1
      UNION SELECT due FROM audience_part WHERE notification = $1 AND push IS NULL AND due IS NOT NULL
      UNION SELECT due FROM recipient WHERE notification = $1 AND due IS NOT NULL
      ORDER BY 1
      """, notification.id, Self.whileHeld)
    var next = Int((now.timeIntervalSince1970 * 1000).rounded())
    var delays: [(times: ClosedRange<Int>, delay: Int)] = []
    for time in times {
      let later = max(time, next)
      next = later + 60_000
      if let last = delays.last, last.delay == later - time {
        delays[delays.count - 1].times = last.times.lowerBound...time
      } else {
        delays.append((time...time, later - time))
      }
    }
    return delays.reversed()
  }

  /// Tells all publishers what has become of a notification that needs approval.
  func tell(of id: Int, _ state: ApprovalState, at now: Date) throws {
    let data = #"{"notification":\#(id),"state":"\#(state.rawValue)"}"#
    try add(NewEvent(type: "approval", data: data, time: now))
  }
}

extension StoredNotification {
  /// The condition that it awaits approval, and has not ended, at the time in the parameter `time`, such as `$2`.
  static func awaitsDecision(_ time: String) -> String {
    "awaits = 1 AND (expires IS NULL OR expires > \(time))"
  }

  /// What it says, shows, and when, as a digest: another one after each change of these.
  package var contentVersion: String {
    let texts = [
      message, members ?? "", richType, payload, blob?.digest.hex ?? "", focus ?? "", form,
      number(plannedTime), localTime ?? "", number(expires), perMinute.map(String.init) ?? "",
    ]
    return String(Digest(of: JSONText.array(texts)).hex.prefix(32))
  }

  private func number(_ time: Date?) -> String {
    time.map { String(Int(($0.timeIntervalSince1970 * 1000).rounded())) } ?? ""
  }
}
