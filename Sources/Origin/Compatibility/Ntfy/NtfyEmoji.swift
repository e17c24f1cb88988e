/// The short names of emoji that tags may be, as GitHub and ntfy have them.
enum NtfyEmoji {
  /// The emoji with a name; nil if a tag is none.
  static func named(_ name: String) -> String? { table[name] }

  /// The lines of emoji.txt, which packaging/emoji-names.py makes: a name, a space and an emoji.
  // Made when a message has tags, so that a server without this API has no such table.
  private static let table: [String: String] = {
    var table: [String: String] = [:]
    for line in PackageResources.emoji_txt.split(separator: UInt8(ascii: "\n")) {
      guard let space = line.firstIndex(of: UInt8(ascii: " ")) else { continue }
      table[String(decoding: line[..<space], as: UTF8.self)] = String(
        decoding: line[(space + 1)...], as: UTF8.self)
    }
    return table
  }()
}
