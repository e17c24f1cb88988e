package import FoundationEssentials
import PluginHost
import Push
package import RichPushAPI
package import Store

/// A request for a notification, parsed and checked without the store and plugins.
package struct Draft: Sendable {
  package var message: String
  var richType: String
  var payload: String
  /// Tags, of which a device must have at least one; or one tag expression.
  var audience: TagExpression
  /// The audience as the sender wrote it.
  package var to: [String]
  /// When it is announced, if not at once.
  var notBefore: Date?
  var expires: Date?
  /// Identifies repetitions of a request (`Idempotency-Key`).
  package var idempotencyKey: String?
  /// The form of the push that announces it.
  var form = AnnouncementForm.silent
  /// Whether it sets the app's icon to the unread count.
  var badge = false

  /// The longest message, in bytes.
  static let longestMessage = 16_384
  /// The longest literal payload, in bytes.
  static let longestPayload = 65_536

  /// The members of the JSON form.
  private static let fields = [
    "message", "richType", "payload", "to", "notBefore", "expires", "form", "badge",
    "idempotencyKey",
  ]

  /// Reads the JSON form of `POST /api/notifications`.
  package init(_ body: [UInt8], now: Date) throws(ServiceError) {
    var members = try JSONMembers(body, known: Self.fields)
    guard let message = try members.string("message") else {
      throw ServiceError(.invalidRequest, "message is missing.")
    }
    guard let richType = try members.string("richType") else {
      throw ServiceError(.invalidRequest, "richType is missing.")
    }
    guard let payload = try Self.payload(&members) else {
      throw ServiceError(.invalidRequest, "payload is missing.")
    }
    to = try Self.audience(&members)
    (self.message, self.richType, self.payload) = (message, richType, payload)
    audience = try Self.expression(to)
    notBefore = try members.time("notBefore")
    expires = try members.time("expires")
    idempotencyKey = try members.string("idempotencyKey")
    form = try Self.form(&members) ?? .silent
    badge = try members.bool("badge") ?? false
    try check(now: now)
  }

  /// A notification, changed by a JSON merge patch (RFC 7396).
  package init(_ old: StoredNotification, changedBy body: [UInt8], now: Date) throws(ServiceError) {
    var members = try JSONMembers(body, known: Self.fields)
    guard !members.holds("to"), !members.holds("idempotencyKey") else {
      throw ServiceError(
        .invalidRequest,
        "The recipients and the idempotency key of a notification cannot be changed.")
    }
    if let name = ["message", "richType", "payload"].first(where: members.isNull) {
      throw ServiceError(.invalidRequest, "\(name) can be changed, but not removed.")
    }
    message = try members.string("message") ?? old.message
    richType = try members.string("richType") ?? old.richType
    payload = try Self.payload(&members) ?? old.payload
    to = old.to
    audience = try Self.expression(to)
    let isMoved = members.holds("notBefore")
    guard !isMoved || old.isHeld(at: now) else {
      throw ServiceError(
        .conflict, "notBefore cannot be changed any more: the pushes have been sent.")
    }
    notBefore = isMoved ? try members.time("notBefore") : old.notBefore
    expires = members.holds("expires") ? try members.time("expires") : old.expires
    let words = old.form.split(separator: " ")  // see storedForm
    form =
      try Self.form(&members) ?? words.first.flatMap { AnnouncementForm(rawValue: String($0)) }
      ?? form
    badge = try members.bool("badge") ?? words.contains("badge")
    try check(now: now)
  }

  /// A notification for one user.
  package init(message: String, richType: String, payload: String, user: String)
    throws(ServiceError)
  {
    (self.message, self.richType, self.payload) = (message, richType, payload)
    to = ["username:" + user]
    audience = try Self.expression(to)
  }

  /// Sets the key to the field's value, bare or a quoted string (RFC 8941, section 3.3.3).
  package mutating func setIdempotencyKey(_ field: String?) throws(ServiceError) {
    guard let field else { return }
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard idempotencyKey == nil || idempotencyKey == key else {
      throw ServiceError(.rejected, "Idempotency-Key and idempotencyKey differ.")
    }
    idempotencyKey = key
    try checkKey()
  }

  private func checkKey() throws(ServiceError) {
    if let key = idempotencyKey, !(1...256).contains(key.utf8.count) {
      throw ServiceError(.invalidRequest, "An idempotency key has from 1 to 256 bytes.")
    }
  }

  private func check(now: Date) throws(ServiceError) {
    guard message.utf8.count <= Self.longestMessage else {
      throw ServiceError(.tooLarge, "message has more than \(Self.longestMessage) bytes.")
    }
    guard form == .silent || form == .legacy || message.contains(where: { !$0.isWhitespace }) else {
      throw ServiceError(
        .rejected, "message is empty, but the form \(form.rawValue) shows it.")
    }
    guard payload.utf8.count <= Self.longestPayload else {
      throw ServiceError(.tooLarge, "payload has more than \(Self.longestPayload) bytes.")
    }
    guard Plugin.isValidName(richType) else {
      throw ServiceError(
        .rejected, "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    }
    if let expires, expires <= now { throw ServiceError(.rejected, "expires is in the past.") }
    if let expires, let notBefore, expires <= notBefore {
      throw ServiceError(.rejected, "expires is not later than notBefore.")
    }
    try checkKey()
  }

  private static func payload(_ members: inout JSONMembers) throws(ServiceError) -> String? {
    switch members.take("payload") {
    case .string(let text):
      guard !text.utf8.contains(0) else {
        throw ServiceError(.rejected, "payload holds a NUL character.")
      }
      return text
    case .object(let object): return JSON.object(object).text
    case nil: return nil
    default:
      throw ServiceError(
        .invalidRequest, "payload is a string (an asset's name, a link) or an object.")
    }
  }

  private static func audience(_ members: inout JSONMembers) throws(ServiceError) -> [String] {
    switch members.take("to") {
    case .string(let expression): return [expression]
    case .array(let items):
      let tags = try JSONMembers.strings(items, "to")
      guard !tags.isEmpty else { throw ServiceError(.invalidRequest, "to is empty.") }
      return tags
    case nil: throw ServiceError(.invalidRequest, "to is missing, such as [\"username:alice\"].")
    default: throw ServiceError(.invalidRequest, "to is an array of tags or a tag expression.")
    }
  }

  private static func form(_ members: inout JSONMembers) throws(ServiceError) -> AnnouncementForm? {
    guard let name = try members.string("form") else { return nil }
    guard let form = AnnouncementForm(rawValue: name) else {
      let names = AnnouncementForm.allCases.map(\.rawValue).joined(separator: ", ")
      throw ServiceError(.invalidRequest, "form is one of \(names), not \(name.quoted).")
    }
    return form
  }

  /// The error if `to` matches nobody; `unknown` are the users in it that do not exist.
  func noRecipientsError(_ unknown: [String]) -> ServiceError {
    if let user = unknown.first {
      return ServiceError(.noRecipients, "There is no user \(user.quoted).")
    }
    let tags = to.count > 3 ? "these \(to.count) tags" : to.map(\.quoted).joined(separator: " or ")
    let hint = to.first(where: UserName.isValid).map { " For one user write username:\($0)." }
    return ServiceError(.noRecipients, "Nobody matches \(tags)." + (hint ?? ""))
  }

  /// The form and the badge, as stored.
  var storedForm: String { form.rawValue + (badge ? " badge" : "") }

  /// The content of the push for the notification with this ID.
  func content(_ id: Int, media: MediaLink?) -> AnnouncementContent {
    AnnouncementContent(
      id: id, message: message, richType: richType, media: media, countsUnread: badge)
  }

  private static func expression(_ to: [String]) throws(ServiceError) -> TagExpression {
    do {
      return to.count == 1
        ? try TagExpression(to[0]) : try TagExpression(anyOf: to.map { tag in try Tag(tag) })
    } catch {
      throw ServiceError(.rejected, "to is not valid: \(error)")
    }
  }
}

extension StoredNotification {
  /// The notification in every JSON response.
  package func json(isRead: Bool) -> JSON {
    .object([
      "id": .number(Double(id)), "message": .string(message), "richType": .string(richType),
      "payload": .string(payload), "to": .array(to.map(JSON.string)), "read": .bool(isRead),
      "created": .time(created), "notBefore": .time(notBefore), "expires": .time(expires),
      "media": .string("/api/notifications/\(id)"),
      "details": details.flatMap { JSON($0.utf8) } ?? .object([:]),
    ])
  }
}
