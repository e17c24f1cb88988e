import Push
import Store

/// Finds the users that an expression of tags means.
struct Audience: Sendable {
  let store: Store

  /// The users' names, each once; a `username:` tag on its own means that user, registered or not.
  func users(_ expression: TagExpression) throws -> [String] {
    var users: Set<String> = []
    for clause in TagPlan(expression).clauses {
      if clause.with.count == 1, clause.without.isEmpty, let name = Self.user(of: clause.with[0]) {
        users.insert(name)
      } else {
        users.formUnion(try store.users(with: clause.with, without: clause.without))
      }
    }
    return users.sorted()
  }

  private static func user(of tag: String) -> String? {
    let prefix = "username:"
    guard tag.hasPrefix(prefix) else { return nil }
    let name = String(tag.dropFirst(prefix.count))
    return UserName.isValid(name) ? name : nil
  }
}
