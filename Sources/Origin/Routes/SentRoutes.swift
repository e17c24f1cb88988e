import Delivery
import FoundationEssentials
import HTTP
import Push
import RichPushAPI
import Store

/// What a publisher has sent, and how many an audience has.
struct SentRoutes: Sendable {
  let store: Store
  let announcement: Announcement
  /// Whether users without a password may be addressed.
  let isDemo: Bool
  /// The most bytes that one search looks at, with some for each notification; the client goes on at `next`.
  private static let searched = 4_000_000

  /// `GET /api/notifications?sent`: the caller's notifications or, for an admin with `sender=*`, all.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("sent", "before", "limit", "sender", "search")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", RequestContext.ids)
    let caller = context.caller
    if let sender = query["sender"] {
      guard sender == "*" else { throw ServiceError(.invalidRequest, "sender is *.") }
      try Access.admin.check(caller)
    }
    let (found, next) = try await page(
      of: caller, isOfAll: query["sender"] != nil, before: before, limit: limit,
      search: try SearchWords(query["search"] ?? ""))
    let now = Date()
    return .json(
      200,
      SentPage(
        notifications: found.map { SentPage.Entry($0, at: now) }, next: next))
  }

  /// The newest notifications that have all words, and the `before` of the next page.
  private func page(
    of caller: Caller, isOfAll: Bool, before: Int?, limit: Int, search: SearchWords
  ) async throws -> (found: [SentNotification], next: Int?) {
    var (found, last, remaining) = ([SentNotification](), before, Self.searched)
    while true {
      let count = search.isEmpty ? limit + 1 : 100
      let rows = try await store.sent.sent(
        by: isOfAll ? nil : caller.id, to: caller.mayPublish ? nil : [caller.ownTag],
        before: last, limit: count)
      for sent in rows {
        if found.count == limit { return (found, last) }
        if search.isEmpty || search.match(sent.texts) { found.append(sent) }
        last = sent.notification.id
        remaining -= sent.texts.reduce(500) { $0 + $1.utf8.count }
      }
      if rows.count < count { return (found, nil) }
      if remaining <= 0 { return (found, last) }
    }
  }

  /// `GET /api/audience`: how many users and devices an audience has now.
  func audience(_ context: RequestContext) async throws -> Response {
    var tags: [String] = []
    for (name, value) in context.request.query.items {
      guard name == "to" else {
        throw ServiceError(unknown: "query parameter", name, among: ["to"])
      }
      tags.append(value)
    }
    let expression = try Draft.audience(tags)
    return .json(200, try await AudienceSize(announcement.size(of: expression)))
  }

  /// `GET /api/audience/names`: the first users and tags whose names begin with a text.
  func names(_ context: RequestContext) async throws -> Response {
    let query = try context.query("prefix", "limit")
    let limit = try query.number("limit", 1...100) ?? 20
    let prefix = query["prefix"] ?? ""
    guard prefix.utf8.count <= 480, !prefix.utf8.contains(0) else {
      throw ServiceError(.invalidRequest, "prefix must be the beginning of a name.")
    }
    let (users, tags) = try await store.accounts.names(
      startingWith: prefix, includingPasswordless: isDemo, limit: limit)
    return .json(200, AudienceNames(users: users, tags: tags))
  }
}

extension Store {
  /// A notification that its sender and admins may still see though it has expired or was withdrawn; nil if there is
  /// none.
  func sentNotification(_ id: Int) async throws -> SentNotification? {
    let found = try await sent.sent(by: nil, before: id + 1, limit: 1).first
    return found?.notification.id == id ? found : nil
  }
}

extension SentNotification {
  /// Where a search looks for its words.
  fileprivate var texts: [String] {
    [notification.message, notification.said.title ?? "", notification.payload] + notification.to
  }

  /// What has become of it.
  func state(at now: Date) -> SentPage.Entry.State {
    if withdrawn != nil { return .withdrawn }
    if notification.expires.map({ $0 <= now }) == true { return .expired }
    if notification.held != nil { return .held }
    return notification.isHeld(at: now) ? .scheduled : .sent
  }

  /// How far it has come: nothing waits of one that has ended.
  func counts(at now: Date) -> DeliveryCounts {
    DeliveryCounts(counts, hasEnded: [.withdrawn, .expired].contains(state(at: now)))
  }
}

extension SentPage.Entry {
  fileprivate init(_ sent: SentNotification, at now: Date) {
    let notification = sent.notification
    self.init(
      id: notification.id, message: notification.said,
      richType: notification.media?.richType, payload: notification.media?.payload,
      created: notification.created, audience: notification.to,
      state: sent.state(at: now), counts: sent.counts(at: now))
    (sender, expires) = (sent.sender, notification.expires)
    notBefore = notification.held ?? notification.notBefore
  }
}
