import RichPushAPI
import Store

extension WebhookTemplate.Action {
  /// The same with names for programs that no other webhook's events can have, and that are short enough.
  func named(at webhook: String) -> Self {
    func name(_ text: String) -> String { Digest(of: "webhook \(webhook) \(text)").hex }
    switch self {
    case .ignore: return self
    case .withdraw(let subject): return .withdraw(subject: name(subject))
    case .publish(var new):
      new.message.replaces = new.message.replaces.map(name)
      new.idempotencyKey = new.idempotencyKey.map(name)
      if let thread = new.message.thread, thread.utf8.count > 64 {
        new.message.thread = name(thread)
      }
      return .publish(new)
    }
  }
}
