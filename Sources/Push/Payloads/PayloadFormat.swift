package import RichPushAPI

/// The JSON that a push service takes; services with the same format send the same payloads.
package enum PayloadFormat: Sendable, Hashable {
  /// That of Apple's devices.
  case apple
  /// That of code that shows the notification itself, such as a browser's service worker.
  case web
  /// A `message` of Firebase, without its target.
  case firebase(FCMMessageKind)

  /// The payload of the pushes that announce a message, at most as long as services take if the message can be
  /// shortened so far.
  package func payload(of message: PushMessage) -> PayloadTemplate {
    switch self {
    case .apple: .apple(message)
    case .web: .web(message)
    case .firebase(let kind): .firebase(message, as: kind)
    }
  }

  /// What becomes of the members of a message in a form.
  package func members(in form: PushForm) -> MessageMembers {
    switch self {
    case .apple:
      switch form {
      case .silent: .appleSilent
      case .alert, .hybrid: .appleAlert
      case .legacy: .legacy
      }
    case .web: .browser
    case .firebase(.data): .androidData
    case .firebase(.notification): .androidNotification
    }
  }
}

/// What Firebase sends to an Android device.
package enum FCMMessageKind: String, Sendable, CaseIterable {
  /// The app's own code gets the push and shows it.
  case data
  /// Android shows texts and picture; the app needs no code for it.
  case notification
}
