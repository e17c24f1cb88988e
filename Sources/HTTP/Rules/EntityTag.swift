/// An entity tag (RFC 9110, section 8.8.3).
struct EntityTag: Equatable {
  let isWeak: Bool
  /// What stands between the quotes.
  let opaque: Substring

  /// The weak comparison of If-None-Match: the opaque parts are the same.
  static func isIn(_ list: String, weakly etag: String) -> Bool {
    matches(list) { $0.opaque == etag }
  }

  /// The strong comparison of If-Match: the same, and not weak.
  static func isIn(_ list: String, strongly etag: String) -> Bool {
    matches(list) { !$0.isWeak && $0.opaque == etag }
  }

  private static func matches(_ list: String, _ rule: (EntityTag) -> Bool) -> Bool {
    if list.utf8.elementsEqual("*".utf8) { return true }
    return parse(list)?.contains(where: rule) ?? false
  }

  /// The tags of a comma-separated list; nil when it is malformed.
  static func parse(_ list: String) -> [EntityTag]? {
    var tags: [EntityTag] = []
    var rest = list[...]
    while true {
      rest = rest.drop { $0 == " " || $0 == "\t" || $0 == "," }
      if rest.isEmpty { return tags }
      let isWeak = rest.hasPrefix("W/")
      if isWeak { rest = rest.dropFirst(2) }
      guard rest.first == "\"", let end = rest.dropFirst().firstIndex(of: "\"") else { return nil }
      tags.append(EntityTag(isWeak: isWeak, opaque: rest.dropFirst()[..<end]))
      rest = rest[rest.index(after: end)...].drop { $0 == " " || $0 == "\t" }
      guard rest.isEmpty || rest.first == "," else { return nil }
    }
  }
}
