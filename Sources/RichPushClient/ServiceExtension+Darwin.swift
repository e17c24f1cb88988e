#if canImport(UserNotifications) && !os(tvOS)
  import Foundation
  public import UserNotifications
  import RichPushAPI

  extension PushEvent.Push {
    /// Parses what iOS or macOS gave to an app or its extension: `response.notification.request.content.userInfo` has
    /// the link that a tap opens, and the buttons.
    ///
    /// ```swift
    /// let push = PushEvent.Push(userInfo: content.userInfo)
    /// let action = push.message.actions?.first { $0.id == response.actionIdentifier }
    /// if let link = action?.link ?? push.message.link { open(link) }
    /// ```
    public init(userInfo: [AnyHashable: Any]) {
      let isJSON = JSONSerialization.isValidJSONObject(userInfo)
      let text = isJSON ? try? JSONSerialization.data(withJSONObject: userInfo) : nil
      self.init(text.flatMap { JSONValue($0) } ?? .null)
    }
  }

  extension RichPushClient {
    /// Completes a push in a notification service extension, before the extension shows it: registers its buttons,
    /// fetches the texts of a private notification, and reports that it is displayed.
    ///
    /// Media is attached by the extension itself (``download(_:options:)``). Without a connection a private
    /// notification keeps its neutral text.
    ///
    /// ```swift
    /// await client.complete(content)
    /// show(content)
    /// ```
    public func complete(_ content: UNMutableNotificationContent) async {
      let push = PushEvent.Push(userInfo: content.userInfo)
      if let actions = push.message.actions, content.categoryIdentifier.hasPrefix("richpush-") {
        await UNNotificationCategory.register(content.categoryIdentifier, actions)
      }
      guard let id = push.id else { return }
      async let isReported: Void? = try? report(.displayed, of: id)
      if !push.hasTexts, let found = try? await details(id) {
        content.title = found.message.title ?? ""
        content.subtitle = found.message.subtitle ?? ""
        content.body = found.message.text
      }
      await isReported
    }
  }

  extension RichPushClient {
    /// Reports what the user did with a notification: opened or dismissed it, pressed one of its buttons or replied.
    ///
    /// Call it in the app's `userNotificationCenter(_:didReceive:)`, and open the link afterwards.
    ///
    /// ```swift
    /// func userNotificationCenter(_ center: UNUserNotificationCenter, didReceive response: UNNotificationResponse) async {
    ///   try? await client.report(response)
    /// }
    /// ```
    public func report(_ response: UNNotificationResponse) async throws {
      let push = PushEvent.Push(userInfo: response.notification.request.content.userInfo)
      guard let id = push.id else { return }
      let action = response.actionIdentifier
      let interaction: Interaction =
        switch action {
        case UNNotificationDefaultActionIdentifier: .opened
        case UNNotificationDismissActionIdentifier: .dismissed
        default:
          if let text = (response as? UNTextInputNotificationResponse)?.userText {
            .reply(text, to: action)
          } else {
            .action(action)
          }
        }
      try await report(interaction, of: id)
    }
  }

  extension UNNotificationCategory {
    /// Adds the category of a notification's buttons to those of the app, and removes those that no notification on
    /// the device has any more.
    fileprivate static func register(_ identifier: String, _ actions: [MessageAction]) async {
      let center = UNUserNotificationCenter.current()
      let shown = await center.deliveredNotifications().map(\.request.content.categoryIdentifier)
      let kept = await center.notificationCategories().filter {
        !$0.identifier.hasPrefix("richpush-") || shown.contains($0.identifier)
      }
      let category = UNNotificationCategory(
        identifier: identifier, actions: actions.map(\.button), intentIdentifiers: [],
        // So that the app learns of it.
        options: .customDismissAction)
      center.setNotificationCategories(
        kept.filter { $0.identifier != identifier }.union([category]))
      // They are set in the background; what reads them has to wait for that.
      _ = await center.notificationCategories()
    }
  }

  extension MessageAction {
    /// As a button of iOS or macOS; one with a link opens the app, which opens the link.
    fileprivate var button: UNNotificationAction {
      var options: UNNotificationActionOptions = destructive == true ? [.destructive] : []
      if link != nil { options.insert(.foreground) }
      guard let input else {
        return UNNotificationAction(identifier: id, title: label, options: options)
      }
      return UNTextInputNotificationAction(
        identifier: id, title: label, options: options, textInputButtonTitle: label,
        textInputPlaceholder: input)
    }
  }
#endif
