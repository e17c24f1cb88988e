/// What a push tells a device, whatever the push service.
package enum PushMessage: Sendable {
  /// That there is a notification.
  case announcement(AnnouncementContent, as: AnnouncementForm)
  /// A text that belongs to no notification.
  case alert(String)
}

extension PushPayload {
  /// The payload for Apple's devices.
  static func apple(_ message: PushMessage) -> PushPayload {
    switch message {
    case .announcement(let content, let form): form.text(of: content)
    case .alert(let text): plainAlert(text)
    }
  }

  /// The payload that a browser's service worker or an app's own code reads.
  static func web(_ message: PushMessage) -> PushPayload {
    switch message {
    case .announcement(let content, let form): form.webText(of: content)
    case .alert(let text): webAlert(text)
    }
  }
}
