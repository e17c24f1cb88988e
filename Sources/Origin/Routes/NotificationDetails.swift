import Delivery
import Media
import RichPushAPI
import FoundationEssentials
import HTTP
import PluginHost
import Store

/// `GET /api/notifications/<id>/details`: the JSON form, with receipts and deliveries.
struct NotificationDetails: Sendable {
  let store: Store
  let host: PluginHost
  let links: MediaLinks
  let announcement: Announcement
  /// The most receipts, and the most deliveries; all of them are read by page.
  private static let listed = 100

  /// A recipient gets its own receipt; the sender and an admin get the first ones of all, and the deliveries.
  ///
  /// `?link=w640` adds a link to that rendition; the plugin's own options may follow, as in
  /// `?link=w640;page=2`.
  func get(_ context: RequestContext) async throws -> Response {
    let link = try context.query("link")["link"]
    let (id, caller) = (try context.notificationID(), context.caller)
    guard let notification = try await store.notifications.notification(id) else {
      let details = try await ended(id, for: caller)
      _ = try rendition(link, of: details.richType)
      return .json(200, details)
    }
    let own = try await store.notifications.receipts(of: id, users: [caller.id])
    let seesAll = caller.mayRead(notification)
    // An access token is for what its user sends.
    guard
      seesAll
        || caller.scope == nil && own.first?.isDue(at: Date()) == true
          && !notification.isHeld(at: Date())
    else {
      throw ServiceError.noSuchNotification
    }
    let requested = try rendition(link, of: notification.richType)
    // Its sender sees what was written, in all languages.
    var said: NotificationMessage?
    if !seesAll {
      let values = try await store.values(of: [notification], for: caller.id)[id] ?? [:]
      said = notification.said(in: context.languages, values: values)
    }
    var details = RichNotification(
      notification, saying: said, isRead: own.first?.read != nil)
    if !seesAll, let due = own.first?.due, due > details.notBefore ?? due {
      details.notBefore = due
    }
    if !seesAll, let later = notification.replacedBy,
      try await store.notifications.receipts(of: later, users: [caller.id]).isEmpty
    {
      // It was sent to others.
      details.replacedBy = nil
    }
    let shown =
      seesAll
      ? try await store.notifications.receipts(of: id, in: nil, after: 0, limit: Self.listed) : own
    details.receipts = try await store.messages(of: shown, of: id)
    if seesAll {
      if let sent = try await store.sentNotification(id) {
        try await describe(sent, in: &details)
      }
      let jobs = try await store.outbox.deliveries(
        of: id, in: nil, lane: nil, after: 0, limit: Self.listed)
      let replaced = try await store.notifications.replacement(of: id, limit: Self.listed)
      details.replaced = replaced.map {
        RichNotification.Replacement(time: $0.time, count: $0.count, users: $0.users)
      }
      details.deliveries = try await store.messages(of: jobs, of: id)
      details.interactions = try await interactions(of: id)
    }
    let hasMedia = notification.media != nil
    let profiles = hasMedia ? Profile.all.map(\.name) : []
    details.renditions = Dictionary(
      uniqueKeysWithValues: profiles.map { ($0, "/api/notifications/\(id)?profile=\($0)") })
    details.links = hasMedia ? mediaLinks(to: notification, and: requested) : [:]
    return .json(200, details, fields: ["Vary": "Accept-Language"])
  }

  /// The name of the rendition that a link is wanted to.
  private func rendition(_ name: String?, of richType: String?) throws -> String? {
    try name.map { name in
      let keys = richType.flatMap(host.plugin)?.manifest.query ?? []
      return try RenditionOptions(name: name, declaring: keys).name
    }
  }

  /// What is left of a notification that was withdrawn or has expired, for its sender and admins.
  private func ended(_ id: Int, for caller: Caller) async throws -> RichNotification {
    guard let sent = try await store.sentNotification(id), caller.controls(sent.notification) else {
      throw ServiceError.noSuchNotification
    }
    var details = RichNotification(sent.notification, isRead: false)
    try await describe(sent, in: &details)
    details.interactions = try await interactions(of: id)
    (details.receipts, details.deliveries, details.renditions, details.links) = ([], [], [:], [:])
    return details
  }

  private func interactions(of id: Int) async throws -> [RecordedInteraction] {
    try await store.interactions.interactions(of: id, after: 0, limit: Self.listed)
      .map(RecordedInteraction.init)
  }

  /// Adds what only its sender and admins see of the whole.
  private func describe(
    _ sent: SentNotification, in details: inout RichNotification
  ) async throws {
    let now = Date()
    (details.form, details.badge) = sent.notification.version.pushForm
    details.platforms = announcement.members(of: details.message, in: details.form ?? .silent)
    (details.state, details.counts) = (sent.state(at: now), sent.counts(at: now))
    details.first = RichNotification.FirstTimes(sent.counts)
    let id = sent.notification.id
    if details.state != .held, let decision = try await store.approvals.approval(of: id) {
      details.approval = Approval(decision, people: sent.notification.people ?? 0)
    }
    details.approval?.sender = sent.sender
  }

  /// Signed links to the renditions, by name.
  private func mediaLinks(
    to notification: StoredNotification, and requested: String?
  ) -> [String: String] {
    let names = ["original"] + Profile.all.map(\.name) + [requested].compactMap(\.self)
    let content = RenditionSource(notification, in: store).content
    let expires = MediaLinks.expiry(of: notification.expires, now: Date())
    return names.reduce(into: [:]) { members, name in
      let target = MediaLinks.Target(
        id: notification.id, rendition: name, content: content, expires: expires)
      members[name] = links.url(to: target) ?? links.path(to: target)
    }
  }
}
