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

  /// A recipient sees its own receipt; the sender and an admin see everybody's.
  ///
  /// `?link=w640` adds a link for that rendition to those of the profiles; options that the plugin
  /// declares follow it.
  func get(_ context: RequestContext) async throws -> Response {
    let link = try context.query("link")["link"]
    let (id, caller) = (try context.notificationID(), context.caller)
    guard let notification = try store.notification(id) else {
      throw ServiceError.noSuchNotification
    }
    let receipts = try store.receipts(of: id)
    let own = receipts.first { $0.userID == caller.id }
    let isOverseer = caller.role == .admin || notification.sender == caller.id
    guard isOverseer || own != nil && !notification.isHeld(at: Date()) else {
      throw ServiceError.noSuchNotification
    }
    let wanted = try link.map { name in
      let keys = host.plugin(notification.richType)?.manifest.query ?? []
      return try RenditionOptions(name: name, declaring: keys).name
    }
    guard case .object(var members) = notification.json(isRead: own?.read != nil) else {
      throw ServiceError.noSuchNotification
    }
    let devices = Dictionary(grouping: try store.deviceReceipts(of: id), by: \.user)
    members["receipts"] = .array(
      receipts.filter { isOverseer || $0.userID == caller.id }
        .map { $0.json(with: $0.user.flatMap { devices[$0] } ?? []) })
    if isOverseer {
      let byUser = Dictionary(receipts.map { ($0.user ?? "", $0) }) { $1 }
      members["deliveries"] = .array(
        try store.outbox.deliveries(of: id).map { delivery in
          let user = delivery.user ?? ""
          return delivery.json(with: byUser[user], devices[user] ?? [])
        })
    }
    members["renditions"] = .object(
      Dictionary(
        uniqueKeysWithValues: Profile.all.map {
          ($0.name, .string("/api/notifications/\(id)?profile=\($0.name)"))
        }))
    members["links"] = addresses(of: notification, and: wanted)
    return .json(200, JSON.object(members))
  }

  /// Links to the renditions that need no password, by name.
  private func addresses(of notification: StoredNotification, and wanted: String?) -> JSON {
    let names = ["original"] + Profile.all.map(\.name) + (wanted.map { [$0] } ?? [])
    let content = RenditionSource(notification, in: store).content
    let expires = MediaLinks.expiry(of: notification.expires, now: Date())
    return .object(
      names.reduce(into: [:]) { members, name in
        let place = MediaLinks.Target(
          id: notification.id, rendition: name, content: content, expires: expires)
        members[name] = .string(links.url(to: place) ?? links.path(to: place))
      })
  }
}

extension JobRecord {
  /// The state of the push to one device, and what was done with it there.
  ///
  /// If no device of the user identifies itself, the user's state is shown for each of them.
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
  /// What one user did with the notification, in total and on each device that identifies itself.
  fileprivate func json(with devices: [DeviceReceipt]) -> JSON {
    .object([
      "user": .optional(user), "sent": .time(sent), "fetched": .time(fetched),
      "read": .time(read),
      "state": .string(seen ?? (sent == nil ? "queued" : "sent")),
      "devices": .array(devices.map(\.json)),
    ])
  }

  /// What the user did with it, if anything.
  fileprivate var seen: String? { read != nil ? "read" : fetched != nil ? "fetched" : nil }
}

extension DeviceReceipt {
  fileprivate var json: JSON {
    .object([
      "registration": .string(registration), "fetched": .time(fetched), "read": .time(read),
      "state": .string(seen ?? "sent"),
    ])
  }

  /// What was done there, if anything.
  fileprivate var seen: String? { read != nil ? "read" : fetched != nil ? "fetched" : nil }
}
