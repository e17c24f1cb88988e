import FoundationEssentials

extension EngineTables {
  func amend(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?
  ) async throws -> StoredNotification? {
    let (now, blobs) = (now(), blobs)
    return try await database.write { transaction in
      try transaction.requireRenewed(new.blob?.digest, in: blobs)
      guard let stored = try transaction.lockedNotification(id, at: now) else { return nil }
      if stored.isSame(as: new),
        try new.values.map({ try transaction.hasValues($0, of: id) }) ?? true
      {
        return stored
      }
      guard try transaction.awaitsAudience(id) == new.awaitsAudience else {
        throw StoreError(.changed, "it was just sent; try again")
      }
      try transaction.requireSpace()
      let new = try transaction.waitingForApproval(new, insteadOf: stored, at: now)
      if let user = new.device { try transaction.countOwnNotification(of: user, at: now) }
      guard let notification = try transaction.update(id, with: new, replacing: content, at: now)
      else { return nil }
      try transaction.record(new, as: id, at: now)
      if let amendment = new.amendment { try transaction.add(amendment, of: id, at: now) }
      try transaction.expirePushes(of: id, at: now)
      try transaction.cancelUnsent(id, at: now)
      try transaction.setTimes(new.times, of: id, insteadOf: stored, at: now)
      try transaction.announce(
        new, to: transaction.recipients(of: id), as: notification, at: now)
      transaction.effects.add(.change(id))
      try transaction.audit(
        .notificationAmended, .notification(id, of: notification.sender), otherwise: .dropFolder,
        at: now)
      return notification
    }
  }

  func withdraw(_ id: Int) async throws -> Bool {
    let now = now()
    let (isWithdrawn, count) = try await database.write { transaction in
      let result = try transaction.withdraw(id, at: now)
      if result.isWithdrawn {
        let sender = try transaction.value(
          "SELECT sender FROM notification WHERE id = $1", id, as: UserID?.self)
        try transaction.audit(
          .notificationWithdrawn, .notification(id, of: sender ?? nil), otherwise: .dropFolder,
          at: now)
      }
      return result
    }
    try await cancelRest(of: id, after: count, at: now)
    return isWithdrawn
  }

  /// Cancels what is left of the jobs of a notification that was withdrawn, of which so many were cancelled.
  func cancelRest(of id: Int, after count: Int, at now: Date) async throws {
    guard count == Cancellation.limit else { return }
    while try await database.write({ try $0.cancelSome(id, at: now) }) > 0 {}
  }

  func amendments(of id: Int) async throws -> [StoredAmendment] {
    try await database.read { query in
      try query.all(
        """
        SELECT name, earlier, amendment.created
        FROM amendment LEFT JOIN users ON users.id = editor
        WHERE notification = $1 ORDER BY amendment.id DESC LIMIT \(StoredAmendment.limit)
        """, id, read: StoredAmendment.init)
    }
  }

  func notification(_ id: Int) async throws -> StoredNotification? {
    let now = now()
    return try await database.read { try $0.notification(id, at: now) }
  }

  func notification(about subject: String, sender: UserID) async throws -> StoredNotification? {
    let now = now()
    return try await database.read { query in
      try query.first(
        """
        SELECT \(StoredNotification.columns) FROM notification
        WHERE sender = $1 AND replaces = $2 AND replaced_by IS NULL
          AND (expires IS NULL OR expires > $3)
        ORDER BY id DESC LIMIT 1
        """, sender, subject, now, read: StoredNotification.init)
    }
  }

  func latest(
    about subject: String, sender: UserID
  ) async throws -> (id: Int, key: String?, hasExpired: Bool)? {
    let now = now()
    return try await database.read { query in
      try query.first(
        """
        SELECT id, key, CASE WHEN expires <= $3 THEN 1 ELSE 0 END
        FROM notification LEFT JOIN idempotency ON idempotency.notification = notification.id
        WHERE notification.sender = $1 AND replaces = $2 AND replaced_by IS NULL
        ORDER BY id DESC LIMIT 1
        """, sender, subject, now
      ) { row in
        (id: try row.next(), key: try row.next(), hasExpired: try row.next(Int.self) == 1)
      }
    }
  }

  func notification(
    for key: IdempotencyKey, sender: UserID?
  ) async throws -> StoredNotification? {
    try await database.read { try $0.notification(for: key, sender: sender) }
  }
}

