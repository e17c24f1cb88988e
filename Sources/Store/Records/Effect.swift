/// What has to follow a commit, on the node that has made it and on the others with the same database.
///
/// A change adds its effects to those of its transaction. Once that is committed, the writer performs them
/// (``CommitObservers/perform(_:)``) before it resumes the caller of the change, and PostgreSQL has told the
/// other nodes in the same transaction (``NodeMessage``).
enum Effect: Hashable {
  /// There are push events for these users.
  case pushEvents([UserID])
  /// There are events for publishers, or other work after a commit.
  case events
  /// There is an event about an asset.
  case assetEvent
  /// The content or the expiry of a notification changed.
  case change(Int)
  /// Credentials of a user ended, or the user's role changed.
  case credentialsEnded(UserID)
  /// A user has marked notifications read.
  case read(UserID)
  /// There are jobs for a lane.
  case jobs(lane: String)
  /// The keys of session tickets changed.
  case ticketKeys
  /// The keys that sign links changed, or anything else that is rare.
  case everything
  /// There is an entry of the audit log; the others need not know.
  case audit(AuditEvent)
}

/// The effects of the changes that share a transaction, in their order.
final class Effects {
  private(set) var all: [Effect] = []

  func add(_ effect: Effect) { all.append(effect) }

  func add(_ effects: some Sequence<Effect>) { all += effects }

  /// Forgets all but the first.
  func truncate(to count: Int) { all.removeSubrange(count...) }

  /// Returns all, and forgets them.
  func take() -> [Effect] {
    defer { all = [] }
    return all
  }
}

/// Functions that are called with what follows commits of this process, and of other nodes with the same database.
///
/// Hints: what they announce is read from the database.
package struct CommitObservers: Sendable {
  /// Called with the users for whom push events were committed.
  package let onPushEvents = Observers<[UserID]>()
  /// Called with the id of a notification whose content or expiry was changed, before the change returns to
  /// its caller.
  package let onChange = Observers<Int>()
  /// Called when credentials of a user ended, or the user's role was changed, before the change returns to its
  /// caller.
  package let onCredentialsEnded = Observers<UserID>()
  /// Called when a user has marked notifications read.
  package let onRead = Observers<UserID>()
  /// Called when an event about an asset was committed.
  package let onAssetEvent = Observers<Void>()
  /// Called with the names of lanes for which jobs were committed; for those of other nodes, which send them
  /// themselves unless they have too many, a moment later.
  package let onJobs = Observers<Set<String>>()
  /// Called after every commit, and a moment after commits of other nodes.
  package let onCommit = Observers<Void>()
  /// Called at once after commits of other nodes.
  package let onOthersCommit = Observers<Void>()
  /// Called when the keys of session tickets were changed.
  package let onTicketKeys = Observers<Void>()
  /// Called when keys that sign links were changed, and when anything may have been committed by other nodes
  /// without having been told.
  package let onEverything = Observers<Void>()
  /// Called with entries of the audit log that this node has committed.
  package let onAudit = Observers<[AuditEvent]>()
  /// Called every second with how long ago this node last heard what other nodes have committed; never if the
  /// database is only this node's.
  package let onHearing = Observers<Duration>()
  /// Whether this node does what only one does: it prepares assets, delivers events, and removes orphans.
  package let lead = Lead(name: "lead")
  /// Whether this node watches its drop folder, which others may share.
  package let folderLead = Lead()

  /// Calls the observers that effects concern, once for equal ones.
  func perform(_ effects: [Effect]) {
    var (users, lanes, performed): ([UserID], Set<String>, Set<Effect>) = ([], [], [])
    var audit: [AuditEvent] = []
    for effect in effects {
      if case .audit(let event) = effect {
        audit.append(event)
        continue
      }
      guard performed.insert(effect).inserted else { continue }
      switch effect {
      case .pushEvents(let some): users += some
      case .jobs(let lane): lanes.insert(lane)
      case .change(let id): onChange(id)
      case .credentialsEnded(let user): onCredentialsEnded(user)
      case .read(let user): onRead(user)
      case .assetEvent: onAssetEvent(())
      case .ticketKeys: onTicketKeys(())
      case .everything: onEverything(())
      case .events, .audit: break  // `onCommit` tells of the first
      }
    }
    if !audit.isEmpty { onAudit(audit) }
    if !users.isEmpty { onPushEvents(users) }
    if !lanes.isEmpty { onJobs(lanes) }
  }
}
