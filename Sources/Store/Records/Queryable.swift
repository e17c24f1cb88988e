import FoundationEssentials

/// Something that runs statements: a connection, or a transaction.
///
/// In SQL, `$1` is the first of the values. Columns are read in the order of the query, as the types that the
/// caller expects:
///
///     try connection.all("SELECT id, name FROM users WHERE role = $1", role, as: Person.init)
protocol Queryable {
  associatedtype ResultRow: Row

  /// The first `limit` rows.
  func rows<T>(
    _ sql: String, values: [any Parameter], limit: Int, read: (inout ResultRow) throws -> T
  ) throws -> [T]

  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, values: [any Parameter]) throws -> Int

  /// Runs `body` with plans that are made for the values of its statements, because the best plan depends on them.
  func planningForValues<R>(_ body: () throws -> R) throws -> R

  /// The devices that meet a clause, in the order of their registrations' IDs.
  func devices(matching clause: TagClause) throws -> AudienceDevices

  // MARK: Parts of statements that differ

  /// The condition that a value is in a list, which a parameter has: `id \(connection.isIn("$1"))`.
  func isIn(_ parameter: String) -> String

  /// The condition that the column `handle` has the value of a parameter.
  func isHandle(_ parameter: String) -> String

  /// The condition on rows of a table that they are among those that a query, from its FROM on, selects; `key` has
  /// their primary key.
  func isAmong(_ query: String, of table: String, key: [String]) -> String

  /// Selects false if the user is in a part of the notification's audience that is still to be written.
  func pendingRecipient(_ user: String, of notification: String) -> String

  /// How far a notification has come with a recipient, from 0 (queued) to 3 (read), as an index has it.
  var progress: String { get }

  /// Selects the number of the last event for publishers.
  var latestEvent: String { get }
  /// Selects the number of the last push event.
  var latestPushEvent: String { get }
}

/// A row of a query, read column by column from the left.
protocol Row: SendableMetatype {
  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>(_ type: T.Type) throws(StoreError) -> T
}

extension Row {
  /// The next column, as the type that the caller expects.
  mutating func next<T: Column>() throws(StoreError) -> T { try next(T.self) }

  /// The result of `make` for the next columns.
  mutating func decode<each C: Column, T>(_ make: (repeat each C) -> T) throws(StoreError) -> T {
    make(repeat try next((each C).self))
  }
}

extension Queryable {
  /// Runs a statement and returns how many rows it changed.
  @discardableResult
  func run(_ sql: String, _ values: any Parameter...) throws -> Int {
    try run(sql, values: values)
  }

  /// All rows, each as the result of `make` for its columns.
  func all<each C: Column, T>(
    _ sql: String, _ values: any Parameter..., as make: (repeat each C) -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.decode(make) }
  }

  /// All rows, each as the result of `read`.
  func all<T>(
    _ sql: String, _ values: any Parameter..., read: (inout ResultRow) throws -> T
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max, read: read)
  }

  /// The first column of all rows.
  func column<T: Column>(
    _ sql: String, _ values: any Parameter..., as type: T.Type = T.self
  ) throws -> [T] {
    try rows(sql, values: values, limit: .max) { try $0.next(T.self) }
  }

  /// The rows of two columns, as keys and values; the keys must be unique.
  func dictionary<Key: Column & Hashable, Value: Column>(
    _ sql: String, _ values: any Parameter...
  ) throws -> [Key: Value] {
    let pairs = try rows(sql, values: values, limit: .max) { row in
      (try row.next(Key.self), try row.next(Value.self))
    }
    return Dictionary(uniqueKeysWithValues: pairs)
  }

  /// The first row, as the result of `read`; nil if there is none.
  func first<T>(
    _ sql: String, _ values: any Parameter..., read: (inout ResultRow) throws -> T
  ) throws -> T? {
    try rows(sql, values: values, limit: 1, read: read).first
  }

  /// The first column of the first row; nil if there is no row.
  func value<T: Column>(
    _ sql: String, _ values: any Parameter..., as type: T.Type = T.self
  ) throws -> T? {
    try rows(sql, values: values, limit: 1) { try $0.next(T.self) }.first
  }
}

/// A transaction, which the changes share that wait at the same time.
protocol Changing: Queryable {
  /// Those of the changes so far.
  var effects: Effects { get }

  /// Runs a statement whose result is not needed, before the next one or with it.
  func send(_ sql: String, values: [any Parameter]) throws

  /// A clause that locks the rows of a query until the end of the transaction, such as `FOR UPDATE`; nothing where no
  /// other transaction changes rows.
  func lock(_ clause: String) -> String

  /// Whether this node does the clean-up until the end of the transaction; only one node at a time does.
  func takesUpkeep() throws -> Bool

  /// Adds an event for publishers.
  func add(_ event: NewEvent) throws

  /// Runs an UPDATE of the states of jobs, counts them in their new state, and adds their receipts.
  ///
  /// `old` is the state that all of them had, `new` the one that they get.
  @discardableResult
  func updateJobs(
    from old: JobState, to new: JobState, _ sql: String, _ values: any Parameter...
  ) throws -> [ChangedJob]

  /// Moves the queued jobs of a registration to another lane.
  func moveJobs(of registration: String, to lane: String) throws

  /// Leases due jobs of a lane that no earlier one blocks and that no other node is leasing now; fails those whose
  /// device is gone.
  func leaseDue(
    _ lane: SendingLane, limit: Int, owner: String, at now: Date, until: Date
  ) throws -> [LeasedJob]

  /// Leases these jobs; fails those whose device is gone.
  func lease(_ jobs: [Int], owner: String, at now: Date, until: Date) throws -> [LeasedJob]

  /// Records that jobs leased to `owner` were accepted, also if they were cancelled meanwhile.
  func settle(_ jobs: [DeliveredJob], sentAs kind: String, owner: String, at now: Date) throws

  /// Due jobs of devices that are not refused, those first that were heard of last.
  func jobsOfLatestContact(_ lane: String, limit: Int, at now: Date) throws -> [Int]

  /// Writes the times of the first receipts in a state, of users and of those devices that are registrations of
  /// theirs, with their events and counts.
  func record(_ state: RecordedState, _ receivers: [PendingFetches.Fetch]) throws

  /// Inserts the recipients, push events and jobs of a notification, due at once or at its `notBefore`; those of a
  /// large audience are stored in parts.
  func announce(
    _ new: NotificationInsert, to recipients: [UserID], as notification: StoredNotification,
    at now: Date
  ) throws

  /// Adds a push event without a notification.
  func addPushEvent(_ data: String, to users: [UserID], at now: Date) throws

  /// Inserts a push without a notification, and its jobs.
  func insert(_ push: PushInsert, at now: Date) throws

  /// Inserts the push event of a notification for each of its recipients.
  func insertPushEvents(of notification: Int, data: String, at now: Date) throws
}

extension Changing {
  /// Runs a statement whose result is not needed, before the next one or with it.
  func send(_ sql: String, _ values: any Parameter...) throws { try send(sql, values: values) }
}

/// A job whose state has changed.
struct ChangedJob {
  let id: Int
  let lane: String
}

/// An event for publishers that is added.
struct NewEvent {
  let type: String
  var publisher: UserID?
  var user: UserID?
  var notification: Int?
  let data: String
  let time: Date
}

/// What a recipient's row has the time of.
enum RecordedState: String {
  case sent, fetched, read
}