extension Queryable {
  func notification(_ id: Int, at now: Date) throws -> StoredNotification? {
    try first(
      """
      SELECT \(StoredNotification.columns) FROM notification
      WHERE id = $1 AND (expires IS NULL OR expires > $2)
      """, id, now, read: StoredNotification.init)
  }

  func notification(
    for key: IdempotencyKey, sender: UserID?
  ) throws -> StoredNotification? {
    let known = try first(
      "SELECT notification, request FROM idempotency WHERE sender = $1 AND key = $2",
      sender?.rawValue ?? 0, key.key
    ) { row in (notification: try row.next(Int.self), request: try row.next(Digest.self)) }
    guard let known else { return nil }
    guard known.request == key.request else {
      throw StoreError(
        .conflict, "the idempotency key “\(key.key)” was already used for a different request")
    }
    return try first(
      "SELECT \(StoredNotification.columns) FROM notification WHERE id = $1",
      known.notification, read: StoredNotification.init)
  }
}

private enum Cancellation {
  /// The most jobs that are cancelled in one commit, so that others do not wait long for a statement.
  static let limit = 1000
}

extension StoredAmendment {
  /// The most changes that a notification keeps.
  fileprivate static let limit = 50

  fileprivate init(_ row: inout some Row) throws {
    (editor, earlier, time) = (try row.next(), try row.next(), try row.next())
  }
}

extension Changing {
  /// The notification with this id, which nobody else can change, decide on or announce until the end of the
  /// transaction; nil if there is none or it has expired.
  func lockedNotification(_ id: Int, at now: Date) throws -> StoredNotification? {
    try first(
      """
      SELECT \(StoredNotification.columns) FROM notification
      WHERE id = $1 AND (expires IS NULL OR expires > $2) \(lock("FOR UPDATE"))
      """, id, now, read: StoredNotification.init)
  }

  /// Adds a change to a notification's history, of which only the last ones stay.
  fileprivate func add(_ amendment: NewAmendment, of id: Int, at now: Date) throws {
    try run(
      "INSERT INTO amendment(notification, editor, earlier, created) VALUES ($1, $2, $3, $4)",
      id, amendment.editor, amendment.earlier, now)
    try run(
      """
      DELETE FROM amendment WHERE notification = $1 AND id <= (
        SELECT id FROM amendment WHERE notification = $1
        ORDER BY id DESC LIMIT 1 OFFSET \(StoredAmendment.limit))
      """, id)
  }

  /// Adds an entry to the audit log about a notification that was just created.
  func auditCreation(of notification: StoredNotification, people: Int) throws {
    let created = notification.created
    try audit(
      notification.isHeld(at: created) ? .notificationScheduled : .notificationSent,
      .notification(notification.id, of: notification.sender),
      detail: notification.awaitsApproval ? "awaits-approval" : nil, count: people,
      otherwise: .dropFolder, at: created)
  }

  /// Nil if the notification has expired, another has taken its place, or it has other content than `content`; without
  /// that, also if a recipient has fetched it.
  fileprivate func update(
    _ id: Int, with new: NotificationInsert, replacing content: Digest?, at now: Date
  ) throws -> StoredNotification? {
    // Earlier pushes go on saying what they said.
    try run(
      """
      UPDATE push SET (message, members, form) = (
        SELECT message, members, form FROM notification WHERE id = $1)
      WHERE notification = $1 AND message IS NULL
      """, id)
    return try first(
      """
      UPDATE notification SET message = $1, rich_type = $2, payload = $3, details = $4, blob = $5,
        blob_size = $6, blob_type = $7,
        held = coalesce($18, CASE WHEN not_before = $8 THEN held END),
        awaits = CASE WHEN CAST($18 AS bigint) IS NOT NULL THEN 1 END, people = coalesce($19, people),
        not_before = $8, expires = $9, form = $10,
        members = $14, focus = $15, asset_alt = $16, local_time = $17, per_minute = $20,
        replaced = CASE WHEN \(Self.isFetched) THEN $12 ELSE replaced END
      WHERE id = $11 AND (expires IS NULL OR expires > $12) AND replaced_by IS NULL
        AND (blob = $13 OR CAST($13 AS text) IS NULL AND NOT \(Self.isFetched))
      RETURNING \(StoredNotification.columns)
      """, new.message, new.richType, new.payload, new.details, new.blob?.digest, new.blob?.size,
      new.blobType, new.notBefore, new.expires, new.form, id, now, content, new.members,
      new.focus, StoredNotification.flag(new.hasAssetAlt), new.localTime,
      new.held, new.people, new.perMinute,
      read: StoredNotification.init)
  }

