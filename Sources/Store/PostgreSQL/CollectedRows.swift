import FoundationEssentials

/// Rows that changes insert when they create notifications.
///
/// Those of all changes in a transaction take three statements together, and one wait.
struct CollectedRows {
  /// Users who become recipients of a notification.
  struct Recipients {
    let notification: Int
    let sender: UserID?
    let users: [UserID]
    /// When they learn of it, if that is a time of their own.
    let due: Date?
    /// The data of their push event, if it is due.
    let event: String?
    let time: Date
  }

  /// A push with its jobs.
  struct Push {
    let insert: PushInsert
    let notification: Int?
    let sender: UserID?
    let expires: Date?
    let due: Date
    let time: Date
  }

  var notifications: [StoredNotification] = []
  var recipients: [Recipients] = []
  var pushes: [Push] = []

  var isEmpty: Bool { notifications.isEmpty && recipients.isEmpty && pushes.isEmpty }
}

extension PostgresTransaction {
  /// Sends the rows that were collected.
  func sendRows() throws(StoreError) {
    if rows.isEmpty { return }
    let new = rows
    rows = CollectedRows()
    if !new.notifications.isEmpty { try insert(new.notifications) }
    if !new.recipients.isEmpty { try insert(new.recipients) }
    if !new.pushes.isEmpty { try insert(new.pushes) }
  }

  private func insert(_ new: [StoredNotification]) throws(StoreError) {
    try send(
      Self.notificationInsertion,
      StoredNotification.written.map { column in ColumnValues(new.map(column.value)) })
  }

  private static let notificationInsertion: String = {
    let columns = StoredNotification.written
    let names = columns.map(\.name).joined(separator: ", ")
    let values = columns.enumerated().map { "$\($0 + 1)::\($1.type)[]" }.joined(separator: ", ")
    return "INSERT INTO notification(\(names)) SELECT * FROM unnest(\(values))"
  }()

  /// Inserts recipients, except users who have been removed, and collects their push events.
  private func insert(_ new: [CollectedRows.Recipients]) throws(StoreError) {
    try send(
      """
      WITH given AS (
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[])
          WITH ORDINALITY AS one(id, notification, due, number)
      ), added AS (
        INSERT INTO recipient(user_id, notification, due)
        SELECT given.id, given.notification, given.due FROM given JOIN users ON users.id = given.id
        ORDER BY 1, 2 ON CONFLICT DO NOTHING
      )
      SELECT number FROM given WHERE NOT EXISTS (SELECT 1 FROM users WHERE users.id = given.id)
      """,
      [
        new.flatMap(\.users), new.flatMap { one in one.users.map { _ in one.notification } },
        new.flatMap { one in one.users.map { _ in one.due } },
      ]
    ) { [self] result in
      let removed = Set(try result.map { row in try row.next(Int.self) })
      var number = 0
      for one in new {
        var users: [UserID] = []
        for user in one.users {
          number += 1
          if !removed.contains(number) { users.append(user) }
        }
        collectPushEvents(of: one, for: users)
      }
    }
  }

  private func collectPushEvents(of new: CollectedRows.Recipients, for users: [UserID]) {
    guard let event = new.event else { return }
    collected.pushEvents.append(
      CollectedChanges.PushEvent(
        users: users, notification: new.notification, data: event, time: new.time))
    for user in users {
      insertReceipt(
        "queued", of: new.notification, sender: new.sender, user: user, lane: "embedded",
        at: new.time)
    }
  }

  /// Inserts pushes with the jobs for devices that are still registered, and collects the jobs' receipts.
  private func insert(_ new: [CollectedRows.Push]) throws(StoreError) {
    // The targets of all pushes: the number of the push, and a device or an audience.
    var (numbers, devices): ([Int], [String?]) = ([], [])
    var (audiences, users): ([String?], [UserID?]) = ([], [])
    for (index, push) in new.enumerated() {
      switch push.insert.target {
      case .devices(let registrations):
        devices += registrations.map(Optional.some)
        audiences += repeatElement(nil, count: registrations.count)
        users += repeatElement(nil, count: registrations.count)
      case .audience(let expression, let user):
        devices.append(nil)
        audiences.append(expression)
        users.append(user)
      }
      numbers += repeatElement(index + 1, count: devices.count - numbers.count)
    }
    try send(
      """
      WITH new AS MATERIALIZED (
        SELECT nextval('push_id_seq') AS id, given.*
        FROM unnest($1::bigint[], $2::text[], $3::text[], $4::text[], $5::text[], $6::text[],
          $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $15::bigint[]) WITH ORDINALITY
          AS given(
            notification, lane, kind, message, media, collapse, expires, due, updated, urgent,
            scheduled, number)
      ), added AS (
        INSERT INTO push(
          id, notification, lane, kind, message, media, collapse, expires, urgent, scheduled)
        SELECT id, notification, lane, kind, message, media, collapse, expires, urgent, scheduled
        FROM new
      ), added_job AS (
        INSERT INTO job(
          push, lane, token, user_id, registration, audience, collapse, state, due, updated)
        SELECT new.id, new.lane, gen_random_uuid(), coalesce(registration.user_id, target.user_id),
          registration.id, target.audience, new.collapse, 'queued', new.due, new.updated
        FROM unnest($11::bigint[], $12::text[], $13::text[], $14::bigint[]) WITH ORDINALITY
            AS target(push, device, audience, user_id, number)
          JOIN new ON new.number = target.push
          LEFT JOIN registration
            ON registration.id = target.device AND registration.ended IS NULL
        WHERE registration.id IS NOT NULL OR target.audience IS NOT NULL
        ORDER BY target.number
        RETURNING job.id, push, user_id, registration
      )
      SELECT added_job.id, new.number, user_id, registration
      FROM added_job JOIN new ON new.id = added_job.push ORDER BY added_job.id
      """,
      [
        new.map(\.notification), new.map(\.insert.lane), new.map(\.insert.kind),
        new.map(\.insert.message), new.map(\.insert.media),
        new.map { $0.insert.collapseID(of: $0.notification) }, new.map(\.expires),
        new.map(\.due), new.map(\.time), new.map(\.insert.urgent), numbers, devices, audiences,
        users, new.map(\.insert.scheduled),
      ]
    ) { [self] result in
      _ = try result.map { row in
        let (job, number): (Int, Int) = (try row.next(), try row.next())
        let push = new[number - 1]
        guard let notification = push.notification else { return }
        count(notification, from: nil, to: .queued, at: push.time)
        let (user, device): (UserID?, String?) = (try row.next(), try row.next())
        collected.events.append(
          .job(
            job, of: notification, sender: push.sender, user: user, device: device,
            lane: push.insert.lane, state: .queued, reason: nil, at: push.time))
      }
    }
  }
}
