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
  private let origin: String
  private let observers: CommitObservers
  /// Ends the waits of the thread.
  private let stopping: FileDescriptor?
  private let isStopped = Atomic(false)

  /// Without a message, how often the connection is tried.
  private static let heartbeat = Duration.seconds(1)
  /// How long a node relies on what it has read before the connection was lost.
  private static let trust = Duration.seconds(60)

  /// Listens, on a thread of its own, for what processes other than `origin` commit.
  init(url: String, origin: String, observers: CommitObservers) {
    (self.url, self.origin, self.observers) = (url, origin, observers)
    stopping = FileDescriptor(owning: eventfd(0, Int32(EFD_CLOEXEC | EFD_NONBLOCK)))
    DispatchQueue(label: "store.listener").async { self.run() }
  }

  /// Ends the thread soon.
  func stop() {
    isStopped.store(true, ordering: .relaxed)
    if let stopping { eventfd_write(stopping.number, 1) }
  }

  private func run() {
    var (isFirst, lastHeard, isTrusted) = (true, ContinuousClock.now, true)
    while !isStopped.load(ordering: .relaxed) {
      do {
        let connection = try PostgresConnection(url, for: .listening)
        let channel = try connection.value(
          "SELECT quote_ident($1 || current_schema())", NodeMessage.channel, as: String.self)
        try connection.script("LISTEN \(channel ?? NodeMessage.channel)")
        if !isFirst { observers.onEverything(()) }
        // The connection holds the lead: it ends with it.
        defer { observers.lead.set(false) }
        (isFirst, isTrusted) = (false, true)
        try compete(on: connection)
        while !isStopped.load(ordering: .relaxed) {
          lastHeard = .now
          try listen(on: connection)
        }
      } catch {
        if isTrusted, ContinuousClock.now - lastHeard > Self.trust {
          isTrusted = false
          observers.onEverything(())
        }
        var descriptor = pollfd(fd: stopping?.number ?? -1, events: Int16(POLLIN), revents: 0)
        poll(&descriptor, 1, 500)
      }
    }
  }

  private func listen(on connection: PostgresConnection) throws {
    let payloads = try connection.notifications(
      within: Self.heartbeat, interrupt: stopping?.number ?? -1)
    for payload in payloads { tell(payload) }
    if payloads.isEmpty { try compete(on: connection) }
  }

  /// Takes the lead if no other node has it; shows in any case whether the server responds.
  private func compete(on connection: PostgresConnection) throws {
    if observers.lead.isHeld { return try connection.script("SELECT 1") }
    let isLead = try connection.value(
      "SELECT pg_try_advisory_lock(hashtextextended('richpush lead ' || current_schema(), 0))",
      as: Bool.self)
    observers.lead.set(isLead == true)
  }

  private func tell(_ payload: String) {
    let (sender, messages) = NodeMessage.parse(payload)
    guard sender != origin else { return }
    for message in messages {
      switch message {
      case .pushEvents(let users): observers.onPushEvents(users)
      case .events: break
      case .assetEvent: observers.onAssetEvent(())
      case .change(let id): observers.onChange(id)
      case .credentialsEnded(let user): observers.onCredentialsEnded(user)
      case .jobs(let lane): observers.onJobs([lane])
      case .everything: observers.onEverything(())
      }
    }
    observers.onCommit(())
  }
}
