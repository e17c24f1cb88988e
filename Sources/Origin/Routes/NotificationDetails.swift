import Delivery
import Media
import RichPushAPI
import FoundationEssentials
import HTTP
import PluginHost
import Store

/// `GET /api/notifications/<id>/details`: the JSON form, with receipts and deliveries.
struct NotificationDetails: Sendable {
  let store: Store
  let host: PluginHost
  let links: MediaLinks

  /// A recipient gets its own receipt; the sender and an admin get all receipts.
  ///
  /// `?link=w640` adds a link to that rendition; the plugin's own options may follow, as in
  /// `?link=w640;page=2`.
  func get(_ context: RequestContext) async throws -> Response {
    let link = try context.query("link")["link"]
    let (id, caller) = (try context.notificationID(), context.caller)
    guard let notification = try await store.notifications.notification(id) else {
      throw ServiceError.noSuchNotification
    }
    let receipts = try await store.notifications.receipts(of: id)
    let own = receipts.first { $0.userID == caller.id }
    let seesAll = caller.role == .admin || notification.sender == caller.id
    guard seesAll || own != nil && !notification.isHeld(at: Date()) else {
      throw ServiceError.noSuchNotification
    }
    let requested = try link.map { name in
      let keys = host.plugin(notification.richType)?.manifest.query ?? []
      return try RenditionOptions(name: name, declaring: keys).name
    }
    guard case .object(var members) = notification.json(isRead: own?.read != nil) else {
      throw ServiceError.noSuchNotification
    }
    let devices = Dictionary(
      grouping: try await store.notifications.deviceReceipts(of: id), by: \.user)
    members["receipts"] = .array(
      receipts.filter { seesAll || $0.userID == caller.id }
        .map { $0.json(with: $0.user.flatMap { devices[$0] } ?? []) })
    if seesAll {
      let byUser = Dictionary(receipts.map { ($0.user ?? "", $0) }) { $1 }
      members["deliveries"] = .array(
        try await store.outbox.deliveries(of: id).map { delivery in
          let user = delivery.user ?? ""
          return delivery.json(with: byUser[user], devices[user] ?? [])
        })
    }
    members["renditions"] = .object(
      Dictionary(
        uniqueKeysWithValues: Profile.all.map {
          ($0.name, .string("/api/notifications/\(id)?profile=\($0.name)"))
        }))
    members["links"] = mediaLinks(to: notification, and: requested)
    return .json(200, JSON.object(members))
  }

  /// Signed links to the renditions, by name.
  private func mediaLinks(to notification: StoredNotification, and requested: String?) -> JSON {
    let names = ["original"] + Profile.all.map(\.name) + [requested].compactMap(\.self)
    let content = RenditionSource(notification, in: store).content
    let expires = MediaLinks.expiry(of: notification.expires, now: Date())
    return .object(
      names.reduce(into: [:]) { members, name in
        let target = MediaLinks.Target(
          id: notification.id, rendition: name, content: content, expires: expires)
        members[name] = .string(links.url(to: target) ?? links.path(to: target))
      })
  }
}

extension JobRecord {
  /// The state of the push to one device: fetched or read, once it has been sent.
  ///
  /// If no device of the user identifies itself, each of them has the user's state.
  fileprivate func json(with receipt: Receipt?, _ devices: [DeviceReceipt]) -> JSON {
    let own = devices.first { $0.registration == registration }
    let seen = devices.isEmpty ? receipt?.seen : own?.seen
    return .object([
      "job": .number(Double(job)), "lane": .string(lane), "user": .optional(user),
      "registration": .optional(registration),
      "state": .string(state == .sent ? seen ?? state.rawValue : state.rawValue),
      "attempts": .number(Double(attempts)), "updated": .time(updated),
      "reference": .optional(reference), "reason": .optional(reason),
    ])
  }
}

extension Receipt {
  /// The state for one user, in total and on each device that identifies itself.
  fileprivate func json(with devices: [DeviceReceipt]) -> JSON {
    .object([
      "user": .optional(user), "sent": .time(sent), "fetched": .time(fetched),
      "read": .time(read),
      "state": .string(seen ?? (sent == nil ? "queued" : "sent")),
      "devices": .array(devices.map(\.json)),
    ])
  }

  fileprivate var seen: String? { seenState(fetched: fetched, read: read) }
}

extension DeviceReceipt {
  fileprivate var json: JSON {
    .object([
      "registration": .string(registration), "fetched": .time(fetched), "read": .time(read),
      "state": .string(seen ?? "sent"),
    ])
  }

  fileprivate var seen: String? { seenState(fetched: fetched, read: read) }
}

/// The state of a notification that a user or a device has fetched or read; nil for neither.
private func seenState(fetched: Date?, read: Date?) -> String? {
  read != nil ? "read" : fetched != nil ? "fetched" : nil
}
