import FoundationEssentials
import HTTP
import RichPushAPI
import Store

/// `/api/audit`, for admins.
struct AuditRoutes: Sendable {
  let store: Store
  let exports: Exports

  /// `GET /api/audit`: who did what, the last first; by page, or as a table.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("user", "action", "since", "until", "before", "limit")
    let limit = try query.number("limit", 1...500) ?? 100
    let before = try query.number("before", RequestContext.ids)
    var filter = AuditFilter()
    filter.action = query["action"]
    filter.since = try query.time("since")
    filter.until = try query.time("until")
    if let name = query["user"] { filter.user = try await user(name) }
    return try await exports.response(
      context, named: "audit", at: before, limit: limit, largest: 500
    ) { [store, filter] before, limit in
      let found = try await store.audit.auditEntries(filter, before: before, limit: limit + 1)
      let page = Array(found.prefix(limit))
      let users = page.flatMap { [$0.event.actor.user, $0.event.object?.owner] }
      let names = try await store.accounts.names(of: Array(Set(users.compactMap(\.self))))
      return AuditPage(
        entries: page.map { AuditPage.Entry($0, names: names) },
        next: found.count > limit ? page.last?.number : nil)
    }
  }

  /// The user of a name or, if nobody has it, of a number: the user may have been removed.
  private func user(_ name: String) async throws -> UserID {
    if let id = try await store.accounts.userID(of: name, allowingPasswordless: true) { return id }
    guard let number = Int(name), RequestContext.ids.contains(number) else {
      throw ServiceError(
        .notFound, "There is no user \(name.quoted); of one who was removed, name the number.")
    }
    return UserID(rawValue: number)
  }
}

extension [String: String] {
  fileprivate func time(_ name: String) throws(ServiceError) -> Date? {
    guard let text = self[name] else { return nil }
    guard let time = JSONCoding.time(text) else {
      throw ServiceError(.invalidRequest, "\(name) must be a time such as 2026-12-31T23:00:00Z.")
    }
    return time
  }
}

extension AuditActor {
  /// The caller of a request.
  init(_ caller: Caller, _ request: Request) {
    switch caller.proof {
    case _ where caller.id == Caller.anybody.id: self = .anybody
    case .name: self.init(caller, .name)
    case .password: self.init(caller, .password)
    case .token(_, let device): self.init(caller, .device, device)
    case .push(let push): self.init(caller, .push, push.device)
    case .session(_, let id, _): self.init(caller, .session, String(id))
    case .accessToken(_, let id, _): self.init(caller, .token, String(id))
    }
    (address, self.request) = (request.peer, request.id)
  }

  private init(_ caller: Caller, _ credential: Credential, _ id: String? = nil) {
    self = .user(caller.id, role: caller.role)
    (self.credential, credentialID) = (credential, id)
  }

  /// The user that it is, if it is one.
  fileprivate var user: UserID? { kind == .user ? number.map(UserID.init) : nil }
}

extension AuditEvent {
  /// A line for the log.
  var line: String {
    var words = [action]
    if let object {
      words.append("\(object.kind) \(object.id)")
      if let owner = object.owner, object.user == nil { words.append("of user \(owner.rawValue)") }
    }
    if let detail { words.append(detail) }
    if count != 1 { words.append("(\(count))") }
    words.append("by \(actor.kind.rawValue)")
    if let number = actor.number { words.append("\(number)") }
    if let credential = actor.credential {
      words.append("with \(credential.rawValue)")
      if let id = actor.credentialID { words.append(id) }
    }
    if let address = actor.address { words.append("from \(address)") }
    return words.joined(separator: " ")
  }
}

extension AuditPage.Entry {
  fileprivate init(_ entry: AuditEntry, names: [UserID: String]) {
    let event = entry.event
    var actor = AuditPage.Actor(
      kind: event.actor.kind.rawValue, number: event.actor.number,
      name: event.actor.user.flatMap { names[$0] })
    actor.credential = event.actor.credential?.rawValue
    (actor.credentialID, actor.address) = (event.actor.credentialID, event.actor.address)
    self.init(
      number: entry.number, time: event.time, action: event.action, actor: actor,
      object: event.object.map { object in
        AuditPage.Object(
          kind: object.kind, id: object.id, name: object.user.flatMap { names[$0] },
          owner: object.owner?.rawValue, ownerName: object.owner.flatMap { names[$0] })
      }, detail: event.detail, count: event.count, request: event.actor.request)
  }
}
