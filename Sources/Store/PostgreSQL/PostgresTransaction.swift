import FoundationEssentials

/// A transaction, which several changes share.
///
/// It sends few messages to the server. Statements without a result that is needed at once are sent with the
/// next one (``send``), the first with BEGIN, and the last with COMMIT. New rows are collected and inserted
/// together before the next statement, which could read them. Counts of notifications, events and messages to
/// other nodes are collected and written at the end. So all transactions take the locks for them in the same
/// order, and hold them only until the commit that follows.
final class PostgresTransaction: PostgresQueryable, Changing {
  let connection: PostgresConnection
  var collected = CollectedChanges()
  let effects = Effects()
  /// What the team has decided about pushes.
  let rules: SendingRules
  /// Rows that are inserted before the next statement.
  var rows = CollectedRows()
  /// Whether COMMIT was sent.
  private(set) var hasSentCommit = false
  /// Counts what may have changed something.
  var writes = 0
  private var hasBegun = false
  /// What `connection` had sent before.
  private let messagesBefore: Int
  /// Taken from the sequence, in rising order, and not used yet.
  private var notificationIDs: [Int] = []
  /// How many IDs the changes need that have not begun.
  private var neededIDs: Int

  /// `newNotifications` is about how many of them its changes insert.
  init(_ connection: PostgresConnection, rules: SendingRules, newNotifications: Int = 0) {
    (self.connection, self.rules, neededIDs) = (connection, rules, newNotifications)
    messagesBefore = connection.messages
  }

  func execute(_ sql: String, _ values: [any Parameter]) throws(StoreError)
    -> PostgresResult
  {
    try sendRows()
    return try executeBeforeRows(sql, values)
  }

  /// Runs a statement that does not depend on rows that were collected.
  func executeBeforeRows(
    _ sql: String, _ values: [any Parameter]
  ) throws(StoreError) -> PostgresResult {
    try begin()
    if !sql.hasPrefix("SELECT") { writes += 1 }
    return try connection.execute(sql, values)
  }

  /// Runs a statement that changes something, with the next one that is waited for; only then `receive` gets its
  /// result, and an error is thrown.
  func send(
    _ sql: String, _ values: any Parameter...,
    receive: PostgresConnection.ResultHandler? = nil
  ) throws(StoreError) {
    try sendRows()
    try send(sql, values, receive: receive)
  }

  /// The same without the rows that were collected before.
  func send(
    _ sql: String, _ values: [any Parameter],
    receive: PostgresConnection.ResultHandler? = nil
  ) throws(StoreError) {
    try begin()
    writes += 1
    try connection.send(sql, values, receive: receive)
  }

  func send(_ sql: String, values: [any Parameter]) throws {
    try sendRows()
    try send(sql, values)
  }

  func planningForValues<R>(_ body: () throws -> R) throws -> R {
    try send("SET LOCAL plan_cache_mode = force_custom_plan", values: [])
    return try body()
  }

  func lock(_ clause: String) -> String { clause }

  func waitForOthers(_ name: String) throws {
    try send(
      "SELECT pg_advisory_xact_lock(hashtextextended(current_schema() || $1, 0))", [name])
  }

  // The disk is the PostgreSQL server's.
  func requireSpace() {}

  func takesUpkeep() throws -> Bool {
    try value(
      """
      SELECT pg_try_advisory_xact_lock(hashtextextended('richpush upkeep ' || current_schema(), 0))
      """) == true
  }

  func add(_ event: NewEvent) { collected.events.append(event) }

  func add(_ event: AuditEvent) { collected.audit.append(event) }

  func count(_ column: CountColumn, of notification: Int, at time: Date) {
    collected.counts.append(
      .init(notification: notification, column: column, difference: 1, time: time))
  }

  /// Whether more will be collected when the results of what was sent come.
  var awaitsResults: Bool { connection.awaitsResults || !rows.isEmpty }

  private func begin() throws(StoreError) {
    if hasBegun { return }
    hasBegun = true
    try connection.send("BEGIN", [])
  }

  /// The next ID, from a sequence, so that nodes do not wait for each other; a transaction that fails leaves a gap.
  func newNotificationID() throws -> Int {
    if notificationIDs.isEmpty {
      notificationIDs = try executeBeforeRows(
        "SELECT nextval('notification_id') FROM generate_series(1, $1)", [max(1, neededIDs)]
      ).map { row in try row.next(Int.self) }
      notificationIDs.reverse()
    }
    neededIDs -= 1
    guard let id = notificationIDs.popLast() else {
      throw StoreError(.failed, "no ids are left for notifications")
    }
    return id
  }
}

// MARK: - Its end

extension PostgresTransaction {
  /// Writes what was collected, and commits; `origin` names this process in messages to the others.
  func commit(from origin: String) throws {
    try finish(from: origin)
    if !hasBegun { return }
    // Whether a COMMIT to a connection that was lost meanwhile was received can't be known.
    if connection.messages == messagesBefore { try connection.synchronize() }
    hasSentCommit = true
    guard try connection.execute("COMMIT", []).command == "COMMIT" else {
      throw StoreError(.failed, "the transaction was rolled back")
    }
  }

  /// Sends what was collected.
  func finish(from origin: String) throws {
    try sendRows()
    if awaitsResults { try connection.synchronize() }
    try sendCollected(from: origin)
  }

  /// Undoes everything.
  func rollBack() {
    if connection.isBroken { return }
    try? connection.synchronize()
    if hasBegun { try? connection.script("ROLLBACK") }
  }
}

// MARK: - Savepoints

extension PostgresTransaction {
  /// Begins what can be undone alone.
  func setSavepoint() throws { try send("SAVEPOINT change") }

  /// Runs all that was sent since the savepoint; throws if anything fails.
  func releaseSavepoint() throws { try run("RELEASE change") }

  /// Undoes all that was sent, and the rows that were collected, since the savepoint.
  func undoSavepoint() throws {
    rows = CollectedRows()
    // A statement that failed is why; the rest was not run.
    try? connection.synchronize()
    try connection.script("ROLLBACK TO change; RELEASE change")
  }
}
