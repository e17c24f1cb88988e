import FoundationEssentials

/// What a transaction writes at its end.
struct CollectedChanges {
  /// A change of a count of a notification.
  struct Count {
    let notification: Int
    let column: CountColumn
    let difference: Int
    /// When what is counted happened.
    let time: Date
  }

  /// The same push event for some users.
  struct PushEvent {
    let users: [UserID]
    let notification: Int?
    let data: String
    let time: Date
  }

  /// How much was collected at a moment.
  struct Mark {
    fileprivate let created, counts, pushEvents, events: Int
  }

  /// New notifications and how many recipients they have.
  var created: [(notification: Int, recipients: Int)] = []
  var counts: [Count] = []
  var pushEvents: [PushEvent] = []
  var events: [NewEvent] = []

  var mark: Mark {
    Mark(
      created: created.count, counts: counts.count, pushEvents: pushEvents.count,
      events: events.count)
  }

  /// Forgets what was collected since.
  mutating func truncate(to mark: Mark) {
    created.removeSubrange(mark.created...)
    counts.removeSubrange(mark.counts...)
    pushEvents.removeSubrange(mark.pushEvents...)
    events.removeSubrange(mark.events...)
  }
}

/// A column of `notification_count` that changes.
enum CountColumn: Int, CaseIterable {
  case reached, fetched, read, queued, sent, failed
}

extension PostgresTransaction {
  /// Sends everything that was collected; `origin` names this process in messages to the others.
  func sendCollected(from origin: String) throws {
    try insertAndAddCounts()
    try insertPushEvents()
    try insertEvents()
    let payloads = NodeMessage.payloads(of: effects.all, from: origin)
    if !payloads.isEmpty {
      try send(
        "SELECT pg_notify($1 || current_schema(), payload) FROM unnest($2::text[]) AS payload",
        NodeMessage.channel, payloads)
    }
  }

  private func insertAndAddCounts() throws {
    var totals: [Int: [Int]] = [:]
    for count in collected.counts {
      totals[count.notification, default: CountColumn.allCases.map { _ in 0 }][
        count.column.rawValue] += count.difference
    }
    let first = firstTimes()
    // The columns of notifications, in the order of CountColumn, and then those of their first times.
    func columns(of ids: [Int]) -> [any Parameter] {
      CountColumn.allCases.map { column in ids.map { totals[$0]?[column.rawValue] ?? 0 } }
        + [CountColumn.sent, .fetched, .read].map { column in ids.map { first[column]?[$0] } }
    }
    let new = collected.created
    if !new.isEmpty {
      let ids = new.map(\.notification)
      try send(
        """
        INSERT INTO notification_count(notification, recipients, reached, fetched, read, queued, sent,
          failed, first_sent, first_fetched, first_read)
        SELECT * FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[],
          $6::bigint[], $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[], $11::bigint[])
        """, [ids, new.map(\.recipients)] + columns(of: ids))
    }
    for (id, _) in new { totals[id] = nil }
    let ids = totals.filter { $0.value.contains { $0 != 0 } }.keys.sorted()
    if ids.isEmpty { return }
    // In the same order in all transactions, which would wait for each other otherwise.
    if ids.count > 1 {
      try send(
        """
        SELECT 1 FROM notification_count WHERE notification = ANY($1) ORDER BY notification FOR UPDATE
        """, ids)
    }
    try send(
      """
      UPDATE notification_count AS total SET reached = total.reached + change.reached,
        fetched = total.fetched + change.fetched, read = total.read + change.read,
        queued = total.queued + change.queued, sent = total.sent + change.sent,
        failed = total.failed + change.failed,
        first_sent = coalesce(total.first_sent, change.sent_time),
        first_fetched = coalesce(total.first_fetched, change.fetched_time),
        first_read = coalesce(total.first_read, change.read_time)
      FROM unnest($1::bigint[], $2::bigint[], $3::bigint[], $4::bigint[], $5::bigint[], $6::bigint[],
        $7::bigint[], $8::bigint[], $9::bigint[], $10::bigint[])
        AS change(id, reached, fetched, read, queued, sent, failed, sent_time, fetched_time, read_time)
      WHERE total.notification = change.id
      """, [ids] + columns(of: ids))
  }

  /// When notifications were first sent, fetched and read in this transaction.
  private func firstTimes() -> [CountColumn: [Int: Date]] {
    var first: [CountColumn: [Int: Date]] = [:]
    for count in collected.counts where count.difference > 0 {
      let column = count.column == .reached ? .sent : count.column
      let known = first[column]?[count.notification] ?? count.time
      first[column, default: [:]][count.notification] = min(known, count.time)
    }
    return first
  }

  // The numbers of events come from the row of `event_counter`, which stays locked until the commit. So they
  // rise in the order of the commits, and a reader that has seen a number has seen all below. A sequence
  // does not do that: a transaction may commit after one that took a later number.

  private func insertPushEvents() throws {
    let events = collected.pushEvents.filter { !$0.users.isEmpty }
    if events.isEmpty { return }
    let users = events.flatMap(\.users)
    try send(
      """
      WITH counter AS (
        UPDATE event_counter SET push_event = push_event + cardinality($1::bigint[])
        RETURNING push_event - cardinality($1::bigint[]) AS last
      )
      INSERT INTO push_event(sequence, user_id, notification, data, created)
      SELECT counter.last + recipient.number, recipient.id, event.notification, event.data, event.created
      FROM counter, unnest($1::bigint[], $2::bigint[])
          WITH ORDINALITY AS recipient(id, event, number)
        JOIN unnest($3::bigint[], $4::text[], $5::bigint[])
          WITH ORDINALITY AS event(notification, data, created, number)
          ON event.number = recipient.event
      ORDER BY recipient.number
      """, users,
      events.enumerated().flatMap { index, event in event.users.map { _ in index + 1 } },
      events.map(\.notification), events.map(\.data), events.map(\.time))
    effects.add(.pushEvents(users))
  }

  private func insertEvents() throws {
    let events = collected.events
    if events.isEmpty { return }
    try send(
      """
      WITH counter AS (
        UPDATE event_counter SET event = event + cardinality($1::text[])
        RETURNING event - cardinality($1::text[]) AS last
      )
      INSERT INTO event(sequence, type, publisher, user_id, notification, data, created)
      SELECT counter.last + new.number, new.type, publisher, user_id, notification, data, created
      FROM counter, unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[])
        WITH ORDINALITY AS new(type, publisher, user_id, notification, data, created, number)
      ORDER BY new.number
      """, events.map(\.type), events.map(\.publisher), events.map(\.user),
      events.map(\.notification), events.map(\.data), events.map(\.time))
    effects.add(.events)
  }
}
