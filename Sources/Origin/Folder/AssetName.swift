import Foundation

/// A file's name in the drop folder, as people and programs may spell it.
package struct AssetName: Sendable, Hashable {
  /// The name in Unicode's composed form, which is how the catalogue knows it.
  package let value: String

  /// Takes a name of one path component; nil for one that could leave the folder or fool a reader.
  package init?(_ name: String) {
    let composed = name.precomposedStringWithCanonicalMapping
    guard !composed.isEmpty, composed.utf8.count <= 255, composed != ".", composed != "..",
      !composed.contains("/"),
      composed.unicodeScalars.allSatisfy({
        $0.properties.generalCategory != .control && !Self.turnsText($0)
      })
    else { return nil }
    value = composed
  }

  /// Whether the name is one that editors, browsers, rsync, Office or macOS use for a moment.
  package static func isTemporary(_ text: String) -> Bool {
    let name = text.lowercased()
    return name.hasPrefix(".") || name.hasPrefix("~$") || name.hasPrefix("#")
      || endings.contains { name.hasSuffix($0) } || litter.contains(name)
  }

  /// Marks that reorder what a person reads: `gpj.exe` can look like `exe.jpg`.
  private static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }

  private static let endings = [
    "~", ".tmp", ".temp", ".part", ".partial", ".crdownload", ".download", ".filepart", ".swp",
    ".bak", ".lock",
  ]
  private static let litter: Set<String> = ["thumbs.db", "desktop.ini", "icon\r"]
}
