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
    var details = RichNotification(notification, isRead: own?.read != nil)
    let devices = Dictionary(
      grouping: try await store.notifications.deviceReceipts(of: id), by: \.user)
    details.receipts = receipts.filter { seesAll || $0.userID == caller.id }
      .map { $0.message(with: $0.user.flatMap { devices[$0] } ?? []) }
    if seesAll {
      details.counts = try await store.sent.counts(of: id).map(DeliveryCounts.init)
      let byUser = Dictionary(receipts.map { ($0.user ?? "", $0) }) { $1 }
      details.deliveries = try await store.outbox.deliveries(of: id).map { delivery in
        let user = delivery.user ?? ""
        return delivery.message(with: byUser[user], devices[user] ?? [])
      }
    }
    details.renditions = Dictionary(
      uniqueKeysWithValues: Profile.all.map {
        ($0.name, "/api/notifications/\(id)?profile=\($0.name)")
      })
    details.links = mediaLinks(to: notification, and: requested)
    return .json(200, details)
  }

  /// Signed links to the renditions, by name.
  private func mediaLinks(
    to notification: StoredNotification, and requested: String?
  ) -> [String: String] {
    let names = ["original"] + Profile.all.map(\.name) + [requested].compactMap(\.self)
    let content = RenditionSource(notification, in: store).content
    let expires = MediaLinks.expiry(of: notification.expires, now: Date())
    return names.reduce(into: [:]) { members, name in
      let target = MediaLinks.Target(
        id: notification.id, rendition: name, content: content, expires: expires)
      members[name] = links.url(to: target) ?? links.path(to: target)
    }
  }
}

extension JobRecord {
  /// The state of the push to one device: fetched or read, once it has been sent.
  ///
  /// If no device of the user identifies itself, each of them has the user's state.
  fileprivate func message(
    with receipt: Receipt?, _ devices: [DeviceReceipt]
  ) -> RichNotification.Delivery {
    let own = devices.first { $0.registration == registration }
    let seen = devices.isEmpty ? receipt?.seen : own?.seen
    return RichNotification.Delivery(
      job: job, lane: lane, user: user, registration: registration,
      state: state == .sent ? seen ?? state.rawValue : state.rawValue, attempts: attempts,
      updated: updated, reference: reference, reason: reason)
  }
}

extension Receipt {
  /// The state for one user, in total and on each device that identifies itself.
  fileprivate func message(with devices: [DeviceReceipt]) -> RichNotification.Receipt {
    RichNotification.Receipt(
      user: user, state: seen ?? (sent == nil ? "queued" : "sent"), sent: sent, fetched: fetched,
      read: read,
      devices: devices.map {
        RichNotification.Receipt.Device(
          registration: $0.registration, state: $0.seen ?? "sent", fetched: $0.fetched,
          read: $0.read)
      })
  }

  fileprivate var seen: String? { seenState(fetched: fetched, read: read) }
}

extension DeviceReceipt {
  fileprivate var seen: String? { seenState(fetched: fetched, read: read) }
}

/// The state of a notification that a user or a device has fetched or read; nil for neither.
private func seenState(fetched: Date?, read: Date?) -> String? {
  read != nil ? "read" : fetched != nil ? "fetched" : nil
}
