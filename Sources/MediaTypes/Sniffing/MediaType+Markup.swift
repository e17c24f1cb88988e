extension MediaType {
  /// HTML, XML, SVG and scripts: found so that they can be refused, even behind a byte order mark.
  static func markup(of head: Octets) -> MediaType? {
    if head.has("#!") { return MediaType(known: "text/x-shellscript") }
    var bytes = head.bytes[...]
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    bytes = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) && $0 != 0x0B }
    guard bytes.first == UInt8(ascii: "<") else { return nil }
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    if text.hasPrefix("<svg") { return MediaType(known: "image/svg+xml") }
    if text.hasPrefix("<?php") || text.hasPrefix("<?=") {
      return MediaType(known: "application/x-httpd-php")
    }
    if text.hasPrefix("<?xml") || text.hasPrefix("<!doctype svg") {
      return MediaType(known: text.contains("<svg") ? "image/svg+xml" : "text/xml")
    }
    return elements.contains { startsTag(text, $0) } ? MediaType(known: "text/html") : nil
  }

  /// The tags of WHATWG MIME Sniffing section 7.1, and a few more that a browser would run.
  private static let elements = [
    "<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table",
    "<a", "<style", "<title", "<b", "<body", "<br", "<p", "<!--", "<img", "<meta", "<link",
    "<object", "<embed", "<form", "<video", "<audio", "<base", "<math",
  ]

  /// Whether the text begins with the tag and the tag's name ends there.
  private static func startsTag(_ text: String, _ tag: String) -> Bool {
    guard text.hasPrefix(tag) else { return false }
    guard tag != "<!--", let next = text.dropFirst(tag.count).first else { return true }
    return next == ">" || next == "/" || next.isWhitespace
  }
}
