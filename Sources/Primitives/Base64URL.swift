import FoundationEssentials

/// Base64 for URLs, without padding (RFC 4648, section 5).
package enum Base64URL {
  /// The text of some bytes.
  package static func encode(_ bytes: [UInt8]) -> String {
    Data(bytes).base64EncodedString()
      .replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
  }

  /// The bytes; nil for any other text.
  ///
  /// Padding is accepted, since some clients send it.
  package static func decode(_ text: String) -> [UInt8]? {
    let digits = text.prefix { $0 != "=" }
    let padding = (4 - digits.utf8.count % 4) % 4
    guard text.utf8.count - digits.utf8.count <= 2, !digits.contains(where: { "+/".contains($0) }),
      let data = Data(
        base64Encoded: digits.replacing("-", with: "+").replacing("_", with: "/")
          + String(repeating: "=", count: padding))
    else { return nil }
    return Array(data)
  }
}
