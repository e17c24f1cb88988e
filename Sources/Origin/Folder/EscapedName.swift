/// How a name that cannot be an asset's is shown, so that no two look the same and none plays tricks.
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

  /// Every character beyond ASCII escaped: tells the Unicode forms of one name apart.
  static func plain(_ name: String) -> String {
    name.unicodeScalars.map { scalar in
      scalar.isASCII ? String(scalar) : "\\u{\(String(scalar.value, radix: 16, uppercase: true))}"
    }.joined()
  }

  /// Whether a name as it stands could be another's escaped form.
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
