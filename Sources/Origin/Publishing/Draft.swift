import FoundationEssentials
import PluginHost
import Push
import Store

/// A notification that a back end asks for, read and checked as far as its own text goes.
struct Draft: Sendable {
  var message: String
  var richType: String
  var payload: String
  /// Tags, any of which a device must have; or one expression of tags.
  var audience: TagExpression
  /// The audience as its sender wrote it.
  var to: [String]
  /// When its recipients get to know of it, if not at once.
  var notBefore: Date?
  var expires: Date?
  var idempotencyKey: String?
  /// What the push looks like that announces it.
  var form = PushForm.silent
  /// Whether it sets the app's icon to the unread count.
  var badge = false

  /// The longest message, in bytes.
  static let longestMessage = 16_384
  /// The longest literal payload, in bytes.
  static let longestPayload = 65_536

  /// Reads the JSON form of `POST /api/notifications`.
  init(_ body: [UInt8], now: Date) throws(Refusal) {
    var members = try JSONMembers(body)
    guard let message = try members.string("message") else {
      throw Refusal(400, "message is missing.")
    }
    guard let richType = try members.string("richType") else {
      throw Refusal(400, "richType is missing.")
    }
    guard let payload = try Self.payload(&members) else {
      throw Refusal(400, "payload is missing.")
    }
    to = try Self.audience(&members)
    (self.message, self.richType, self.payload) = (message, richType, payload)
    audience = try Self.expression(to)
    notBefore = try members.time("notBefore")
    expires = try members.time("expires")
    idempotencyKey = try members.string("idempotencyKey")
    form = try Self.form(&members) ?? .silent
    badge = try members.bool("badge") ?? false
    try members.finish()
    try check(now: now)
  }

  /// A notification with the changes of a JSON merge patch (RFC 7396).
  init(_ old: RichNotification, changedBy body: [UInt8], now: Date) throws(Refusal) {
    var members = try JSONMembers(body)
    guard !members.holds("to"), !members.holds("idempotencyKey") else {
      throw Refusal(400, "The recipients of a notification and its key cannot change.")
    }
    if let name = ["message", "richType", "payload"].first(where: members.isNull) {
      throw Refusal(400, "\(name) can be changed and not removed.")
    }
    message = try members.string("message") ?? old.message
    richType = try members.string("richType") ?? old.richType
    payload = try Self.payload(&members) ?? old.payload
    to = old.to
    audience = try Self.expression(to)
    let isMoved = members.holds("notBefore")
    guard !isMoved || old.isHeld(at: now) else {
      throw Refusal(409, "notBefore cannot change any more: the pushes have left.")
    }
    notBefore = isMoved ? try members.time("notBefore") : old.notBefore
    expires = members.holds("expires") ? try members.time("expires") : old.expires
    let words = old.form.split(separator: " ")
    form = try Self.form(&members) ?? words.first.flatMap { PushForm(rawValue: String($0)) } ?? form
    badge = try members.bool("badge") ?? words.contains("badge")
    try members.finish()
    try check(now: now)
  }

  /// Describes one by hand: for the server's own defaults.
  init(message: String, richType: String, payload: String, user: String) throws(Refusal) {
    (self.message, self.richType, self.payload) = (message, richType, payload)
    to = ["username:" + user]
    audience = try Self.expression(to)
  }

  /// Takes the `Idempotency-Key` field, bare or as a quoted string (RFC 8941 section 3.3.3).
  mutating func takeKey(_ field: String?) throws(Refusal) {
    guard let field else { return }
    let isQuoted = field.count >= 2 && field.hasPrefix("\"") && field.hasSuffix("\"")
    let key = isQuoted ? String(field.dropFirst().dropLast()) : field
    guard idempotencyKey == nil || idempotencyKey == key else {
      throw Refusal(400, "Idempotency-Key and idempotencyKey differ.")
    }
    idempotencyKey = key
    try checkKey()
  }

  private func checkKey() throws(Refusal) {
    if let key = idempotencyKey, !(1...256).contains(key.utf8.count) {
      throw Refusal(400, "An idempotency key has from 1 to 256 bytes.")
    }
  }

  private func check(now: Date) throws(Refusal) {
    guard message.utf8.count <= Self.longestMessage else {
      throw Refusal(413, "message has more than \(Self.longestMessage) bytes.")
    }
    guard form == .silent || form == .legacy || message.contains(where: { !$0.isWhitespace }) else {
      throw Refusal(400, "message is empty, and the form \(form.rawValue) would show it.")
    }
    guard payload.utf8.count <= Self.longestPayload else {
      throw Refusal(413, "payload has more than \(Self.longestPayload) bytes.")
    }
    guard Plugin.isName(richType) else {
      throw Refusal(422, "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    }
    if let expires, expires <= now { throw Refusal(400, "expires lies in the past.") }
    if let expires, let notBefore, expires <= notBefore {
      throw Refusal(400, "expires is not later than notBefore.")
    }
    try checkKey()
  }

  private static func payload(_ members: inout JSONMembers) throws(Refusal) -> String? {
    switch members.take("payload") {
    case .string(let text):
      guard !text.utf8.contains(0) else { throw Refusal(400, "payload holds a NUL character.") }
      return text
    case .object(let object): return JSONValue.object(object).text
    case nil: return nil
    default: throw Refusal(400, "payload is a string (an asset's name, a link) or an object.")
    }
  }

  private static func audience(_ members: inout JSONMembers) throws(Refusal) -> [String] {
    switch members.take("to") {
    case .string(let expression): return [expression]
    case .array(let items):
      let tags = try JSONMembers.strings(items, "to")
      guard !tags.isEmpty else { throw Refusal(400, "to names nobody.") }
      return tags
    case nil: throw Refusal(400, "to is missing: such as [\"username:alice\"].")
    default: throw Refusal(400, "to is an array of tags, or a tag expression.")
    }
  }

  private static func form(_ members: inout JSONMembers) throws(Refusal) -> PushForm? {
    guard let name = try members.string("form") else { return nil }
    guard let form = PushForm(rawValue: name) else {
      let names = PushForm.allCases.map(\.rawValue).joined(separator: ", ")
      throw Refusal(400, "form is one of \(names), not \(name.quoted).")
    }
    return form
  }

  /// The form with what belongs to it, as the store keeps it.
  var storedForm: String { form.rawValue + (badge ? " badge" : "") }

  /// What a push says of the notification with this id.
  func content(_ id: Int, media: MediaLink?) -> PushContent {
    PushContent(
      id: id, message: message, richType: richType, media: media, countsUnread: badge)
  }

  private static func expression(_ to: [String]) throws(Refusal) -> TagExpression {
    do {
      return to.count == 1
        ? try TagExpression(to[0]) : try TagExpression(anyOf: to.map { tag in try Tag(tag) })
    } catch {
      throw Refusal(400, "to cannot be read: \(error)")
    }
  }
}
