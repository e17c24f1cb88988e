import FoundationEssentials
import Store

extension RichNotification {
  /// The notification as every JSON answer shows it.
  func json(isRead: Bool) -> JSONValue {
    .object([
      "id": .number(Double(id)), "message": .string(message), "richType": .string(richType),
      "payload": .string(payload), "to": .array(to.map(JSONValue.string)), "read": .bool(isRead),
      "created": .time(created), "notBefore": .time(notBefore), "expires": .time(expires),
      "media": .string("/api/notifications/\(id)"),
      "details": details.flatMap { JSONValue($0.utf8) } ?? .object([:]),
    ])
  }
}
