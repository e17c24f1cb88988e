import Media

/// The name of an asset: of a file in the drop folder.
package struct AssetName: Sendable, Hashable {
  /// The name in Unicode's composed form, as in the catalogue.
  package let value: String

  /// Nil if the name is not a single path component, or could mislead a reader.
  package init?(_ name: String) {
    let composed = name.isPrintableASCII ? name : name.composed
    guard Self.problem(with: composed) == nil else { return nil }
    value = composed
  }

  /// Why a text cannot be an asset's name, in a sentence; nil if it can.
  package static func problem(with name: String) -> String? {
    // Printable ASCII needs no look-up of Unicode properties.
    let scalars = name.isPrintableASCII ? "".unicodeScalars : name.unicodeScalars
    if name.isEmpty || name == "." || name == ".." || name.contains("/") {
      return "It is not a file's name."
    }
    if name.utf8.count > 255 { return "The name is longer than 255 bytes. Make it shorter." }
    if scalars.contains(where: { $0.properties.generalCategory == .control }) {
      return "The name contains a line break or another control character. Rename the file."
    }
    if scalars.contains(where: EscapedName.changesDirection) {
      return
        "The name contains a mark that changes the direction of text, which makes it misleading. "
        + "Rename the file."
    }
    return EscapedName.looksEscaped(name)
      ? "The name looks like an escaped one. Rename the file." : nil
  }

  /// Whether the name is one that other programs give to their own files, such as temporary ones.
  package static func isForeign(_ text: String) -> Bool { ForeignNames.contains(text) }
}

/// Escapes names that cannot be assets, so that no two look the same and none is misleading.
enum EscapedName {
  /// The name with `\u{A}` for characters that must not be shown, and `\x{E9}` for bytes if it is not UTF-8.
  static func text(_ bytes: [UInt8]) -> String {
    guard let name = String(validating: bytes, as: UTF8.self) else {
      return bytes.map { byte in
        (0x20..<0x7F).contains(byte)
          ? String(Unicode.Scalar(byte)) : "\\x{\(String(byte, radix: 16, uppercase: true))}"
      }.joined()
    }
    let isAmbiguous = looksEscaped(name)
    return name.unicodeScalars.map { scalar in
      let mustHide =
        scalar.properties.generalCategory == .control || changesDirection(scalar)
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
  static func looksEscaped(_ name: String) -> Bool {
    name.utf8.contains(UInt8(ascii: "\\")) && (name.contains("\\u{") || name.contains("\\x{"))
  }

  /// Whether it is a mark that reorders text: `gpj.exe` can look like `exe.jpg`.
  static func changesDirection(_ scalar: Unicode.Scalar) -> Bool {
    switch scalar.value {
    case 0x200E, 0x200F, 0x061C, 0x202A...0x202E, 0x2066...0x2069: true
    default: false
    }
  }
}