  /// Changes the times at which the recipients who have rows learn of a notification, but for those who know of it
  /// already.
  fileprivate func setTimes(
    _ times: [Date: [UserID]], of id: Int, insteadOf old: StoredNotification, at now: Date
  ) throws {
    if times.isEmpty, old.localTime != nil || old.perMinute != nil {
      try send("UPDATE recipient SET due = NULL WHERE notification = $1", id)
    }
    let begun = old.isHeld(at: now) ? nil : now
    for (due, users) in times.sorted(by: { $0.key < $1.key }) {
      for users in parts(of: users) {
        try send(
          """
          UPDATE recipient SET due = $1
          WHERE notification = $2 AND user_id \(isIn("$3"))
            AND (CAST($4 AS bigint) IS NULL OR due IS NULL OR due > $4)
          """, due, id, users, begun)
      }
    }
  }

  /// Withdraws a notification; false if there is none, or it has ended.
  ///
  /// Its jobs are cancelled in parts: so many now, the others by ``cancelRest(of:after:at:)``.
  func withdraw(_ id: Int, at now: Date) throws -> (isWithdrawn: Bool, cancelled: Int) {
    let isWithdrawn =
      try run(
        """
        UPDATE notification SET expires = $1, withdrawn = $1
        WHERE id = $2 AND (expires IS NULL OR expires > $1)
        """, now, id) == 1
    if isWithdrawn { effects.add(.change(id)) }
    try expirePushes(of: id, at: now)
    try send("DELETE FROM held_event WHERE notification = $1", id)
    try send("DELETE FROM audience_part WHERE notification = $1", id)
    try send("DELETE FROM due_audience WHERE notification = $1", id)
    return (isWithdrawn, try cancelSome(id, at: now))
  }

  /// Has what is still queued expire at once: some of it is cancelled only later.
  fileprivate func expirePushes(of id: Int, at now: Date) throws {
    try send("UPDATE push SET expires = $1 WHERE notification = $2", now, id)
  }

  private static var isFetched: String {
    "EXISTS (SELECT 1 FROM recipient WHERE recipient.notification = id AND fetched IS NOT NULL)"
  }

  /// Cancels jobs that were not sent of a notification, and returns how many it has found; not those for recipients who
  /// keep what another has taken the place of, unless their push has expired.
  fileprivate func cancelSome(_ notification: Int, at now: Date) throws -> Int {
    try cancelSome("push.notification", notification, at: now)
  }

  /// Cancels what was not sent of a notification, as ``cancelSome(_:at:)``; a large number of jobs in parts, the first of
  /// them now, the others with the parts of audiences.
  fileprivate func cancelUnsent(_ notification: Int, at now: Date) throws {
    let count = try cancelSome(notification, at: now)
    try send("DELETE FROM held_event WHERE notification = $1", notification)
    try send("DELETE FROM audience_part WHERE notification = $1", notification)
    guard count == Cancellation.limit else { return }
    try cancelLater(
      column("SELECT id FROM push WHERE notification = $1", notification), of: notification)
    effects.add(.events)
  }

  /// Cancels another part of a push's jobs, and has the next one cancelled later.
  func cancelRest(ofPush push: Int, of notification: Int, at now: Date) throws {
    let count = try cancelSome("push.id", push, at: now)
    if count == Cancellation.limit { try cancelLater([push], of: notification) }
    // Later pushes to the same devices have waited for these.
    let lane = try value("SELECT lane FROM push WHERE id = $1", push, as: String.self)
    if let lane { effects.add(.jobs(lane: lane)) }
  }

  private func cancelSome(_ column: String, _ id: Int, at now: Date) throws -> Int {
    let jobs: [Int] = try self.column(
      """
      SELECT job.id FROM push CROSS JOIN job
      WHERE \(column) = $1 AND job.push = push.id AND state = 'queued'
        AND (push.expires <= $2 OR NOT EXISTS (
          SELECT 1 FROM recipient WHERE recipient.user_id = job.user_id
            AND recipient.notification = push.notification AND kept IS NOT NULL))
      LIMIT $3
      """, id, now, Cancellation.limit)
    try cancel(jobs, at: now)
    return jobs.count
  }

  private func cancel(_ jobs: [Int], at now: Date) throws {
    if jobs.isEmpty { return }
    try lockJobs(jobs)
    try updateJobs(
      from: .queued, to: .cancelled,
      """
      UPDATE job SET state = 'cancelled', updated = $1, reason = NULL
      WHERE id \(isIn("$2")) AND \(Self.isStillQueued)
      """, now, jobs)
  }
}

