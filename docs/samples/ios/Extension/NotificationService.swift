import RichPushClient
import Shared
import UserNotifications

/// Completes each push before iOS shows it: its buttons, the texts of a private one, and the media.
final class NotificationService: UNNotificationServiceExtension {
  private var task: Task<Void, Never>?

  override func didReceive(
    _ request: UNNotificationRequest,
    withContentHandler show: @escaping (UNNotificationContent) -> Void
  ) {
    guard let content = request.content.mutableCopy() as? UNMutableNotificationContent,
      let device = Keychain.savedDevice,
      let id = PushEvent.Push(userInfo: content.userInfo).id
    else { return show(request.content) }
    let hasMedia = PushEvent.Push(userInfo: content.userInfo).richType != nil
    task = Task {
      await device.client.complete(content)
      if hasMedia, let file = try? await device.attachment(of: id),
        let attachment = try? UNNotificationAttachment(identifier: "media", url: file)
      {
        content.attachments = [attachment]
      }
      show(content)
    }
  }

  // iOS shows what the push itself has.
  override func serviceExtensionTimeWillExpire() { task?.cancel() }
}
