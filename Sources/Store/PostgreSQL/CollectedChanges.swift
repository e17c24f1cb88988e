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
    fileprivate let created, counts, pushEvents, events, audit: Int
  }

  /// New notifications and how many recipients they have.
  var created: [(notification: Int, recipients: Int)] = []
  var counts: [Count] = []
  var pushEvents: [PushEvent] = []
  var events: [NewEvent] = []
  var audit: [AuditEvent] = []

  var mark: Mark {
    Mark(
      created: created.count, counts: counts.count, pushEvents: pushEvents.count,
      events: events.count, audit: audit.count)
  }

  /// Forgets what was collected since.
  mutating func truncate(to mark: Mark) {
    created.removeSubrange(mark.created...)
    counts.removeSubrange(mark.counts...)
    pushEvents.removeSubrange(mark.pushEvents...)
    events.removeSubrange(mark.events...)
    audit.removeSubrange(mark.audit...)
  }
}

extension CountColumn {
  /// Its name, and a first time's in the same statement.
  fileprivate var name: String { "\(self)" }
  /// Those that have the time of their first.
  fileprivate static let timed = allCases.filter { $0.first == $0 }
}

extension PostgresTransaction {
  /// Sends everything that was collected; `origin` names this process in messages to the others.
  func sendCollected(from origin: String) throws {
    try insertAndAddCounts()
    try insertPushEvents()
    try insertEvents()
    try insertAuditEntries()
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
        + CountColumn.timed.map { column in ids.map { first[column]?[$0] } }
    }
    let new = collected.created
    if !new.isEmpty {
      let ids = new.map(\.notification)
      try send(Self.countInsertion, [ids, new.map(\.recipients)] + columns(of: ids))
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
    try send(Self.countAddition, [ids] + columns(of: ids))
  }

  private static let countNames =
    CountColumn.allCases.map(\.name) + CountColumn.timed.map { "first_\($0.name)" }

  private static let countInsertion = """
    INSERT INTO notification_count(notification, recipients, \(countNames.joined(separator: ", ")))
    SELECT * FROM unnest(\(parameters(2 + countNames.count)))
    """

  private static let countAddition: String = {
    let counts = CountColumn.allCases.map { "\($0.name) = total.\($0.name) + change.\($0.name)" }
    let times = CountColumn.timed.map(\.name).map {
      "first_\($0) = coalesce(total.first_\($0), change.first_\($0))"
    }
    return """
      UPDATE notification_count AS total SET \((counts + times).joined(separator: ", "))
      FROM unnest(\(parameters(1 + countNames.count)))
        AS change(id, \(countNames.joined(separator: ", ")))
      WHERE total.notification = change.id
      """
  }()

  /// So many arrays of numbers.
  private static func parameters(_ count: Int) -> String {
    (1...count).map { "$\($0)::bigint[]" }.joined(separator: ", ")
  }

  /// When what has the time of its first happened first in this transaction.
  private func firstTimes() -> [CountColumn: [Int: Date]] {
    var first: [CountColumn: [Int: Date]] = [:]
    for count in collected.counts where count.difference > 0 {
      guard let column = count.column.first else { continue }
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
      INSERT INTO event(sequence, type, publisher, user_id, notification, data, created, interaction)
      SELECT counter.last + new.number, new.type, publisher, user_id, notification, data, created, interaction
      FROM counter, unnest($1::text[], $2::bigint[], $3::bigint[], $4::bigint[], $5::text[], $6::bigint[],
          $7::bigint[])
        WITH ORDINALITY AS new(type, publisher, user_id, notification, data, created, interaction, number)
      ORDER BY new.number
      """, events.map(\.type), events.map(\.publisher), events.map(\.user),
      events.map(\.notification), events.map(\.data), events.map(\.time),
      events.map(\.interaction))
    effects.add(.events)
  }

  private func insertAuditEntries() throws {
    let rows = collected.audit.map(\.values)
    guard let first = rows.first else { return }
    try send(
      Self.auditInsertion, first.indices.map { column in ColumnValues(rows.map { $0[column] }) })
  }

  private static let auditInsertion: String = {
    let columns = AuditEvent.columns.split(separator: ", ")
    let numbers: Set<Substring> = ["time", "actor", "share", "owner", "count"]
    let values = columns.enumerated().map { index, name in
      "$\(index + 1)::\(numbers.contains(name) ? "bigint" : "text")[]"
    }
    return """
      INSERT INTO audit(\(AuditEvent.columns)) SELECT \(AuditEvent.columns)
      FROM unnest(\(values.joined(separator: ", "))) WITH ORDINALITY
        AS new(\(AuditEvent.columns), position)
      ORDER BY position
      """
  }()
}
