import JSON
import MediaTypes
import PluginKit

/// What the publisher sent: a URL, a JSON object with one, or the name of a file with one.
struct LinkSource {
  let url: String
  var title: String?
  var description: String?

  private static let longestFile = 64 << 10

  private init(url: String) { self.url = url }

  /// Nil if it is not an object with the member `url`, or a member is no string.
  private init?(json: Substring) {
    guard let object = JSONTree(json.utf8), let url = object["url"]?.text else { return nil }
    let (title, description) = (object["title"], object["description"])
    (self.url, self.title, self.description) = (url, title?.text, description?.text)
    if title != nil && self.title == nil || description != nil && self.description == nil {
      return nil
    }
  }

  /// Reads the asset if there is one, else the payload.
  static func read(_ request: PluginRequest) throws -> LinkSource {
    guard let asset = request.asset else { return try parse(request.payload) }
    guard let file = OpenFile(asset.path) else {
      throw Refusal(status: 503, "The link's file cannot be read.")
    }
    let bytes = file.read(at: 0, count: longestFile)
    let type = MediaType.sniff(bytes).value
    let isShortcut =
      switch type {
      case "text/plain": true
      case "text/xml", "application/x-plist": PropertyList(bytes) != nil
      // A .desktop file that can be started begins with #!/usr/bin/env xdg-open.
      case "text/x-shellscript": isDesktopEntry(bytes)
      default: false
      }
    guard isShortcut else {
      throw Refusal(
        "This is \(FileKind(file).name), not a link. "
          + "Drop a web shortcut (.url, .webloc or .desktop), or a text file with the address.")
    }
    guard asset.size <= longestFile else {
      throw Refusal("A link file holds one link; \(asset.size) bytes are too many.")
    }
    return try parse(file: bytes, type)
  }

  /// Parses the content of a file of a media type.
  static func parse(file bytes: [UInt8], _ type: String) throws -> LinkSource {
    // Windows writes the other lines of a shortcut in the local character set.
    let source =
      ["text/xml", "application/x-plist"].contains(type)
      ? try webLocation(bytes) : try parse(String(decoding: bytes, as: UTF8.self))
    guard !source.url.contains("\u{FFFD}") else {
      throw Refusal("The address has characters that are not UTF-8. Save the shortcut again.")
    }
    return source
  }

  /// Whether the first line that is not a comment begins a shortcut of Linux (Desktop Entry
  /// Specification).
  private static func isDesktopEntry(_ bytes: [UInt8]) -> Bool {
    lines(of: String(decoding: bytes, as: UTF8.self)).first { !$0.hasPrefix("#") }?
      .hasPrefix("[Desktop Entry]") == true
  }

  private static func lines(of text: some StringProtocol) -> [Substring] {
    text.split(whereSeparator: \.isNewline).map { Substring($0) }
  }

  /// The link of a shortcut of macOS (`.webloc`), a property list in XML or binary.
  private static func webLocation(_ bytes: [UInt8]) throws(Refusal) -> LinkSource {
    guard let url = PropertyList(bytes)?.url else {
      throw Refusal("The shortcut has no address in it. Save it again from the browser.")
    }
    return LinkSource(url: url)
  }

  /// Parses `https://…`, `{"url": "https://…", "title": …}` and shortcuts of Windows and Linux.
  static func parse(_ text: String) throws -> LinkSource {
    let text = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if text.hasPrefix("{") {
      guard let source = LinkSource(json: text) else {
        throw Refusal(#"A link as JSON looks like {"url": "https://…", "title": "…"}."#)
      }
      return source
    }
    let lines = lines(of: text)
    guard let first = lines.first(where: { !$0.hasPrefix("#") }) ?? lines.first else {
      throw Refusal("The link is empty; give an absolute http or https URL.")
    }
    guard first.hasPrefix("[") else { return LinkSource(url: String(first)) }
    // KDE marks a value in which variables are replaced.
    let keys = ["URL=", "URL[$e]="]
    for line in lines {
      guard let key = keys.first(where: line.hasPrefix) else { continue }
      return LinkSource(url: String(line.dropFirst(key.count)))
    }
    throw Refusal("The shortcut has no line that begins with URL=.")
  }
}
