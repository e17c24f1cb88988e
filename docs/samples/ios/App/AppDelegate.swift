import RichPushClient
import Shared
import UIKit
import UserNotifications

/// Gets the push token, and what people do with notifications.
final class AppDelegate: NSObject, UIApplicationDelegate, UNUserNotificationCenterDelegate {
  func application(
    _ application: UIApplication,
    didFinishLaunchingWithOptions options: [UIApplication.LaunchOptionsKey: Any]? = nil
  ) -> Bool {
    let center = UNUserNotificationCenter.current()
    center.delegate = self
    center.setNotificationCategories(Set(CategoryDescription.all.map(\.category)))
    if Keychain.savedDevice != nil { application.registerForRemoteNotifications() }
    return true
  }

  func application(
    _ application: UIApplication, didRegisterForRemoteNotificationsWithDeviceToken token: Data
  ) {
    Task {
      do {
        try await Keychain.savedDevice?.register(pushToken: token)
      } catch {
        await MainActor.run { InboxModel.shared.problem = error.localizedDescription }
      }
    }
  }

  func application(
    _ application: UIApplication, didFailToRegisterForRemoteNotificationsWithError error: any Error
  ) {
    InboxModel.shared.problem = error.localizedDescription
  }

  /// Also while the app is open.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, willPresent notification: UNNotification
  ) async -> UNNotificationPresentationOptions {
    await InboxModel.shared.refresh()
    return [.banner, .list, .sound, .badge]
  }

  /// A tap, a button or a reply: reports it, and opens the link.
  func userNotificationCenter(
    _ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse
  ) async {
    guard let client = Keychain.savedDevice?.client else { return }
    let push = PushEvent.Push(userInfo: response.notification.request.content.userInfo)
    try? await client.report(response)
    if response.actionIdentifier == UNNotificationDismissActionIdentifier { return }
    let action = push.message.actions?.first { $0.id == response.actionIdentifier }
    if let id = push.id, action?.dismiss != true { try? await client.markRead(id) }
    let isButton = response.actionIdentifier != UNNotificationDefaultActionIdentifier
    let link = isButton ? action?.link : push.message.link
    if let link, let url = URL(string: link) { await UIApplication.shared.open(url) }
    await InboxModel.shared.refresh()
  }
}

extension CategoryDescription {
  /// As iOS takes it.
  var category: UNNotificationCategory {
    UNNotificationCategory(
      identifier: id, actions: buttons.map(\.action), intentIdentifiers: [],
      options: .customDismissAction)
  }
}

extension ButtonDescription {
  fileprivate var action: UNNotificationAction {
    var options: UNNotificationActionOptions = isDestructive ? [.destructive] : []
    if opensApp { options.insert(.foreground) }
    guard case .ask(let question) = effect else {
      return UNNotificationAction(identifier: id, title: label, options: options)
    }
    return UNTextInputNotificationAction(
      identifier: id, title: label, options: options, textInputButtonTitle: label,
      textInputPlaceholder: question)
  }
}
