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
  /// To how many people a notification may be sent without approval; nil for any number.
  let approveAbove: Int?
  /// Whether users without a password may be addressed.
  let isDemo: Bool
  let exports: Exports

  /// `GET /api/notifications?sent`: the caller's notifications or, for an admin with `sender=*`, all; by page, or as a
  /// table.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("sent", "before", "limit", "sender", "search")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", RequestContext.ids)
    let caller = context.caller
    let isOfAll = try query.isOfAll(for: caller)
    let search = try SearchWords(query["search"] ?? "")
    return try await exports.response(
      context, named: "sent", at: before, limit: limit, largest: 50
    ) { before, limit in
      try await page(
        of: caller, isOfAll: isOfAll, matching: search, before: before, limit: limit)
    }
  }

  private func page(
    of caller: Caller, isOfAll: Bool, matching search: SearchWords, before: Int?, limit: Int
  ) async throws -> SentPage {
    let isAll = search.isEmpty && caller.scope?.to == nil
    let page = PageSearch(before: before, limit: limit, isAll: isAll)
    let (found, next) = try await page.page { before, count in
      try await store.sent.sent(
        by: isOfAll ? nil : caller.id, to: caller.mayPublish ? nil : [caller.ownTag],
        before: before, limit: count)
    } matching: {
      caller.mayAddress($0.notification.to) && (search.isEmpty || search.match($0.texts))
    }
    let now = Date()
    return SentPage(
      notifications: found.map { SentPage.Entry($0, at: now) }, next: next)
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
    if tags.isEmpty, let to = context.caller.scope?.to { tags = to }
    let audience = try Draft.audience(tags)
    try context.caller.requireAddressable(tags)
    try await store.requireFollowable(audience.named?.notification, by: context.caller, "to")
    return .json(
      200,
      try await AudienceSize(
        announcement.size(of: audience), announcement, approveAbove: approveAbove))
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

extension [String: String] {
  /// Whether `sender=*` asks for what everybody has sent, as only an admin may.
  func isOfAll(for caller: Caller) throws -> Bool {
    guard let sender = self["sender"] else { return false }
    guard sender == "*" else { throw ServiceError(.invalidRequest, "sender is *.") }
    try Access.admin.check(caller)
    return true
  }
}

extension Store {
  /// A notification that its sender and admins may still see though it has expired or was withdrawn; nil if there is
  /// none.
  func sentNotification(_ id: Int) async throws -> SentNotification? {
    // A segment or an audience may name any number.
    guard RequestContext.ids.contains(id) else { return nil }
    let found = try await sent.sent(by: nil, before: id + 1, limit: 1).first
    return found?.notification.id == id ? found : nil
  }
}

extension Store {
  /// - Throws: `rejected`, for a member of a request, if the caller may not know who has opened a notification.
  func requireFollowable(
    _ notification: Int?, by caller: Caller, _ member: String
  ) async throws {
    guard let notification else { return }
    let found = try await sentNotification(notification)
    guard let found, caller.controls(found.notification), caller.scope?.readsReceipts ?? true
    else {
      throw ServiceError(
        .init(
          member, .rejected,
          "Of notification \(notification), this account does not see who has opened it."))
    }
  }
}

extension SentNotification: SearchedRow {
  var number: Int { notification.id }

  var texts: [String] {
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
  init(_ sent: SentNotification, at now: Date) {
    let notification = sent.notification
    self.init(
      id: notification.id, message: notification.said,
      richType: notification.media?.richType, payload: notification.media?.payload,
      created: notification.created, audience: notification.to,
      state: sent.state(at: now), counts: sent.counts(at: now))
    (sender, expires) = (sent.sender, notification.expires)
    notBefore = notification.plannedTime
    localTime = notification.localTime.flatMap(LocalTime.init(text:))
    if state == .held { approval = Approval(awaitedBy: notification) }
  }
}
