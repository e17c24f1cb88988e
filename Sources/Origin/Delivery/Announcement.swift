import Push
import Store

/// Addresses a notification: the users who may fetch it, and a push for each of their devices.
struct Announcement: Sendable {
  let store: Store
  /// The lanes that pushes go out by, besides the embedded gateway.
  let lanes: [String]
  /// Whether the embedded gateway tells the devices that listen to it.
  let isEmbedded: Bool
  let links: MediaLinks
  /// Whether a name that nobody has becomes a guest's when something is addressed to it.
  let admitsGuests: Bool

  /// Who an expression of tags means.
  struct Addressees: Sendable {
    var users: Set<UserID> = []
    /// The names of those who were named.
    var names: [UserID: String] = [:]
    var devices: Set<Device> = []

    /// Users of whom no device is registered here: all of them were named.
    var unregistered: Set<UserID> { users.subtracting(devices.map(\.user)) }

    /// Those among certain users.
    func among(_ users: Set<UserID>) -> Addressees {
      Addressees(
        users: self.users.intersection(users), names: names,
        devices: devices.filter { users.contains($0.user) })
    }
  }

  /// Finds the addressees.
  ///
  /// A `username:` tag on its own means that user, whether or not a device is registered, and nobody
  /// who gets the name later; the cost grows with the devices that match.
  func addressees(_ expression: TagExpression) async throws -> Addressees {
    var found = Addressees()
    let clauses = TagPlan(expression).clauses.map { TagClause(with: $0.with, without: $0.without) }
    let named = clauses.filter { $0.with.count == 1 && $0.without.isEmpty }
    let names = Set(named.compactMap { Self.user(of: $0.with[0]) })
    for (name, id) in try await store.userIDs(of: names, admittingGuests: admitsGuests) {
      found.names[id] = name
    }
    found.devices = Set(try store.devices(matching: clauses))
    found.users = Set(found.names.keys).union(found.devices.map(\.user))
    return found
  }

  /// Adds what tells the devices of the draft: the embedded gateway's event, a push a lane.
  func announce(
    _ draft: Draft, with media: PushedMedia?, to addressees: Addressees,
    in new: inout NewNotification
  ) {
    let text = { @Sendable [links] (form: PushForm, id: Int, overLane: Bool) in
      form.text(of: draft.content(id, media: media?.link(of: id, by: links, overLane: overLane)))
    }
    if isEmbedded { new.push = { text(draft.form, $0, false).json } }
    new.pushes = pushes(text(draft.form, 0, true).kind, to: addressees) {
      text(draft.form, $0, true).json
    }
    for index in new.pushes.indices {
      new.pushes[index].collapseID = { "rich-\($0)" }
      if new.pushes[index].kind == PushText.Kind.background.rawValue {
        new.pushes[index].fallback = { text(.alert, $0, true).json }
      }
    }
  }

  /// Sends a user's devices a text that announces no notification; when this returns it is stored.
  func announce(_ text: PushText, to user: String) async throws {
    let addressees = try await addressees(TagExpression(anyOf: [Tag.username(user)]))
    try await store.push(
      text.json, to: isEmbedded ? Array(addressees.users) : [],
      pushes: pushes(text.kind, to: addressees) { _ in text.json })
  }

  /// A push of this text to the devices, one a lane that reaches any of them.
  ///
  /// Of users who have registered none here Azure's hub may know some, by the tag that the tutorial's
  /// back end gives them.
  func pushes(
    _ kind: PushText.Kind, to addressees: Addressees, text: @escaping @Sendable (Int) -> String
  ) -> [NewPush] {
    lanes.flatMap { lane in
      let reached = addressees.devices.filter {
        $0.platform.map { Self.reaches($0, by: lane) } ?? false
      }
      var targets: [NewPush.Target] =
        reached.isEmpty ? [] : [.devices(reached.map(\.registration).sorted())]
      if lane == "azure" {
        targets += addressees.unregistered.sorted().compactMap { user in
          addressees.names[user].map { .audience(Self.userTag + $0, user: user) }
        }
      }
      return targets.map { NewPush(lane: lane, target: $0, kind: kind.rawValue, text: text) }
    }
  }

  /// A gateway of the operator's own decides for itself; the others push to Apple's devices.
  private static func reaches(_ platform: String, by lane: String) -> Bool {
    lane == "webhook" || platform == "apns"
  }

  private static let userTag = "username:"

  private static func user(of tag: String) -> String? {
    guard tag.hasPrefix(userTag) else { return nil }
    let name = String(tag.dropFirst(userTag.count))
    return UserName.isValid(name) ? name : nil
  }
}
