import CLinux
import Dispatch
import Glibc
import Primitives
import Synchronization

/// Tells the observers of this node what the others have committed (`LISTEN`), and competes for the lead.
///
/// While the connection is away messages are lost; so everything is assumed to have changed when it is back.
final class PostgresListener: Sendable {
  private let url: String
  private let origin: MessageOrigin
  private let observers: CommitObservers
  private let contact: PostgresContact
  /// Ends the waits of the thread.
  private let stopping: FileDescriptor?
  private let isStopped = Atomic(false)
  /// The lanes whose jobs are reported later; nil if nothing is to be reported.
  private let later = Mutex<Set<String>?>(nil)
  /// Those of some lanes that have jobs.
  private let waiting: @Sendable (Set<String>) async throws -> Set<String>
  private let laterQueue = DispatchQueue(label: "store.later")

  /// Without a message, how often the connection is tried.
  private static let heartbeat = Duration.seconds(1)
  /// The time between two attempts to connect, in milliseconds.
  private static let pause: Int32 = 500
  /// How long work is left to the node that has committed it.
  private static let delay = DispatchTimeInterval.milliseconds(250)
  /// The most lanes that are announced at once; the jobs of others are sent by the node that has committed them.
  private static let laneLimit = 1000
  /// An attempt that has failed sooner was refused by somebody.
  private static let refusal = Duration.seconds(2)

  /// Listens, on a thread of its own, for what processes other than `origin` commit.
  ///
  /// `waiting` finds those of some lanes that have jobs: any role that may connect to the database can send a
  /// message with names of its own.
  init(
    url: String, origin: MessageOrigin, observers: CommitObservers, contact: PostgresContact,
    waiting: @escaping @Sendable (Set<String>) async throws -> Set<String>
  ) {
    (self.url, self.origin, self.waiting) = (url, origin, waiting)
    (self.observers, self.contact) = (observers, contact)
    stopping = FileDescriptor(owning: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    DispatchQueue(label: "store.listener").async { self.run() }
  }

  /// Ends the thread soon.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    if let stopping { eventfd_write(stopping.number, 1) }
  }

  private func run() {
    var isFirst = true
    while !isStopped.load(ordering: .relaxed) {
      // A connection that was closed is replaced at once, one that cannot be made is tried again later.
      do { try listen(isFirst: isFirst) } catch { wait() }
      isFirst = false
    }
  }

  /// Listens until the connection is lost; throws if it cannot be made, or is lost at once.
  private func listen(isFirst: Bool) throws {
    let connection = try connect()
    let start = ContinuousClock.now
    if !isFirst { observers.onEverything(()) }
    contact.recordHearing()
    // The connection holds the leads: they end with it.
    defer { for lead in [observers.lead, observers.folderLead] { lead.set(false) } }
    do {
      while !isStopped.load(ordering: .relaxed) {
        // Also where messages come all the time.
        try compete(on: connection)
        let end = ContinuousClock.now + Self.heartbeat
        while case let left = end - .now, left > .zero, !isStopped.load(ordering: .relaxed) {
          contact.recordHearing()
          let payloads = try connection.notifications(
            within: left, interrupt: stopping?.number ?? -1)
          for payload in payloads { tell(payload) }
        }
      }
    } catch  where ContinuousClock.now - start > Self.heartbeat {}
  }

  private func connect() throws -> PostgresConnection {
    let start = ContinuousClock.now
    defer { if .now - start < Self.refusal { contact.recordLife() } }
    let connection = try PostgresConnection(url, for: .listening)
    let channel = try connection.value(
      "SELECT quote_ident($1 || current_schema())", NodeMessage.channel, as: String.self)
    try connection.script("LISTEN \(channel ?? NodeMessage.channel)")
    return connection
  }

  private func wait() {
    var descriptor = pollfd(fd: stopping?.number ?? -1, events: Int16(POLLIN), revents: 0)
    poll(&descriptor, 1, Self.pause)
  }

  /// Takes each lead that no other node has; shows in any case whether the server responds.
  ///
  /// Throws if a node of a later version has changed the tables: this one does nothing then.
  private func compete(on connection: PostgresConnection) throws {
    let isOutdated = try PostgresSchema.isLater(connection)
    contact.record(isOutdated: isOutdated)
    if isOutdated { throw PostgresSchema.outdated }
    for lead in [observers.lead, observers.folderLead] {
      guard let name = lead.name else { continue }
      if !lead.isHeld {
        let isTaken = try connection.value(
          "SELECT pg_try_advisory_lock(\(Self.lockKey))", name, as: Bool.self)
        lead.set(isTaken == true)
      }
      lead.record(isAnyNodes: try lead.isHeld || isHeldByNode(name, on: connection), at: .now)
    }
  }

  private static let lockKey =
    "hashtextextended('richpush ' || $1 || ' ' || current_schema(), 0)"

  /// Whether a session has the lead that may change the jobs: other roles can take its lock as well.
  private func isHeldByNode(
    _ name: String, on connection: PostgresConnection
  ) throws -> Bool {
    try connection.value(
      """
      SELECT EXISTS (SELECT 1 FROM pg_locks JOIN pg_stat_activity USING (pid)
        WHERE locktype = 'advisory' AND granted AND objsubid = 1
          AND database = (SELECT oid FROM pg_database WHERE datname = current_database())
          AND (classid::bigint << 32) | objid::bigint = \(Self.lockKey)
          AND has_table_privilege(usesysid, 'job', 'UPDATE'))
      """, name, as: Bool.self) == true
  }

  private func tell(_ payload: String) {
    let (sender, effects) = NodeMessage.parse(payload)
    guard sender != origin.name else { return }
    var (atOnce, lanes): ([Effect], Set<String>) = ([], [])
    for effect in effects {
      if case .jobs(let lane) = effect { lanes.insert(lane) } else { atOnce.append(effect) }
    }
    observers.perform(atOnce)
    observers.onOthersCommit(())
    tellLater(lanes)
  }

  /// Tells of commits and jobs, once for all of a moment: each costs several queries, and the other node is
  /// already doing the same.
  private func tellLater(_ lanes: Set<String>) {
    let isFirst = later.withLock { later in
      defer { later = Set((later ?? []).union(lanes).prefix(Self.laneLimit)) }
      return later == nil
    }
    guard isFirst else { return }
    laterQueue.asyncAfter(deadline: .now() + Self.delay) { [weak self] in
      guard let self else { return }
      let lanes = later.withLock { later in
        defer { later = nil }
        return later ?? []
      }
      if !lanes.isEmpty { tell(ofJobsFor: lanes) }
      observers.onCommit(())
    }
  }

  private func tell(ofJobsFor lanes: Set<String>) {
    Task { [waiting, observers] in
      // While the database is away, there is nothing to send.
      guard let found = try? await waiting(lanes), !found.isEmpty else { return }
      observers.onJobs(found)
    }
  }
}
