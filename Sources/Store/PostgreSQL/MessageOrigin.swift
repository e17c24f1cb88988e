import Synchronization

/// The name of this process in the messages to the other nodes, which it receives as well and ignores.
///
/// It changes when the answer to a commit is lost: the message about that commit, which may come later, is then taken for
/// another node's, so that the caches of this node end, too.
final class MessageOrigin: Sendable {
  private let state: Mutex<(owner: String, name: String, losses: Int)>

  /// Begins with the name of the owner of this process's leases.
  init(_ owner: String) { state = Mutex((owner, owner, 0)) }

  /// The name for the next message.
  var name: String { state.withLock { $0.name } }

  /// Gives another name to the next messages.
  func change() {
    state.withLock { state in
      state.losses += 1
      state.name = "\(state.owner) \(state.losses)"
    }
  }
}
