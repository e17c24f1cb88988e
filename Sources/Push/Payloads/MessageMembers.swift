package import RichPushAPI

/// A member of a message.
package typealias MessageMember = NotificationMessage.CodingKeys

/// What a push service makes of the members of a message; a member that is in no set is dropped.
package struct MessageMembers: Sendable, Equatable {
  /// What the platform shows or follows by itself.
  package var shown: Set<MessageMember>
  /// What only the app's own code can use.
  package var carried: Set<MessageMember>
  /// What devices report with this server's client library or service worker, or by the app's own code.
  package var reported: Set<Interaction.Event>

  /// What Apple's systems make of an alert.
  static let appleAlert = MessageMembers(
    shown: [
      .text, .title, .subtitle, .sound, .category, .thread, .importance, .relevance, .replaces,
      .lockScreen, .apns,
    ], carried: [.alt, .link, .actions, .data],
    // That it was dismissed only of what has a category of the library, and so buttons.
    reported: [.displayed, .opened, .action, .reply])
  /// What is left of a push that only wakes an app.
  static let appleSilent = MessageMembers(
    shown: [.apns],
    carried: [.text, .title, .subtitle, .link, .actions, .replaces, .lockScreen, .data],
    reported: Set(Interaction.Event.allCases))
  /// The tutorial's text.
  static let legacy = MessageMembers(shown: [], carried: [.text], reported: [])
  /// What a browser shows with this server's service worker.
  static let browser = MessageMembers(
    shown: [
      .text, .title, .subtitle, .link, .actions, .sound, .icon, .importance, .lockScreen, .webpush,
    ],
    carried: [.alt, .thread, .replaces, .colour, .data],
    reported: Set(Interaction.Event.allCases))
  /// What an Android app gets, which shows it by its own code.
  static let androidData = MessageMembers(
    shown: [.importance, .fcm],
    carried: [
      .text, .title, .subtitle, .alt, .link, .actions, .category, .sound, .thread, .replaces,
      .lockScreen, .icon, .colour, .channel, .data, .label,
    ], reported: Set(Interaction.Event.allCases))
  /// What Android shows for an app without code.
  static let androidNotification = MessageMembers(
    shown: [
      .text, .title, .subtitle, .sound, .importance, .replaces, .lockScreen, .colour, .channel,
      .fcm,
    ], carried: [.link, .actions, .category, .thread, .icon, .data, .label], reported: [])

  /// What devices can report of a message, in the order of the documentation.
  package func reports(of message: NotificationMessage) -> [Interaction.Event] {
    let actions = message.actions ?? []
    return Interaction.Event.allCases.filter { event in
      switch event {
      case .displayed, .opened, .dismissed: reported.contains(event)
      case .action: reported.contains(event) && actions.contains { $0.input == nil }
      case .reply: reported.contains(event) && actions.contains { $0.input != nil }
      }
    }
  }
}

extension NotificationMessage {
  /// The members that it has, in the order of the documentation, but for those by which its texts are chosen.
  package var present: [MessageMember] {
    let names = JSONValue(JSONCoding.encode(self))?.members ?? [:]
    let choices: Set<MessageMember> = [.language, .languages, .variables]
    return MessageMember.allCases.filter { names[$0.stringValue] != nil && !choices.contains($0) }
  }
}
