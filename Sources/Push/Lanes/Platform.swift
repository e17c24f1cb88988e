/// A platform that a device registers for: it decides which push services send to the device.
package struct Platform: Sendable, Hashable {
  /// What a registration's `Handle` is.
  package enum Handle: Sendable {
    /// Apple's device token, as hexadecimal digits.
    case appleToken
    /// The endpoint of a Web Push subscription, which has keys too.
    case subscription
    /// A token of any form.
    case token
  }

  /// The name in a registration.
  package let name: String
  package let handle: Handle

  init(_ name: String, handle: Handle = .token) { (self.name, self.handle) = (name, handle) }

  static let apple = Platform("apns", handle: .appleToken)
  /// Azure's tutorial calls Firebase by its former name.
  static let googleCloudMessaging = Platform("gcm")
  static let firebase = Platform("fcm")
  static let windows = Platform("wns")
  static let windowsPhone = Platform("mpns")
  /// Browsers and UnifiedPush distributors.
  static let webPush = Platform("webpush", handle: .subscription)
  /// Phones with ntfy's app for iOS.
  static let ntfy = Platform("ntfy")
}
