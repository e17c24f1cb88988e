package import FoundationEssentials
package import Media
package import Push
package import RichPushAPI
package import Store
import Synchronization

/// What stored pushes announce, which is read when the first of them is sent and remembered for a minute.
package final class PushPayloads: Sendable {
  /// What a payload is of.
  private enum Source: Hashable {
    /// A push of the outbox, by its number.
    case push(Int)
    /// An event of the embedded gateway, with its text, which names the version of the message.
    case event(notification: Int, text: String)
  }

  /// For so many seconds a message is remembered: the link in it may be signed with a key that is removed.
  private static let life: TimeInterval = 60
  /// The most messages that are remembered: those of the notifications that are being sent.
  private static let most = 256

  private let store: Store
  private let links: MediaLinks
  /// The URL of the page that shows a device's notifications; nil if the server has none.
  private let page: String?
  private let known = Mutex<[Source: (push: AnnouncedPush, made: Date)]>([:])

  /// `page` is the URL of the page that shows a device's notifications, if the server has one.
  package init(store: Store, links: MediaLinks, page: String? = nil) {
    (self.store, self.links, self.page) = (store, links, page)
  }

  /// What a job's push over a lane announces; nil if there is no such push any more.
  package func push(
    of job: LeasedJob, over lane: PushLane, at now: Date
  ) async throws -> AnnouncedPush? {
    if let known = known(.push(job.push), at: now) { return known }
    guard let stored = try await store.outbox.push(job.push) else { return nil }
    var message = message(stored, for: lane.traits.profile, at: now)
    // All jobs of a push have the same.
    message.collapseID = job.collapseID
    return remember(AnnouncedPush(message, by: lane.payload), .push(job.push), now)
  }

  /// What an event of the embedded gateway announces; nil if its notification has gone.
  func push(
    ofEvent event: String, of notification: Int, at now: Date
  ) async throws -> AnnouncedPush? {
    let source = Source.event(notification: notification, text: event)
    if let known = known(source, at: now) { return known }
    guard let stored = try await store.notifications.notification(notification) else { return nil }
    let push = StoredPush(message: stored.version, media: event, notification: stored)
    let message = message(push, for: EmbeddedGateway.traits.profile, at: now)
    return remember(
      AnnouncedPush(message, of: stored, by: EmbeddedGateway.payload), source, now)
  }

  /// What placeholders stand for, of those pushes that have any: by notification and user.
  func values(
    for pushes: some Sequence<(push: AnnouncedPush, user: UserID?)>
  ) async throws -> [Int: [UserID: [String: String]]] {
    var wanted: [Int: Set<UserID>] = [:]
    for case let (push, user?) in pushes where push.isPersonal {
      if let id = push.message.id { wanted[id, default: []].insert(user) }
    }
    if wanted.isEmpty { return [:] }
    let users = wanted.values.reduce(into: Set()) { $0.formUnion($1) }
    return try await store.values(of: wanted.keys.sorted(), users: users.sorted())
  }

  /// What names a job in its payload.
  func suffix(of job: LeasedJob, in payload: AnnouncedPush.Made) -> JobSuffix {
    // An alert in the place of a silent push has it, too: the buttons are the same.
    let secret = payload.template.hasSecret ? links.secret(of: job.id, token: job.token) : nil
    return JobSuffix(job: job.id, token: job.token, secret: secret)
  }

  private func message(_ push: StoredPush, for profile: String, at now: Date) -> PushMessage {
    guard let notification = push.notification else { return PushMessage(text: push.message.text) }
    let (form, countsUnread) = push.message.pushForm
    var message = PushMessage(
      notification.id, push.message.said, richType: notification.media?.richType,
      form: form ?? .silent)
    message.countsUnread = countsUnread
    message.thumbHash = ThumbHashText(details: notification.details)?.text
    message.page = page.map { "\($0)#\(notification.id)" }
    message.media = push.media.flatMap(PushedMedia.Description.init).flatMap { media in
      links.link(to: notification, media, for: profile, in: store, at: now)
    }
    return message
  }

  private func known(_ source: Source, at now: Date) -> AnnouncedPush? {
    known.withLock { known in
      let found = known[source]
      let isFresh = found.map { abs(now.timeIntervalSince($0.made)) < Self.life } ?? false
      return isFresh ? found?.push : nil
    }
  }

  private func remember(
    _ push: AnnouncedPush, _ source: Source, _ now: Date
  ) -> AnnouncedPush {
    known.withLock { known in
      if known.count >= Self.most { known = [:] }
      known[source] = (push, now)
    }
    return push
  }
}

