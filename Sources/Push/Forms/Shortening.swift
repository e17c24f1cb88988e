/// Cuts a message between two characters as a reader sees them, and says so with an ellipsis.
enum Shortening {
  private static let ellipsis = "…"

  /// The message itself, or its longest beginning that fits with "…" into the room.
  ///
  /// `room` is counted in bytes of the message's JSON string literal, quotes not included.
  static func shortened(_ message: String, to room: Int) -> String {
    guard JSONText.length(of: message) > room else { return message }
    var left = room - ellipsis.utf8.count
    guard left >= 0 else { return "" }
    let kept = message.prefix { character in
      left -= JSONText.length(of: String(character))
      return left >= 0
    }
    return kept + ellipsis
  }
}
