import Push
package import RichPushAPI
package import Store

/// An audience that the server finds by what it knows of people and devices, when the notification is sent.
///
/// It is a lone tag: `segment:NAME`, `opened:ID` or `notOpened:ID`.
package enum NamedAudience: Sendable, Hashable {
  /// A segment that publishers have saved.
  case segment(String)
  /// Those who have opened a notification or marked it read.
  case opened(Int)
  /// Those who got a notification, and have neither opened it nor marked it read.
  case notOpened(Int)

  /// The audience that an expression is; nil if it is one of tags.
  ///
  /// - Throws: `rejected` if there is more beside it, or if nothing can have that name.
  init?(_ expression: TagExpression) throws(ServiceError) {
    guard let named = expression.tags.first(where: \.isAudience) else { return nil }
    guard case .tag(let tag) = expression.root else {
      throw Self.error(
        "\(named.name.quoted) cannot be combined with other recipients: save a segment, whose to has the others."
      )
    }
    let parts = tag.name.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
    let (kind, name) = (parts[0], parts.count > 1 ? String(parts[1]) : "")
    if kind == "segment" {
      guard Segment.isValid(name: name) else {
        throw Self.error("\(name.quoted) cannot be the name of a segment.")
      }
      self = .segment(name)
    } else {
      guard let id = Int(name), id >= 0, String(id) == name else {
        throw Self.error("\(tag.name.quoted) must name a notification by its ID.")
      }
      self = kind == "opened" ? .opened(id) : .notOpened(id)
    }
  }

  /// The segment's name.
  package var segment: String? {
    if case .segment(let name) = self { name } else { nil }
  }

  /// The notification that the sender must be allowed to follow.
  package var notification: Int? {
    switch self {
    case .segment: nil
    case .opened(let id), .notOpened(let id): id
    }
  }

  private static func error(_ reason: String) -> ServiceError {
    ServiceError(.init("to", .rejected, reason))
  }
}

extension Announcement {
  /// The users and devices of a named audience now.
  ///
  /// - Throws: `rejected` if there is no such segment.
  func addressees(_ audience: NamedAudience) async throws -> Addressees {
    switch audience {
    case .segment(let name):
      guard let stored = try await store.segments.segment(name) else {
        throw ServiceError(.init("to", .rejected, "There is no segment \(name.quoted)."))
      }
      return try await addressees(Segment(stored))
    case .opened(let id):
      var segment = Segment()
      segment.opened = id
      return try await addressees(segment)
    case .notOpened(let id):
      var segment = Segment()
      segment.notOpened = id
      return try await addressees(segment)
    }
  }

  /// The users and devices that a segment has now.
  package func addressees(_ segment: Segment) async throws -> Addressees {
    var (conditions, found) = (AudienceConditions(), Addressees())
    if let audience = segment.audience {
      let (clauses, names) = Self.clauses(of: try Draft.tags(audience.tags))
      conditions.clauses = clauses
      let users = try await store.accounts.userIDs(
        of: names.filter(UserName.isValid), allowingPasswordless: admitsGuests,
        addingPasswordless: false)
      conditions.names = Set(users.keys)
      found.unknown = names.filter { users[$0] == nil }.sorted()
      for (name, id) in users { found.names[id] = name }
    }
    conditions.attributes = segment.attributes ?? [:]
    (conditions.language, conditions.platform) = (segment.language, segment.platform)
    conditions.lastContact = segment.lastContact
    (conditions.opened, conditions.notOpened) = (segment.opened, segment.notOpened)
    for notification in [segment.opened, segment.notOpened].compactMap(\.self) {
      if try await !store.segments.knowsRecipients(of: notification) {
        found.forgotten = notification
      }
      try await store.notifications.completeAudience(of: notification)
    }
    let members = try await store.segments.members(
      meeting: conditions, allowingPasswordless: admitsGuests)
    found.devices = members.devices
    found.users = Set(members.users)
    found.users.formUnion(found.devices.users)
    return found
  }
}

extension Segment {
  /// The conditions of a saved one.
  package init(_ stored: StoredSegment) throws(ServiceError) {
    self = try JSONCoding.decode(from: stored.content.utf8)
  }
}
