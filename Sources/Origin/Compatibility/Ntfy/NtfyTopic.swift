import Store
import RichPushAPI

/// A topic of ntfy's API: the tag of that name.
struct NtfyTopic: Sendable, Equatable {
  let name: String

  /// - Throws: if it is no topic's name, or one that ntfy or this server keeps for itself.
  init(_ name: String) throws(ServiceError) {
    guard Self.isName(name) else {
      throw ServiceError(
        .init(
          "topic", .invalidRequest,
          "A topic has from 1 to 64 letters, digits and the characters - and _."))
    }
    guard !Self.reserved.contains(name) else {
      throw ServiceError(.init("topic", .rejected, "The topic \(name.quoted) is reserved."))
    }
    self.name = name
  }

  /// Whether a text can be the name of a topic or of a sequence of messages.
  static func isName(_ text: String) -> Bool {
    (1...64).contains(text.utf8.count)
      && text.utf8.allSatisfy { byte in
        let character = Character(Unicode.Scalar(byte))
        return character.isASCII
          && (character.isLetter || character.isNumber || "-_".contains(character))
      }
  }

  /// The names that ntfy's server has paths of, and ``NtfyTopics/inbox``.
  private static let reserved: Set<String> = [
    "account", "app", "docs", "file", NtfyTopics.inbox, "login", "metrics", "settings", "signup",
    "static",
    "v1",
  ]

  /// What a sequence of messages in this topic is about, as ``NotificationMessage/replaces``.
  func subject(_ sequence: String) -> String {
    let subject = "\(name)/\(sequence)"
    // Otherwise a sequence in one topic would end that of the same name in another.
    return subject.utf8.count <= 64 ? subject : "ntfy-" + Digest(of: subject).hex.prefix(32)
  }
}
