import FoundationEssentials
import HTTP
import Store

/// `GET /api/notifications/<id>/details`: the JSON form, with what became of the notification.
struct Details: Sendable {
  let store: Store

  /// A recipient sees its own receipt; the sender and an admin see everybody's.
  func get(_ exchange: Exchange) async throws -> Response {
    let (id, caller) = (try exchange.notificationID(), exchange.caller)
    guard let notification = try store.notification(id) else { throw Refusal.noNotification }
    let receipts = try store.receipts(of: id)
    let own = receipts.first { $0.user == caller.name }
    let isOverseer = caller.role == .admin || notification.sender == caller.name
    guard own != nil || isOverseer else { throw Refusal.noNotification }
    guard case .object(var members) = notification.json(isRead: own?.read != nil) else {
      throw Refusal.noNotification
    }
    members["receipts"] = .array(
      receipts.filter { isOverseer || $0.user == caller.name }.map(\.json))
    if isOverseer {
      members["deliveries"] = .array(try store.outbox.deliveries(of: id).map(\.json))
    }
    members["renditions"] = .object(
      Dictionary(
        uniqueKeysWithValues: Profile.all.map {
          ($0.name, .string("/api/notifications/\(id)?profile=\($0.name)"))
        }))
    return .json(200, JSONValue.object(members))
  }
}

extension Delivery {
  /// What became of the push to one device.
  fileprivate var json: JSONValue {
    .object([
      "job": .number(Double(job)), "lane": .string(lane), "user": .optional(user),
      "registration": .optional(registration), "state": .string(state.rawValue),
      "attempts": .number(Double(attempts)), "updated": .time(updated),
      "reference": .optional(reference), "reason": .optional(reason),
    ])
  }
}

extension Receipt {
  /// What one user did with the notification.
  fileprivate var json: JSONValue {
    .object([
      "user": .string(user), "fetched": .time(fetched), "read": .time(read),
      "state": .string(read != nil ? "read" : fetched != nil ? "fetched" : "queued"),
    ])
  }
}
