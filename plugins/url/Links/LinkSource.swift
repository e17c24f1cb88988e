import FoundationEssentials
import MediaTypes
import PluginKit

/// What the publisher wrote: a URL, a JSON object around one, or the name of a file that holds it.
struct LinkSource: Decodable {
  let url: String
  var title: String?
  var description: String?

  private static let longestFile = 64 << 10

  /// Reads the asset when the payload names one, else the payload itself.
  static func read(_ request: PluginRequest) throws -> LinkSource {
    guard let asset = request.asset else { return try parse(request.payload) }
    guard asset.size <= longestFile else {
      throw Refusal("A link file holds one link; \(asset.size) bytes are too many.")
    }
    let bytes = OpenFile.reading(asset.path) { $0?.read(at: 0, count: longestFile) }
    guard let bytes else { throw Refusal(status: 503, "The link's file cannot be read.") }
    guard let text = String(validating: bytes, as: UTF8.self) else {
      throw Refusal("A link file is UTF-8 text: a URL, or a shortcut with a line URL=….")
    }
    return try parse(text)
  }

  /// Understands `https://…`, `{"url": "https://…", "title": …}` and shortcuts of Windows and Linux.
  static func parse(_ text: String) throws -> LinkSource {
    let text = text.drop { $0.isWhitespace || $0 == "\u{FEFF}" }
    if text.hasPrefix("{") {
      guard let source = try? JSONDecoder().decode(LinkSource.self, from: Data(text.utf8)) else {
        throw Refusal(#"A link as JSON looks like {"url": "https://…", "title": "…"}."#)
      }
      return source
    }
    let lines = text.split(whereSeparator: \.isNewline)
    guard let first = lines.first else {
      throw Refusal("The link is empty; give an absolute http or https URL.")
    }
    guard first.hasPrefix("[") else { return LinkSource(url: String(first)) }
    guard let line = lines.first(where: { $0.hasPrefix("URL=") }) else {
      throw Refusal("The shortcut has no line that begins with URL=.")
    }
    return LinkSource(url: String(line.dropFirst(4)))
  }
}