extension EngineTables {
  /// Writes what remains of the audiences of those whose place a new notification takes.
  func completeAudiences(replacedBy new: NotificationInsert) async throws {
    for id in try await database.read({ try $0.current(about: new) }) {
      try await completeAudience(of: id)
    }
  }
}

extension Queryable {
  /// The sender's notifications whose place a new one takes.
  fileprivate func current(about new: NotificationInsert) throws -> [Int] {
    guard let subject = new.replaces, let sender = new.sender else { return [] }
    return try column(
      """
      SELECT id FROM notification WHERE sender = $1 AND replaces = $2 AND replaced_by IS NULL
      """, sender, subject)
  }
}

extension Changing {
  /// The sender's notifications whose place a new one takes; nil while an audience of theirs is still to be written,
  /// some of whom may keep it.
  func replaced(by new: NotificationInsert) throws -> [Int]? {
    guard let subject = new.replaces, let sender = new.sender else { return [] }
    try waitForOthers("replaces \(sender.rawValue) \(subject)")
    let earlier = try current(about: new)
    let isPending = try value(
      "SELECT EXISTS (SELECT 1 FROM audience_part WHERE notification \(isIn("$1")))", earlier,
      as: Bool.self)
    return isPending == true ? nil : earlier
  }

  /// Lets a new notification take the place of earlier ones that are about the same, for its `recipients`: who is sent
  /// only an earlier one keeps it, and is still pushed it.
  func takePlace(
    of earlier: [Int], by new: NotificationInsert, _ id: Int, for recipients: [UserID],
    at now: Date
  ) throws {
    guard new.replaces != nil else { return }
    for earlier in earlier {
      let remaining = Set(try self.recipients(of: earlier)).subtracting(recipients).sorted()
      for users in parts(of: remaining) {
        try run(
          "UPDATE recipient SET kept = 1 WHERE notification = $1 AND user_id \(isIn("$2"))",
          earlier,
          users)
      }
    }
    let kept = try keptNoLonger(new, by: recipients)
    for earlier in earlier {
      try send("UPDATE notification SET replaced_by = $1 WHERE id = $2", id, earlier)
    }
    for earlier in Set(earlier).union(kept).sorted() {
      try cancelUnsent(earlier, at: now)
      effects.add(.change(earlier))
    }
  }

  /// Takes from `users` what they have kept of those about the same; returns which these were.
  private func keptNoLonger(_ new: NotificationInsert, by users: [UserID]) throws -> Set<Int> {
    let isAnyKept = try value(
      "SELECT EXISTS (SELECT 1 FROM recipient WHERE kept = 1)", as: Bool.self)
    guard isAnyKept == true else { return [] }
    var all: Set<Int> = []
    for users in parts(of: users) {
      // Begins with those of the users who keep something, by an index: CROSS JOIN, and “kept = 1”.
      let kept: [Int] = try column(
        """
        SELECT DISTINCT notification.id
        FROM recipient CROSS JOIN notification
        WHERE notification.id = recipient.notification AND kept = 1
          AND user_id \(isIn("$1")) AND sender = $2 AND replaces = $3 AND replaced_by IS NOT NULL
        """, users, new.sender, new.replaces)
      for id in kept {
        try run(
          """
          UPDATE recipient SET kept = NULL
          WHERE notification = $1 AND kept IS NOT NULL AND user_id \(isIn("$2"))
          """, id, users)
      }
      all.formUnion(kept)
    }
    return all
  }

  /// As many users as a statement changes at once.
  private func parts(of users: [UserID]) -> [[UserID]] {
    stride(from: 0, to: users.count, by: 10_000).map { Array(users[$0...].prefix(10_000)) }
  }
}

extension Queryable {
  /// The recipients who have not been removed; with a time, those who have it, or none of their own.
  func recipients(of id: Int, due: Date? = nil) throws -> [UserID] {
    try column(
      """
      SELECT users.id FROM recipient JOIN users ON users.id = user_id
      WHERE notification = $1
        AND (CAST($2 AS bigint) IS NULL OR recipient.due IS NULL OR recipient.due = $2)
      ORDER BY 1
      """, id, due)
  }
}

