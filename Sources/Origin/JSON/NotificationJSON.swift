import FoundationEssentials
import Store

extension RichNotification {
  /// The notification as every JSON answer shows it.
  func json(isRead: Bool) -> JSONValue {
    .object([
      "id": .number(Double(id)), "message": .string(message), "richType": .string(richType),
      "payload": .string(payload), "to": .array(to.map(JSONValue.string)), "read": .bool(isRead),
      "created": .time(created), "expires": .time(expires),
      "media": .string("/api/notifications/\(id)"),
      "details": details.flatMap { JSONValue($0.utf8) } ?? .object([:]),
    ])
  }
}

extension Asset {
  /// The asset as every JSON answer shows it, with what its plugin said.
  var json: JSONValue {
    var members: [String: JSONValue] = [:]
    if let details, case .object(let said)? = JSONValue(details.utf8) { members = said }
    members["richType"] = .string(richType)
    members["name"] = .string(name)
    members["state"] = .string(state.rawValue)
    members["reason"] = .optional(reason)
    members["contentType"] = .optional(type)
    members["bytes"] = .number(Double(bytes))
    members["sha256"] = .optional(blob?.hex)
    return .object(members)
  }
}
