import FoundationEssentials
import PluginHost
import Push

/// A notification that a back end asks for, read and checked as far as its own text goes.
struct Draft: Sendable {
  var message: String
  var richType: String
  var payload: String
  /// Tags, any of which a device must have; or one expression of tags.
  var audience: TagExpression
  /// The audience as its sender wrote it.
  var to: [String]
  var expires: Date?
  var idempotencyKey: String?
  /// What the push looks like that announces it.
  var form = PushForm.silent

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
    let (payload, to) = (try Self.payload(&members), try Self.audience(&members))
    self.message = message
    self.richType = richType
    self.payload = payload
    self.to = to
    audience = try Self.expression(to)
    expires = try members.time("expires")
    idempotencyKey = try members.string("idempotencyKey")
    form = try Self.form(&members)
    try members.finish()
    try check(now: now)
  }

  /// Describes one by hand: for the server's own defaults.
  init(message: String, richType: String, payload: String, user: String) throws(Refusal) {
    (self.message, self.richType, self.payload) = (message, richType, payload)
    to = ["username:" + user]
    audience = try Self.expression(to)
  }

  private func check(now: Date) throws(Refusal) {
    guard message.utf8.count <= Self.longestMessage else {
      throw Refusal(413, "message has more than \(Self.longestMessage) bytes.")
    }
    guard payload.utf8.count <= Self.longestPayload else {
      throw Refusal(413, "payload has more than \(Self.longestPayload) bytes.")
    }
    guard Plugin.isName(richType) else {
      throw Refusal(422, "\(richType.quoted) cannot be a rich type: [a-z][a-z0-9-]{0,31}.")
    }
    if let expires, expires <= now { throw Refusal(400, "expires lies in the past.") }
    if let key = idempotencyKey, !(1...256).contains(key.utf8.count) {
      throw Refusal(400, "idempotencyKey has from 1 to 256 bytes.")
    }
  }

  private static func payload(_ members: inout JSONMembers) throws(Refusal) -> String {
    switch members.take("payload") {
    case .string(let text):
      guard !text.utf8.contains(0) else { throw Refusal(400, "payload holds a NUL character.") }
      return text
    case .object(let object): return JSONValue.object(object).text
    case nil: throw Refusal(400, "payload is missing.")
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

  private static func form(_ members: inout JSONMembers) throws(Refusal) -> PushForm {
    guard let name = try members.string("form") else { return .silent }
    guard let form = PushForm(rawValue: name) else {
      let names = PushForm.allCases.map(\.rawValue).joined(separator: ", ")
      throw Refusal(400, "form is one of \(names), not \(name.quoted).")
    }
    return form
  }

  /// What a push says of the notification with this id.
  func content(_ id: Int) -> PushContent {
    PushContent(id: id, message: message, richType: richType)
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
