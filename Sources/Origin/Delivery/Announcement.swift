import Push
import Store

/// Addresses a notification: the users who may fetch it, and a push for each of their devices.
struct Announcement: Sendable {
  let store: Store
  /// The lanes that pushes go out by, besides the embedded gateway.
  let lanes: [String]
  /// Whether the embedded gateway tells the devices that listen to it.
  let isEmbedded: Bool

  /// Who an expression of tags means.
  struct Addressees: Sendable {
    var users: Set<String> = []
    var devices: Set<Device> = []
  }

  /// Finds the addressees.
  ///
  /// A `username:` tag on its own means that user, registered or not; the cost grows with the
  /// devices that match.
  func addressees(_ expression: TagExpression) throws -> Addressees {
    var found = Addressees()
    let clauses = TagPlan(expression).clauses.map { TagClause(with: $0.with, without: $0.without) }
    for clause in clauses where clause.with.count == 1 && clause.without.isEmpty {
      if let user = Self.user(of: clause.with[0]) { found.users.insert(user) }
    }
    found.devices = Set(try store.devices(matching: clauses))
    found.users.formUnion(found.devices.map(\.user))
    return found
  }

  /// The pushes to the devices, one a lane.
  func pushes(of draft: Draft, to devices: Set<Device>) -> [NewPush] {
    lanes.compactMap { lane in
      let reached = devices.filter { $0.platform.map { Self.reaches($0, by: lane) } ?? false }
      guard !reached.isEmpty else { return nil }
      let text = { @Sendable (id: Int) in draft.form.text(of: draft.content(id)) }
      var push = NewPush(
        lane: lane, target: .devices(reached.map(\.registration).sorted()),
        kind: text(0).kind.rawValue, text: { text($0).json })
      if text(0).kind == .background {
        push.fallback = { PushForm.alert.text(of: draft.content($0)).json }
      }
      push.collapseID = { "rich-\($0)" }
      return push
    }
  }

  /// A gateway of the operator's own decides for itself; the others push to Apple's devices.
  private static func reaches(_ platform: String, by lane: String) -> Bool {
    lane == "webhook" || platform == "apns"
  }

  private static func user(of tag: String) -> String? {
    let prefix = "username:"
    guard tag.hasPrefix(prefix) else { return nil }
    let name = String(tag.dropFirst(prefix.count))
    return UserName.isValid(name) ? name : nil
  }
}
