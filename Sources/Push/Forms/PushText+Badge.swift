import Glibc

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
    guard let place = json.firstPlace(of: badge(mostUnread)) else { return json }
    let badge = badge(min(try unread(), mostUnread))
    return String(json[..<place.lowerBound]) + badge + json[place.upperBound...]
  }
}

extension String {
  /// Where a text stands first, byte by byte: every push on its way out is searched.
  fileprivate func firstPlace(of text: String) -> Range<Index>? {
    let offset = withCString { whole in
      text.withCString { part in
        strstr(whole, part).map { UnsafePointer($0) - whole }
      }
    }
    return offset.map { offset in
      let first = utf8.index(startIndex, offsetBy: offset)
      return first..<utf8.index(first, offsetBy: text.utf8.count)
    }
  }
}
