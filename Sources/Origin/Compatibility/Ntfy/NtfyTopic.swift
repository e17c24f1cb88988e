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

  /// The names that ntfy's server has paths of, and `inbox`, which is everything of a reader.
  private static let reserved: Set<String> = [
    "account", "app", "docs", "file", "inbox", "login", "metrics", "settings", "signup", "static",
    "v1",
  ]

  /// What a sequence of messages in this topic is about, as ``NotificationMessage/replaces``.
  func subject(_ sequence: String) -> String {
    let subject = "\(name)/\(sequence)"
    // Otherwise a sequence in one topic would end that of the same name in another.
    return subject.utf8.count <= 64 ? subject : "ntfy-" + Digest(of: subject).hex.prefix(32)
  }
}

/// The ID of a message, 12 letters and digits, which is made from that of its notification.
enum NtfyID {
  /// The message's ID.
  static func text(_ id: Int) -> String {
    let digits = String(id, radix: 36)
    return "n" + String(repeating: "0", count: max(0, 11 - digits.utf8.count)) + digits
  }

  /// The notification's ID; nil if the text is no message's.
  static func number(_ text: String) -> Int? {
    guard text.utf8.count == 12, text.first == "n", let id = Int(text.dropFirst(), radix: 36),
      self.text(id) == text
    else { return nil }
    return id
  }

  /// An ID for a message that became no notification.
  static func random() -> String {
    let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return "x" + String((0..<11).map { _ in letters[Int.random(in: letters.indices)] })
  }
}
