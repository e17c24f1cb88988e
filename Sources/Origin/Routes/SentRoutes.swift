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

  /// `GET /api/notifications?sent`: the caller's notifications or, for an admin with `sender=*`, all.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("sent", "before", "limit", "sender")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", 0...Int(Int32.max))
    let caller = context.caller
    if let sender = query["sender"] {
      guard sender == "*" else { throw ServiceError(.invalidRequest, "sender is *.") }
      try Access.admin.check(caller)
    }
    let found = try await store.sent.sent(
      by: query["sender"] == nil ? caller.id : nil, to: caller.mayPublish ? nil : [caller.ownTag],
      before: before, limit: limit + 1)
    let page = found.prefix(limit)
    let now = Date()
    return .json(
      200,
      SentPage(
        notifications: page.map { SentPage.Entry($0, at: now) },
        next: found.count > limit ? page.last?.notification.id : nil))
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
}

extension SentPage.Entry {
  fileprivate init(_ sent: SentNotification, at now: Date) {
    let notification = sent.notification
    let state: State =
      if sent.withdrawn != nil {
        .withdrawn
      } else if notification.expires.map({ $0 <= now }) == true {
        .expired
      } else if notification.held != nil {
        .held
      } else {
        notification.isHeld(at: now) ? .scheduled : .sent
      }
    self.init(
      id: notification.id, message: notification.message, richType: notification.richType,
      payload: notification.payload, created: notification.created, audience: notification.to,
      state: state, counts: DeliveryCounts(sent.counts))
    (sender, expires) = (sent.sender, notification.expires)
    notBefore = notification.held ?? notification.notBefore
  }
}
