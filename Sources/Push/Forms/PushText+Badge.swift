extension PushText {
  /// Stands for the unread count until the push leaves, and is the highest there is.
  static let mostUnread = 999_999

  /// The member of `aps` that says what to show on the app's icon.
  static func badge(_ count: Int) -> String { #""badge":\#(count)"# }

  /// The text with the unread count where its badge is; nothing else in a push can look like it,
  /// because quotes within a text are escaped.
  ///
  /// `unread` is only asked when the text has such a badge.
  package static func counting(
    _ json: String, unread: () throws -> Int
  ) rethrows -> String {
    guard let place = json.firstRange(of: badge(mostUnread)) else { return json }
    return json.replacingCharacters(in: place, with: badge(min(try unread(), mostUnread)))
  }
}

extension String {
  fileprivate func replacingCharacters(in range: Range<Index>, with text: String) -> String {
    self[..<range.lowerBound] + text + self[range.upperBound...]
  }
}