extension StoredNotification {
  /// Whether an amendment changes nothing.
  fileprivate func isSame(as new: NotificationInsert) -> Bool {
    message == new.message && members == new.members && richType == new.richType
      && payload == new.payload
      && blob == new.blob && blobType == new.blobType && focus == new.focus && form == new.form
      && localTime == new.localTime && perMinute == new.perMinute && expires == new.expires
      // The first of local times changes with the recipients' devices.
      && ((awaitsApproval ? plannedTime : notBefore) == new.notBefore
        || localTime != nil && (held == nil || awaitsApproval))
  }

  /// The condition that the user of the row of `recipient` may know of it at the time in the parameter `time`, such as
  /// `$2`.
  static func isVisible(_ time: String) -> String {
    """
    (expires IS NULL OR expires > \(time)) AND (not_before IS NULL OR not_before <= \(time))
    AND (recipient.due IS NULL OR recipient.due <= \(time))
    """
  }

  /// The condition that the inbox of the user of the row of `recipient` has it at the time in the parameter `time`.
  static func isListed(_ time: String) -> String {
    isVisible(time) + " AND (replaced_by IS NULL OR kept IS NOT NULL) AND hidden IS NULL"
  }

  /// The columns of a new row, their types in PostgreSQL, and their values.
  static let written:
    [(name: String, type: String, value: @Sendable (StoredNotification) -> any Column)] = [
      ("id", "bigint", { $0.id }), ("message", "text", { $0.message }),
      ("rich_type", "text", { $0.richType }), ("payload", "text", { $0.payload }),
      ("sender", "bigint", { $0.sender }), ("details", "text", { $0.details }),
      ("blob", "text", { $0.blob?.digest }), ("blob_size", "bigint", { $0.blob?.size }),
      ("blob_type", "text", { $0.blobType }), ("created", "bigint", { $0.created }),
      ("not_before", "bigint", { $0.notBefore }), ("expires", "bigint", { $0.expires }),
      ("form", "text", { $0.form }), ("audience", "text", { $0.audience }),
      ("members", "text", { $0.members }), ("replaces", "text", { $0.replaces }),
      ("focus", "text", { $0.focus }),
      ("asset_alt", "bigint", { flag($0.hasAssetAlt) }),
      ("local_time", "text", { $0.localTime }),
      ("held", "bigint", { $0.held }), ("awaits", "bigint", { flag($0.awaitsApproval) }),
      ("people", "bigint", { $0.people }), ("per_minute", "bigint", { $0.perMinute }),
    ]

  /// A column's value: 1 or NULL.
  fileprivate static func flag(_ isSet: Bool) -> Int? { isSet ? 1 : nil }

  /// What a new row has.
  init(_ new: NotificationInsert, id: Int, created: Date) {
    (self.id, message, richType, payload) = (id, new.message, new.richType, new.payload)
    (sender, details, blob, blobType) = (new.sender, new.details, new.blob, new.blobType)
    (self.created, notBefore, held) = (created.stored, new.notBefore?.stored, new.held?.stored)
    (awaitsApproval, people) = (new.held != nil, new.people)
    (expires, form, audience) = (new.expires?.stored, new.form, StringList(new.to))
    (members, replaces, replacedBy) = (new.members, new.replaces, nil)
    (focus, hasAssetAlt) = (new.focus, new.hasAssetAlt)
    (localTime, perMinute) = (new.localTime, new.perMinute)
  }

  /// The columns that `init(_:)` reads, in its order.
  static let columns = """
    notification.id, message, rich_type, payload, sender, details, blob, blob_size, blob_type,
    notification.created, not_before, held, expires, form, audience, members,
    replaces, replaced_by, focus, asset_alt, local_time, awaits, people, per_minute
    """

  init(_ row: inout some Row) throws {
    (id, message, richType) = (try row.next(), try row.next(), try row.next())
    (payload, sender, details) = (try row.next(), try row.next(), try row.next())
    let (digest, size): (Digest?, Int?) = (try row.next(), try row.next())
    blob = digest.map { Blob(digest: $0, size: size ?? 0) }
    (blobType, created, notBefore) = (try row.next(), try row.next(), try row.next())
    (held, expires) = (try row.next(), try row.next())
    (form, audience, members) = (try row.next(), try row.next(), try row.next())
    (replaces, replacedBy, focus) = (try row.next(), try row.next(), try row.next())
    hasAssetAlt = try row.next(Int?.self) == 1
    localTime = try row.next()
    awaitsApproval = try row.next(Int?.self) == 1
    (people, perMinute) = (try row.next(), try row.next())
  }
}
