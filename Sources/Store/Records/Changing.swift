import FoundationEssentials

/// A transaction, which the changes share that wait at the same time.
protocol Changing: Queryable {
  /// Those of the changes so far.
  var effects: Effects { get }

  /// What the team has decided about pushes.
  var rules: SendingRules { get }

  /// Runs a statement whose result is not needed, before the next one or with it.
  func send(_ sql: String, values: [any Parameter]) throws

  /// A clause that locks the rows of a query until the end of the transaction, such as `FOR UPDATE`; nothing where no
  /// other transaction changes rows.
  func lock(_ clause: String) -> String

  /// Throws `full` if the disk of a database in the data folder has no space; called first by each change that takes
  /// space and can wait, since nobody has been told that it was made, or since it is made later.
  ///
  /// All others are committed as long as the space lasts that was kept for them (``DiskReserve``).
  func requireSpace() throws

  /// Waits until no other transaction that changes what has this name is under way, and keeps others waiting until its
  /// own end.
  func waitForOthers(_ name: String) throws

  /// Whether this node does the clean-up until the end of the transaction; only one node at a time does.
  func takesUpkeep() throws -> Bool

  /// Adds an event for publishers.
  func add(_ event: NewEvent) throws

  /// Adds an entry to the audit log; ``audit(_:_:detail:count:by:otherwise:at:)`` makes it.
  func add(_ event: AuditEvent) throws

  /// Adds one to a count of a notification.
  func count(_ column: CountColumn, of notification: Int, at time: Date) throws

  /// Runs an UPDATE of the states of jobs, counts them in their new state, and adds their receipts.
  ///
  /// `old` is the state that all of them had, `new` the one that they get.
  @discardableResult
  func updateJobs(
    from old: JobState, to new: JobState, _ sql: String, _ values: any Parameter...
  ) throws -> [ChangedJob]

  /// Moves the queued jobs of a registration to another lane.
  func moveJobs(of registration: String, to lane: String) throws

  /// Records the outcomes of jobs leased to `owner`, in the order of the answers, and leases due jobs.
  func settleAndLease(
    _ outcomes: [(job: Int, outcome: JobOutcome)], of lane: SendingLane, limit: Int, owner: String,
    at now: Date, until: Date
  ) throws -> Lease

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
  func record(_ state: RecordedState, _ receipts: [NewReceipt]) throws

  /// Inserts the recipients, push events and jobs of a notification, due at once or at its `notBefore`; those of a
  /// large audience are stored in parts.
  func announce(
    _ new: NotificationInsert, to recipients: [UserID], as notification: StoredNotification,
    at now: Date
  ) throws

  /// Stores with the parts of audiences that what is queued of these pushes of a notification is cancelled
  /// (``cancelRest(ofPush:of:at:)``).
  func cancelLater(_ pushes: [Int], of notification: Int) throws

  /// Adds a push event without a notification.
  func addPushEvent(_ data: String, to users: [UserID], at now: Date) throws

  /// Inserts a push without a notification, and its jobs.
  func insert(_ push: PushInsert, at now: Date) throws

  /// Inserts the push event of a notification for each of its recipients who learn of it at a time, or who have none of
  /// their own.
  func insertPushEvents(of notification: Int, due: Date, data: String, at now: Date) throws
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
  /// The row of `interaction` with which it goes.
  var interaction: Int?
}

/// What a recipient's row has the time of.
enum RecordedState: String {
  case sent, displayed, fetched, opened, dismissed, read

  /// What counts the users.
  var count: CountColumn {
    switch self {
    case .sent: .reached
    case .displayed: .displayed
    case .fetched: .fetched
    case .opened: .opened
    case .dismissed: .dismissed
    case .read: .read
    }
  }
}

/// A column of `notification_count` that changes.
enum CountColumn: Int, CaseIterable {
  case reached, fetched, read, queued, sent, failed, displayed, opened, dismissed, actions, replies

  /// The column of the time of the first; nil if there is none.
  var first: CountColumn? {
    switch self {
    case .reached, .sent: .sent
    case .fetched, .read, .displayed, .opened: self
    case .queued, .failed, .dismissed, .actions, .replies: nil
    }
  }
}
