import RichPushAPI
import FoundationEssentials
package import Media
package import Push
package import Store

/// Addresses a notification: the users who may fetch it, and a push for each of their devices.
package struct Announcement: Sendable {
  let store: Store
  /// Which lane sends to a device.
  package let lanes: PlatformLanes
  /// Whether the embedded gateway is one of the services.
  let isEmbedded: Bool
  let links: MediaLinks
  /// Whether an unknown name becomes a guest when something is addressed to it.
  let admitsGuests: Bool

  /// Creates the announcer of a server's notifications.
  package init(
    store: Store, lanes: PlatformLanes, isEmbedded: Bool, links: MediaLinks, admitsGuests: Bool
  ) {
    (self.store, self.lanes, self.isEmbedded) = (store, lanes, isEmbedded)
    (self.links, self.admitsGuests) = (links, admitsGuests)
  }

  /// Who an expression of tags means.
  package struct Addressees: Sendable {
    package var users: Set<UserID> = []
    /// The names of those who were named.
    var names: [UserID: String] = [:]
    /// The names among them that no user had.
    package var unknown: [String] = []
    package var devices: Set<AudienceDevice> = []

    /// How many of the devices no push service sends to.
    package func unreached(by lanes: PlatformLanes) -> Int {
      devices.count { $0.platform.map { lanes.service(of: $0) == nil } ?? true }
    }

    /// Users without a registered device; all of them were named.
    var unregistered: Set<UserID> { users.subtracting(devices.map(\.user)) }

    /// Those among certain users.
    func among(_ users: Set<UserID>) -> Addressees {
      Addressees(
        users: self.users.intersection(users), names: names, unknown: unknown,
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
    let claimed = Set(named.compactMap { Self.user(of: $0.with[0]) })
    let names = claimed.filter(UserName.isValid)
    found.unknown = try claimed.filter { name in
      try !names.contains(name) || store.userID(of: name, allowingPasswordless: admitsGuests) == nil
    }.sorted()
    for (name, id) in try await store.userIDs(of: names, allowingPasswordless: admitsGuests) {
      found.names[id] = name
    }
    found.devices = Set(try store.devices(matching: clauses))
    found.users = Set(found.names.keys).union(found.devices.map(\.user))
    return found
  }

  /// Adds the embedded gateway's event and a push for each lane.
  func announce(
    _ draft: Draft, with media: PushedMedia?, to addressees: Addressees,
    in new: inout NotificationInsert
  ) {
    let text = { @Sendable [links] (form: AnnouncementForm, id: Int, overLane: Bool) in
      form.text(of: draft.content(id, media: media?.link(of: id, by: links, overLane: overLane)))
    }
    if isEmbedded { new.push = { text(draft.form, $0, false).json } }
    new.pushes = pushes(text(draft.form, 0, true).kind, to: addressees) {
      text(draft.form, $0, true).json
    }
    for index in new.pushes.indices {
      new.pushes[index].collapseID = { "rich-\($0)" }
      if new.pushes[index].kind == PushPayload.Kind.background.rawValue {
        new.pushes[index].fallback = { text(.alert, $0, true).json }
      }
    }
  }

  /// Sends a user's devices a text that announces no notification; when this returns it is stored.
  package func announce(_ text: PushPayload, to user: String) async throws {
    let addressees = try await addressees(TagExpression(anyOf: [Tag.username(user)]))
    try await store.push(
      text.json, to: isEmbedded ? Array(addressees.users) : [],
      pushes: pushes(text.kind, to: addressees) { _ in text.json })
  }

  /// A push of this text to the devices, each by the one lane that sends to it.
  ///
  /// Of users who have registered none here Azure's hub may know some, by the tag that the tutorial's
  /// back end gives them.
  func pushes(
    _ kind: PushPayload.Kind, to addressees: Addressees, text: @escaping @Sendable (Int) -> String
  ) -> [PushInsert] {
    var targets: [String: [PushInsert.Target]] = [:]
    let devices = Dictionary(grouping: addressees.devices) { $0.platform.flatMap(lanes.lane) }
    for case (let lane?, let devices) in devices {
      targets[lane] = [.devices(devices.map(\.registration).sorted())]
    }
    if lanes.has("azure") {
      targets["azure", default: []] += addressees.unregistered.sorted().compactMap { user in
        addressees.names[user].map { .audience(Self.userTag + $0, user: user) }
      }
    }
    return targets.sorted { $0.key < $1.key }.flatMap { lane, targets in
      targets.map { PushInsert(lane: lane, target: $0, kind: kind.rawValue, text: text) }
    }
  }

  private static let userTag = "username:"

  private static func user(of tag: String) -> String? {
    tag.hasPrefix(userTag) ? String(tag.dropFirst(userTag.count)) : nil
  }
}

/// The media that a push carries an address of, so that a service extension needs no password.
struct PushedMedia: Sendable {
  /// The profile whose rendition the extension shows.
  static let profile = "ios"

  let type: String
  let size: Int
  /// What names the content in the address.
  let content: String
  /// Whole seconds since 1970.
  let expires: Int

  /// The rendition of a source that a draft announces.
  init(_ rendition: StoredMedia, of source: RenditionSource, for draft: Draft, now: Date) {
    (type, size, content) = (rendition.mediaType, rendition.size, source.content)
    expires = MediaLinks.expiry(of: draft.expires, now: max(now, draft.notBefore ?? now))
  }

  /// The signed link; nil if the server's public URL is not configured.
  ///
  /// In a push over a lane it ends with a placeholder of the job, so that a fetch is recorded for its device.
  func link(of id: Int, by links: MediaLinks, overLane: Bool) -> MediaLink? {
    let target = MediaLinks.Target(
      id: id, rendition: Self.profile, content: content, expires: expires)
    return links.url(to: target).map { url in
      MediaLink(url: overLane ? url + PushPayload.jobPlaceholder : url, type: type, size: size)
    }
  }
}
