import Delivery
import FoundationEssentials
import HTTP
import Primitives
import Push
import RichPushAPI
import Store

/// A user's inbox, and what the user changes in it.
struct InboxRoutes: Sendable {
  let store: Store

  /// `GET /api/notifications`: the caller's notifications, newest first.
  func list(_ context: RequestContext) async throws -> Response {
    let query = try context.query("unread", "limit", "before", "subject", "search")
    let limit = try query.number("limit", 1...500) ?? 50
    let before = try query.number("before", RequestContext.ids)
    let unreadOnly = try Self.flag(query, "unread")
    let subject = try query["subject"].map(Self.subject)
    let search = try SearchWords(query["search"] ?? "")
    let (user, languages) = (context.caller.id, context.languages)
    let page = PageSearch(before: before, limit: limit, isAll: subject == nil && search.isEmpty)
    let (found, next) = try await page.page { before, count in
      let entries = try await store.notifications.inbox(
        of: user, unreadOnly: unreadOnly, limit: count, before: before)
      let values = try await store.values(of: entries.map(\.notification), for: user)
      return entries.map { entry in
        let stored = entry.notification
        return RichNotification(
          stored, saying: stored.said(in: languages, values: values[stored.id] ?? [:]),
          isRead: entry.isRead)
      }
    } matching: { notification in
      subject.map { notification.isAbout($0) } ?? true
        && (search.isEmpty || search.match(notification.texts))
    }
    return .json(
      200,
      Inbox(
        notifications: found, unread: try await store.notifications.unreadCount(of: user),
        next: next.map { Self.path(before: $0, limit: limit, query) }),
      fields: ["Vary": "Accept-Language"])
  }

  /// `PUT /api/notifications/<id>/read`.
  func markRead(_ context: RequestContext) async throws -> Response {
    let isRecipient = try await store.notifications.markRead(
      context.notificationID(), user: context.caller.id, device: context.device)
    guard isRecipient else { throw ServiceError.noSuchNotification }
    return .empty(204)
  }

  /// `POST /api/notifications/read`: marks all up to one read.
  func markAllRead(_ context: RequestContext) async throws -> Response {
    let last = try JSONCoding.request(ReadMark.self, from: context.body).until
    guard RequestContext.ids.contains(last) else {
      throw ServiceError(.invalidRequest, "until must be the ID of a notification.")
    }
    let user = context.caller.id
    try await store.notifications.markRead(upTo: last, user: user, device: context.device)
    return .json(200, UnreadCount(unread: try await store.notifications.unreadCount(of: user)))
  }

  /// `PUT /api/notifications/<id>/hidden`: takes it out of the caller's inbox.
  func hide(_ context: RequestContext) async throws -> Response {
    try await setHidden(true, context)
  }

  /// `DELETE /api/notifications/<id>/hidden`: brings it back.
  func bringBack(_ context: RequestContext) async throws -> Response {
    try await setHidden(false, context)
  }

  private func setHidden(_ isHidden: Bool, _ context: RequestContext) async throws -> Response {
    let isRecipient = try await store.notifications.setHidden(
      isHidden, context.notificationID(), user: context.caller.id)
    guard isRecipient else { throw ServiceError.noSuchNotification }
    return .empty(204)
  }

  /// The address of the next page.
  private static func path(before: Int, limit: Int, _ query: [String: String]) -> String {
    ["unread", "subject", "search"].reduce(
      into: "/api/notifications?before=\(before)&limit=\(limit)"
    ) {
      path, name in
      if let value = query[name] { path += "&\(name)=\(PercentEncoding.encode(value))" }
    }
  }

  private static func subject(_ text: String) throws(ServiceError) -> Tag {
    do { return try Tag(text) } catch { throw ServiceError(.invalidRequest, "subject: \(error)") }
  }

  private static func flag(_ query: [String: String], _ name: String) throws(ServiceError) -> Bool {
    switch query[name] {
    case nil, "false", "0": return false
    case "", "true", "1": return true
    default: throw ServiceError(.invalidRequest, "\(name) must be true or false.")
    }
  }
}

extension RichNotification: SearchedRow {
  var number: Int { id }

  var texts: [String] { [message.title ?? "", message.subtitle ?? "", message.text] }

  /// Whether its audience names a tag, and not only those who don't have it.
  fileprivate func isAbout(_ tag: Tag) -> Bool { tag.isNamed(in: to) }
}

extension Tag {
  /// Whether an audience names the tag, and not only those who don't have it.
  func isNamed(in audience: [String]) -> Bool {
    audience.contains { item in
      if item == name { return true }
      guard item.contains(name), let expression = try? TagExpression(item) else { return false }
      return TagPlan(expression).clauses.contains { $0.with.contains(name) }
    }
  }
}
