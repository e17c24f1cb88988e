/// A pattern of media types, such as `image/png`, `image/*` or `*/*` (RFC 9110 section 12.5.1).
struct MediaRange: Hashable {
  private let type: Substring
  private let subtype: Substring

  /// Reads a pattern without parameters; nil when it is none.
  init?(_ text: String) {
    let parts = text.lowercased().split(separator: "/", omittingEmptySubsequences: false)
    let isToken = { (part: Substring) in
      !part.isEmpty && part.utf8.allSatisfy(HeaderField.isTokenByte)
    }
    guard parts.count == 2, parts.allSatisfy(isToken), parts[0] != "*" || parts[1] == "*" else {
      return nil
    }
    (type, subtype) = (parts[0], parts[1])
  }

  /// Whether a media type, with or without parameters, is one of the pattern's.
  func covers(_ mediaType: String) -> Bool {
    guard let other = MediaRange(MediaRange.essence(of: mediaType)) else { return false }
    return (type == "*" || type == other.type) && (subtype == "*" || subtype == other.subtype)
  }

  /// The type and subtype of a media type in lower case, without its parameters.
  static func essence(of mediaType: String) -> String {
    let end = mediaType.utf8.firstIndex { "; \t".utf8.contains($0) } ?? mediaType.endIndex
    return mediaType[..<end].lowercased()
  }

  /// Whether a browser would run what such a document contains; never served as media.
  static func isActive(_ mediaType: String) -> Bool {
    let essence = essence(of: mediaType)
    return active.contains(essence) || essence.hasSuffix("+xml")
  }

  private static let active: Set<String> = [
    "text/html", "text/xml", "application/xml", "text/css", "text/javascript",
    "application/javascript", "application/x-javascript", "text/ecmascript",
    "application/ecmascript", "text/vbscript", "application/x-shockwave-flash",
    "application/x-httpd-php", "multipart/x-mixed-replace",
  ]
}
