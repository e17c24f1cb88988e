import FoundationEssentials
package import RichPushAPI
package import Store

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
