/// The IDs of ntfy's API: 12 letters and digits, which are made from numbers that are the same on all nodes.
enum NtfyID {
  /// That of a notification, which is a message's answer and names it in later requests.
  static func text(_ notification: Int) -> String { text("n", notification) }

  /// The notification's number; nil if the text is no notification's.
  static func number(_ text: String) -> Int? { number("n", text) }

  /// That of the event by which a reader gets a message, after which a stream can resume.
  static func text(ofEvent sequence: Int) -> String { text("e", sequence) }

  /// That of what tells a reader, who has got the events up to one, that a message has ended.
  static func text(ofEndAfter sequence: Int) -> String { text("d", sequence) }

  /// The sequence number of the event after which a stream resumes; nil if the text names none.
  static func event(_ text: String) -> Int? { number("e", text) ?? number("d", text) }

  /// An ID for what is neither.
  static func random() -> String {
    let letters = Array("0123456789abcdefghijklmnopqrstuvwxyz")
    return "x" + String((0..<11).map { _ in letters[Int.random(in: letters.indices)] })
  }

  private static func text(_ kind: Character, _ number: Int) -> String {
    let digits = String(number, radix: 36)
    return String(kind) + String(repeating: "0", count: max(0, 11 - digits.utf8.count)) + digits
  }

  private static func number(_ kind: Character, _ text: String) -> Int? {
    guard text.utf8.count == 12, text.first == kind, let number = Int(text.dropFirst(), radix: 36),
      self.text(kind, number) == text
    else { return nil }
    return number
  }
}
