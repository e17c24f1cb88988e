package import Push
import RichPushAPI
package import Store
import Synchronization

/// What a push announces, with the payloads for the languages of its devices.
package final class AnnouncedPush: Sendable {
  /// A message as it is for one device, and the payload.
  package struct Made: Sendable {
    package let message: PushMessage
    package let template: PayloadTemplate
  }

  /// The message, in all languages and with placeholders.
  package let message: PushMessage
  /// The notification, as an event of the embedded gateway has it; nil for other pushes.
  let notification: StoredNotification?
  /// Whether recipients have values of their own in it.
  package let isPersonal: Bool

  /// The most languages of devices whose payloads are kept.
  private static let mostLanguages = 64
  private let makePayload: @Sendable (PushMessage) -> PayloadTemplate
  private let made = Mutex<[[String]: Made]>([:])

  /// A message whose payloads are made by a service.
  package init(
    _ message: PushMessage, of notification: StoredNotification? = nil,
    by makePayload: @escaping @Sendable (PushMessage) -> PayloadTemplate
  ) {
    (self.message, self.notification, self.makePayload) = (message, notification, makePayload)
    // The tutorial's text has no placeholders.
    isPersonal = message.form != .legacy && !message.message.placeholders.all.isEmpty
  }

  /// The message for who prefers some languages, the best first, with the values of a recipient.
  func message(for languages: [String], values: [String: String]) -> PushMessage {
    var own = message
    if own.form != .legacy {
      own.message = message.message.localized(for: languages).personalized(with: values)
    }
    return own
  }

  /// The message and the payload for who prefers some languages, the best first, with the values of a recipient.
  package func made(for languages: [String], values: [String: String] = [:]) -> Made {
    let languages = message.message.languages == nil ? [] : languages
    if !isPersonal, let known = made.withLock({ $0[languages] }) { return known }
    let own = message(for: languages, values: values)
    let new = Made(message: own, template: makePayload(own))
    if isPersonal { return new }
    made.withLock { made in
      if made.count >= Self.mostLanguages { made = [:] }
      made[languages] = new
    }
    return new
  }
}
