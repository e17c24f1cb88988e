import RichPushAPI
import FoundationEssentials
package import Media
package import Push
package import Store

/// Finds the recipients of a notification, and creates the pushes to their devices.
package struct Announcement: Sendable {
  let store: Store
  /// The lanes of the devices' platforms.
  package let lanes: PlatformLanes
  let links: MediaLinks
  /// Whether unknown names become guests when they are addressed (demo mode).
  let admitsGuests: Bool

  /// Creates the pushes of a server with these lanes.
  package init(
    store: Store, lanes: PlatformLanes, links: MediaLinks, admitsGuests: Bool
  ) {
    (self.store, self.lanes, self.links) = (store, lanes, links)
    self.admitsGuests = admitsGuests
  }

  /// The users and devices that match a tag expression.
  package struct Addressees: Sendable {
    package var users: Set<UserID> = []
    /// The names of users whom the expression names.
    var names: [UserID: String] = [:]
    /// Names in the expression that no user had before: in demo mode guests get them now, but they may be
    /// misspelled.
    package var unknown: [String] = []
    /// A notification whose recipients it asks for, which nobody knows any more.
    var forgotten: Int?
    package var devices = AudienceDevices()

    /// The number of devices that no push service reaches.
    package func unreached(by lanes: PlatformLanes) -> Int {
      devices.counts.reduce(0) { sum, found in
        let isReached = found.key.map { lanes.service(of: $0) != nil } ?? false
        return isReached ? sum : sum + found.value
      }
    }

    /// Users without a device that has registered for pushes; the expression names all of them.
    var unregistered: Set<UserID> {
      users.subtracting(devices.lazy.filter { $0.platform != nil }.map(\.user))
    }

    /// The addressees among these users.
    func among(_ users: Set<UserID>) -> Addressees {
      Addressees(
        users: self.users.intersection(users), names: names, unknown: unknown,
        devices: devices.ofUsers(users.contains))
    }
  }

  /// Finds the addressees.
  ///
  /// A `username:` tag on its own addresses the user who has the name now, even without a registered
  /// device. The cost grows with the number of matching devices.
  func addressees(
    _ expression: TagExpression, withZones: Bool = false
  ) async throws -> Addressees {
    try await addressees(expression, withZones: withZones, addingGuests: admitsGuests)
  }

  /// Finds the addressees of a draft.
  ///
  /// - Throws: `rejected` if it goes to a segment that does not exist.
  func addressees(of draft: Draft) async throws -> Addressees {
    if let named = draft.namedAudience { return try await addressees(named) }
    return try await addressees(draft.audience, withZones: draft.localTime != nil)
  }

  /// Those who would be addressed now; adds no guests.
  package func size(
    of audience: (expression: TagExpression, named: NamedAudience?), withZones: Bool = false
  ) async throws -> Addressees {
    if let named = audience.named { return try await addressees(named) }
    return try await addressees(
      audience.expression, withZones: withZones, addingGuests: false)
  }

  private func addressees(
    _ expression: TagExpression, withZones: Bool, addingGuests: Bool
  ) async throws -> Addressees {
    var found = Addressees()
    let (clauses, usernames) = Self.clauses(of: expression)
    let names = usernames.filter(UserName.isValid)
    let accounts = store.accounts
    let audience = try await accounts.audience(
      named: names, allowingPasswordless: admitsGuests, matching: clauses, withZones: withZones)
    var users = audience.users
    found.unknown = usernames.filter { users[$0] == nil }.sorted()
    if addingGuests, users.count < names.count {
      users = try await accounts.userIDs(of: names, allowingPasswordless: true)
    }
    for (name, id) in users { found.names[id] = name }
    found.devices = audience.devices
    found.users = Set(found.names.keys)
    found.users.formUnion(found.devices.users)
    return found
  }

  /// The clauses of an expression, and the users whom it names on their own.
  static func clauses(of expression: TagExpression) -> (clauses: [TagClause], names: Set<String>) {
    let clauses = TagPlan(expression).clauses.map { TagClause(with: $0.with, without: $0.without) }
    let named = clauses.filter { $0.with.count == 1 && $0.without.isEmpty }
    return (clauses, Set(named.compactMap { user(of: $0.with[0]) }))
  }

  /// - Throws: if a push would be too large for its service even with the shortest text.
  func requireRoom(
    for draft: Draft, _ values: Values, from sender: UserID?, with media: PushedMedia?,
    _ content: String
  ) throws(ServiceError) {
    for (service, variant) in lanes.firstOfEachFormat.flatMap({ service in
      values.variants(of: draft).map { (service, $0) }
    }) {
      let link = media?.link(
        of: .max, content, expires: draft.expires, by: links, through: service)
      var message = draft.pushMessage(.max, from: sender, media: link)
      message.message = variant
      let (format, limit) = (lanes.format(of: service), service.traits.largestPayload)
      let size = format.payload(of: message).largestSize
      guard size > limit else { continue }
      // The override of the service is named if the payload fits without it.
      (message.message.apns, message.message.fcm, message.message.webpush) = (nil, nil, nil)
      let fits = format.payload(of: message).largestSize <= limit
      let own = format.members(in: draft.form).shown.intersection([.apns, .fcm, .webpush]).first
      let override = fits ? own?.stringValue : nil
      let reason =
        "The push to \(service.name) would have \(size) bytes, of which \(limit) are possible, even without the "
        + "message and the subtitle. Shorten \(override ?? "the title, links, buttons or data")."
      throw ServiceError(.init(override ?? "message", .rejected, reason))
    }
  }

  /// When the `recipients`, who are in ascending order, and their devices get what a draft says; nil for all at once.
  ///
  /// - Throws: `rejected` if that would take too long.
  func times(
    of draft: Draft, for addressees: Addressees, _ recipients: [UserID]
  ) throws(ServiceError) -> SendTimes? {
    try SendTimes(of: draft, for: addressees, recipients, by: lanes, now: store.now())
  }

  /// Adds the event of the embedded gateway, the pushes of each lane, and when the recipients get them, if each has a
  /// time of its own.
  func announce(
    _ draft: Draft, with media: PushedMedia?, to addressees: Addressees, at times: SendTimes?,
    in new: inout NotificationInsert
  ) {
    if lanes.isEmbedded { new.event = PushedMedia.event(of: new, media) }
    new.pushes = pushes(draft.form.kind, to: addressees, at: times)
    if let times { new.times = times.users }
    if draft.localTime != nil { new.notBefore = new.times.keys.min() }
    let collapseID = draft.collapseID(from: new.sender)
    for index in new.pushes.indices {
      new.pushes[index].collapseID = collapseID
      new.pushes[index].isUrgent = draft.isUrgent
      new.pushes[index].media = PushServices.service(ofLane: new.pushes[index].lane)
        .flatMap { media?.description(for: $0) }
    }
  }

  /// Stores pushes with a plain text, which belongs to no notification, to a user's devices; `device` is that user
  /// if one of these devices sends it.
  package func announce(
    _ message: String, to user: String, fromDeviceOf device: UserID? = nil
  ) async throws {
    let addressees = try await addressees(TagExpression(anyOf: [Tag.username(user)]))
    var pushes = pushes(.alert, to: addressees)
    for index in pushes.indices { pushes[index].message = message }
    try await store.events.push(
      EmbeddedGateway.payload(of: PushMessage(text: message)).payload().json,
      to: lanes.isEmbedded ? Array(addressees.users) : [], pushes: pushes, fromDeviceOf: device)
  }

  /// Pushes to the devices, each through the lane of its platform.
  ///
  /// Users without a registered device may have devices in Azure's hub, with the tag that the tutorial's
  /// back end sets.
  func pushes(
    _ kind: PushPayload.Kind, to addressees: Addressees, at times: SendTimes? = nil
  ) -> [PushInsert] {
    struct Turn: Hashable {
      let lane: String
      let time: Date?
    }
    func turn(_ platform: String?, _ own: String?, _ time: Date?) -> Turn? {
      platform.flatMap(lanes.lane).map { Turn(lane: own ?? $0, time: time) }
    }
    let devices =
      times?.registrations(addressees.devices, by: turn)
      ?? addressees.devices.registrations { platform, own, _ in turn(platform, own, nil) }
    var targets = devices.mapValues { [PushInsert.Target.devices($0)] }
    for lane in lanes.resolvingTags {
      for user in addressees.unregistered.sorted() {
        guard let name = addressees.names[user] else { continue }
        let turn = Turn(lane: lane, time: times?.time(of: user))
        targets[turn, default: []].append(.audience(Self.userTag + name, user: user))
      }
    }
    // The first that are due become jobs first.
    let turns = targets.sorted {
      ($0.key.time ?? .distantPast, $0.key.lane) < ($1.key.time ?? .distantPast, $1.key.lane)
    }
    return turns.flatMap { turn, targets in
      targets.map { target in
        var push = PushInsert(lane: turn.lane, target: target, kind: kind.rawValue)
        push.scheduled = turn.time
        return push
      }
    }
  }

  private static let userTag = "username:"

  static func user(of tag: String) -> String? {
    tag.hasPrefix(userTag) ? String(tag.dropFirst(userTag.count)) : nil
  }
}
