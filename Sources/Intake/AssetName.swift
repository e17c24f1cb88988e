import Media
import Foundation

/// A file's name in the drop folder, as people and programs may spell it.
package struct AssetName: Sendable, Hashable {
  /// The name in Unicode's composed form, which is how the catalogue knows it.
  package let value: String

  /// Takes a name of one path component; nil for one that could leave the folder or fool a reader.
  package init?(_ name: String) {
    let composed = name.isPrintableASCII ? name : name.precomposedStringWithCanonicalMapping
    guard Self.problem(with: composed) == nil else { return nil }
    value = composed
  }

  /// Why a text cannot be an asset's name, in a sentence; nil when it can.
  package static func problem(with name: String) -> String? {
    // Of printable ASCII no character needs to be looked up.
    let scalars = name.isPrintableASCII ? "".unicodeScalars : name.unicodeScalars
    if name.isEmpty || name == "." || name == ".." || name.contains("/") {
      return "It is not a file's name."
    }
    if name.utf8.count > 255 { return "The name is longer than 255 bytes. Make it shorter." }
    if scalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "The name contains a line break or another control character. Rename the file."
    }
    if scalars.contains(where: EscapedName.turnsText) {
      return "The name contains a mark that turns the direction of text and hides what it says. "
        + "Rename the file."
    }
    return EscapedName.looksLikeOne(name)
      ? "The name looks like one that was escaped. Rename the file." : nil
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

/// Shows names that cannot be assets, so that no two look the same and none is misleading.
enum EscapedName {
  /// The name's bytes with `\u{A}` for what must not be shown and `\x{E9}` for what is no UTF-8.
  static func text(_ bytes: [UInt8]) -> String {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      return bytes.map { byte in
        (0x20..<0x7F).contains(byte)
          ? String(Unicode.Scalar(byte)) : "\\x{\(String(byte, radix: 16, uppercase: true))}"
      }.joined()
    }
    let isAmbiguous = looksLikeOne(name)
    return name.unicodeScalars.map { scalar in
      let mustHide =
        scalar.properties.generalCategory == .control || turnsText(scalar)
        || isAmbiguous && scalar == "\\"
      return mustHide
        ? "\\u{\(String(scalar.value, radix: 16, uppercase: true))}" : String(scalar)
    }.joined()
  }

  /// The name with every character beyond ASCII escaped, which distinguishes its Unicode forms.
  static func plain(_ name: String) -> String {
    name.unicodeScalars.map { scalar in
      scalar.isASCII ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }.joined()
  }

  /// Whether an unescaped name could be mistaken for another one's escaped form.
  static func looksLikeOne(_ name: String) -> Bool {
    name.utf8.contains(UInt8(ascii: "\\")) && (name.contains("\\u{") || name.contains("\\x{"))
  }

  /// Marks that reorder what a person reads: `gpj.exe` can look like `exe.jpg`.
  static func turnsText(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
