import RichPushClient
import Shared
import SwiftUI
import UserNotifications

/// The inbox of the device that this phone is.
@MainActor final class InboxModel: ObservableObject {
  static let shared = InboxModel()

  @Published private(set) var device = Keychain.savedDevice
  @Published private(set) var items: [InboxItem] = []
  /// A link that was opened, for which the user has to press a button.
  @Published var offered: PairingLink?
  @Published var problem: String?
  private var last: Inbox?

  var hasMore: Bool { last?.next != nil }

  /// Uses a code. The inbox does not wait for the permission.
  func pair(_ link: PairingLink) async {
    await attempt {
      let device = try await SavedDevice.pair(link, name: UIDevice.current.name)
      try Keychain.save(device)
      self.device = device
      offered = nil
    }
    guard device != nil else { return }
    await refresh()
    await turnPushesOn()
  }

  private func turnPushesOn() async {
    let center = UNUserNotificationCenter.current()
    let isAllowed = try? await center.requestAuthorization(options: [.alert, .badge, .sound])
    if isAllowed == true { UIApplication.shared.registerForRemoteNotifications() }
  }

  func refresh() async {
    guard let client = device?.client else { return }
    await attempt {
      let page = try await client.inbox(limit: 30)
      (last, items) = (page, page.notifications.map(InboxItem.init))
      try await UNUserNotificationCenter.current().setBadgeCount(page.unread ?? 0)
    }
  }

  func loadMore() async {
    guard let client = device?.client, let page = last else { return }
    await attempt {
      guard let next = try await client.page(after: page) else { return }
      last = next
      items += next.notifications.map(InboxItem.init)
    }
  }

  /// A picture as this screen shows it sharp; the fetch is the device's receipt.
  func picture(of item: InboxItem, width: CGFloat, scale: CGFloat) async -> UIImage? {
    let options = MediaOptions(profile: "ios", width: Int(width), scale: Double(scale))
    guard let media = try? await device?.client.media(item.id, options: options) else { return nil }
    return UIImage(data: media.bytes)
  }

  func press(_ button: ButtonDescription, of item: InboxItem, text: String? = nil) async {
    guard let client = device?.client, let interaction = button.interaction(text: text) else {
      return
    }
    await attempt { try await client.report(interaction, of: item.id) }
    if case .open(let url) = button.effect { await UIApplication.shared.open(url) }
  }

  func open(_ item: InboxItem) async {
    guard let client = device?.client else { return }
    if let link = item.link { await UIApplication.shared.open(link) }
    await attempt { try await client.markRead(item.id) }
    await refresh()
  }

  /// Ends the registration, and leaves nothing behind.
  func signOut() async {
    if let device { try? await device.client.unregister(device.id) }
    UIApplication.shared.unregisterForRemoteNotifications()
    let center = UNUserNotificationCenter.current()
    center.removeAllDeliveredNotifications()
    try? await center.setBadgeCount(0)
    Keychain.forget()
    (device, items, last) = (nil, [], nil)
  }

  private func attempt(_ work: () async throws -> Void) async {
    do {
      try await work()
      problem = nil
    } catch {
      problem = (error as? RichPushError)?.reason ?? error.localizedDescription
    }
  }
}
