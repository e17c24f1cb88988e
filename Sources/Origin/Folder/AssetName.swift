import Foundation

/// A file's name in the drop folder, as people and programs may spell it.
package struct AssetName: Sendable, Hashable {
  /// The name in Unicode's composed form, which is how the catalogue knows it.
  package let value: String

  /// Takes a name of one path component; nil for one that could leave the folder or fool a reader.
  package init?(_ name: String) {
    let composed = name.isPlain ? name : name.precomposedStringWithCanonicalMapping
    guard Self.problem(with: composed) == nil else { return nil }
    value = composed
  }

  /// Why a text cannot be an asset's name, in a sentence; nil when it can.
  static func problem(with name: String) -> String? {
    // Of printable ASCII no character needs to be looked up.
    let scalars = name.isPlain ? "".unicodeScalars : name.unicodeScalars
    if name.isEmpty || name == "." || name == ".." || name.contains("/") {
      return "It is not a file's name."
    }
    if name.utf8.count > 255 { return "The name is longer than 255 bytes: make it shorter." }
    if scalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "The name holds a line break or another control character: rename the file."
    }
    if scalars.contains(where: EscapedName.turnsText) {
      return "The name holds a mark that turns the direction of text and hides what it says: "
        + "rename the file."
    }
    return EscapedName.looksLikeOne(name)
      ? "The name looks like one that was escaped: rename the file." : nil
  }

  /// Whether the name is one that editors, browsers, rsync, Office or macOS use for a moment.
  package static func isTemporary(_ text: String) -> Bool {
    let name = text.lowercased()
    return name.hasPrefix(".") || name.hasPrefix("~$") || name.hasPrefix("#")
      || endings.contains { name.hasSuffix($0) } || litter.contains(name)
      // macOS writes logo.png.sb-1a2b3c4d-XyZ123 before it renames.
      || name.utf8.contains(UInt8(ascii: "-")) && name.contains(".sb-")
  }

  private static let endings = [
    "~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".opdownload", ".aria2",
    ".filepart", ".swp", ".swx", ".bak", ".wbk", ".lock",
  ]
  private static let litter: Set<String> = [
    "thumbs.db", "ehthumbs.db", "desktop.ini", "icon\r", "4913",
  ]
}

extension String {
  /// Whether it is printable ASCII, as most names and lines are.
  var isPlain: Bool { utf8.allSatisfy { (0x20..<0x7F).contains($0) } }
}