extension Store {
  /// What placeholders of notifications stand for, by notification and user.
  package func values(
    of notifications: [Int], users: [UserID]
  ) async throws -> [Int: [UserID: [String: String]]] {
    try await self.notifications.values(of: notifications, users: users).mapValues { users in
      try users.mapValues { try JSONCoding.decode(from: $0.utf8) }
    }
  }

  /// What placeholders of notifications stand for, for one user, by notification.
  package func values(
    of notifications: [StoredNotification], for user: UserID
  ) async throws -> [Int: [String: String]] {
    let personal = notifications.filter { !$0.said.placeholders.all.isEmpty }.map(\.id)
    if personal.isEmpty { return [:] }
    return try await values(of: personal, users: [user]).compactMapValues { $0[user] }
  }
}

/// The media that pushes have a link to, so that a notification service extension needs no password.
struct PushedMedia: Sendable {
  /// The profiles whose renditions pushes have links to.
  static let profiles = PushServices.profiles

  /// By profile; one that the plugin rejected is missing.
  let renditions: [String: StoredMedia]

  /// What a push stores of the rendition for its service.
  struct Description: Codable {
    /// In bytes.
    let size: Int
    /// The media type.
    let type: String

    /// Reads what was stored; nil if that describes no media.
    init?(_ text: String) {
      guard let stored: Self = try? JSONCoding.decode(from: text.utf8) else { return nil }
      self = stored
    }

    fileprivate init(_ media: StoredMedia) { (size, type) = (media.size, media.mediaType) }
  }

  /// The text of an event of the embedded gateway: a version of the notification, and what its media is.
  ///
  /// The version keeps a node from sending a message that it remembers after another has changed it.
  static func event(of new: NotificationInsert, _ media: PushedMedia?) -> String {
    struct Event: Encodable {
      let version: String
      let size: Int?
      let type: String?
    }
    let parts = [
      new.message, new.members ?? "", new.form, new.richType, new.payload,
      new.blob?.digest.hex ?? "", new.focus ?? "",
    ]
    let rendition = media?.renditions[EmbeddedGateway.traits.profile]
    return JSONCoding.text(
      Event(
        version: String(Digest(of: parts.joined(separator: "\0")).hex.prefix(16)),
        size: rendition?.size, type: rendition?.mediaType))
  }

  /// The JSON text of the rendition's description for a service; nil if there is none.
  func description(for service: any PushService.Type) -> String? {
    renditions[service.traits.profile].map { JSONCoding.text(Description($0)) }
  }

  /// The signed link to the rendition for a service, of a notification that is to be created; nil if there is none.
  func link(
    of id: Int, _ content: String, expires: Date?, by links: MediaLinks,
    through service: any PushService.Type
  ) -> MediaLink? {
    let profile = service.traits.profile
    guard let rendition = renditions[profile] else { return nil }
    return links.link(
      of: id, profile, content: content, Description(rendition), expires: expires, at: Date())
  }
}

extension MediaLinks {
  /// The link to a notification's rendition; nil if the server's public URL is not configured.
  fileprivate func link(
    to notification: StoredNotification, _ media: PushedMedia.Description, for profile: String,
    in store: Store, at now: Date
  ) -> MediaLink? {
    link(
      of: notification.id, profile, content: RenditionSource(notification, in: store).content,
      media, expires: notification.expires, at: now)
  }

  fileprivate func link(
    of id: Int, _ profile: String, content: String, _ media: PushedMedia.Description,
    expires: Date?, at now: Date
  ) -> MediaLink? {
    let target = Target(
      id: id, rendition: profile, content: content,
      expires: Self.expiry(of: expires, now: now))
    return url(to: target).map { MediaLink(url: $0, type: media.type, size: media.size) }
  }
}

extension StoredMessage {
  /// The form of its pushes and whether they set a badge, as ``Draft/storedForm`` has them.
  package var pushForm: (form: PushForm?, badge: Bool) {
    let words = form.split(separator: " ")
    return (words.first.flatMap { PushForm(rawValue: String($0)) }, words.contains("badge"))
  }
}
