import FoundationEssentials
import HTTP
import Push
import Store

/// `/api/notifications`: the tutorial's two forms, the JSON form, the inbox and the details.
struct Notifications: Sendable {
  let store: Store
  let publisher: Publisher
  let standard: OriginConfiguration.Standard

  /// Refuses from the query alone: a device may alert itself and nobody else.
  func mayPost(_ exchange: Exchange) throws -> Response? {
    if let user = exchange.request.query["to_tag"] {
      try Self.check(exchange.caller, mayNotify: user == exchange.caller.name)
    }
    return nil
  }

  private static func check(_ caller: Caller, mayNotify isItself: Bool) throws(Refusal) {
    guard caller.mayPublish || isItself else {
      throw Refusal(403, "A device may notify nobody but itself; this takes a publisher.")
    }
  }

  /// `POST /api/notifications`: what the query and the body say decides which of the three it is.
  func post(_ exchange: Exchange) async throws -> Response {
    let query = try exchange.query("pns", "to_tag")
    if let user = query["to_tag"] {
      return try await alert(exchange, pns: query["pns"], user: user)
    }
    guard query["pns"] == nil else { throw Refusal(400, "pns goes with to_tag.") }
    return exchange.body.isEmpty ? try await postStandard(exchange) : try await postJSON(exchange)
  }

  /// The tutorial's "Notify Users": a plain alert from the caller to a user.
  private func alert(_ exchange: Exchange, pns: String?, user: String) async throws -> Response {
    guard let pns, ["apns", "gcm", "wns"].contains(pns.lowercased()) else {
      throw Refusal(400, "pns is one of apns, gcm and wns.")
    }
    guard UserName.isValid(user) else { throw Refusal(400, "to_tag is not a user's name.") }
    guard case .string(let text)? = JSONValue(exchange.body) else {
      throw Refusal(400, "The body is not a JSON string, such as \"Hello\".")
    }
    let push = PushText.plainAlert("From \(exchange.caller.name): \(text)")
    try await publisher.announcement.announce(push, to: user)
    return .empty(200)
  }

  /// The tutorial's "Rich Push": the configured notification, for the caller.
  private func postStandard(_ exchange: Exchange) async throws -> Response {
    let draft = try Draft(
      message: standard.message, richType: standard.richType, payload: standard.payload,
      user: exchange.caller.name)
    _ = try await publisher.publish(draft, sender: exchange.caller.id, request: [])
    return .empty(200)
  }

  private func postJSON(_ exchange: Exchange) async throws -> Response {
    var draft = try Draft(exchange.body, now: Date())
    try draft.takeKey(exchange.request.fields["Idempotency-Key"])
    let caller = exchange.caller
    try Self.check(caller, mayNotify: draft.to == ["username:" + caller.name])
    let published = try await publisher.publish(
      draft, sender: caller.id, request: exchange.body)
    let (notification, reached) = (published.notification, published.addressees)
    return .json(
      published.isNew ? 201 : 200,
      notification.json(isRead: false).with(
        "reach",
        .object([
          "users": .number(Double(reached.users.count)),
          "devices": .number(Double(reached.devices.count)),
        ])),
      fields: ["Location": "/api/notifications/\(notification.id)"])
  }

  /// `PATCH /api/notifications/<id>`: its sender changes what no device has fetched yet.
  func patch(_ exchange: Exchange) async throws -> Response {
    let old = try sent(exchange)
    let draft = try Draft(old, changedBy: exchange.body, now: Date())
    return .json(200, try await publisher.amend(old, as: draft).json(isRead: false))
  }

  /// `DELETE /api/notifications/<id>`: its sender withdraws it; what has not left never will.
  func delete(_ exchange: Exchange) async throws -> Response {
    guard try await store.withdraw(sent(exchange).id) else { throw Refusal.noNotification }
    return .empty(204)
  }

  /// The notification in the path, when it is the caller's to change.
  private func sent(_ exchange: Exchange) throws -> RichNotification {
    let caller = exchange.caller
    guard let notification = try store.notification(exchange.notificationID()),
      notification.sender == caller.id || caller.role == .admin
    else { throw Refusal.noNotification }
    return notification
  }

  /// `GET /api/notifications`: the caller's inbox, the newest first.
  func inbox(_ exchange: Exchange) async throws -> Response {
    let query = try exchange.query("unread", "limit", "before")
    let limit = try Self.number(query, "limit", 1...500) ?? 50
    let before = try Self.number(query, "before", 0...Int(Int32.max))
    let entries = try store.inbox(
      of: exchange.caller.id, unreadOnly: try Self.flag(query, "unread"), limit: limit + 1,
      before: before)
    let page = entries.prefix(limit)
    let next = entries.count > limit ? page.last.map { $0.notification.id } : nil
    return .json(
      200,
      JSONValue.object([
        "unread": .number(Double(try store.unreadCount(of: exchange.caller.id))),
        "notifications": .array(page.map { $0.notification.json(isRead: $0.isRead) }),
        "next": next.map {
          .string(
            "/api/notifications?before=\($0)&limit=\(limit)"
              + (query["unread"].map { "&unread=\($0)" } ?? ""))
        } ?? .null,
      ]))
  }

  /// `PUT /api/notifications/<id>/read`.
  func markRead(_ exchange: Exchange) async throws -> Response {
    let isTheirs = try await store.markRead(
      exchange.notificationID(), user: exchange.caller.id, device: exchange.device)
    guard isTheirs else { throw Refusal.noNotification }
    return .empty(204)
  }

  private static func number(
    _ query: [String: String], _ name: String, _ range: ClosedRange<Int>
  ) throws(Refusal) -> Int? {
    guard let text = query[name] else { return nil }
    guard let number = Int(text), range.contains(number) else {
      throw Refusal(
        400, "\(name) is a whole number from \(range.lowerBound) to \(range.upperBound).")
    }
    return number
  }

  private static func flag(_ query: [String: String], _ name: String) throws(Refusal) -> Bool {
    switch query[name] {
    case nil, "false", "0": return false
    case "", "true", "1": return true
    default: throw Refusal(400, "\(name) is true or false.")
    }
  }
}
