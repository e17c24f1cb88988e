// Encodings of text that encoders of Foundation are too slow or too lenient for.

/// Percent-encoding (RFC 3986, section 2.1).
package enum PercentEncoding {
  /// The text with every byte escaped that is not an unreserved character (section 2.3).
  package static func encode(_ text: String) -> String {
    String(unsafeUninitializedCapacity: text.utf8.count * 3) { buffer in
      var count = 0
      for byte in text.utf8 {
        if isUnreserved(byte) {
          buffer[count] = byte
          count += 1
        } else {
          buffer[count] = UInt8(ascii: "%")
          buffer[count + 1] = hexadecimalDigit(byte >> 4)
          buffer[count + 2] = hexadecimalDigit(byte & 15)
          count += 3
        }
      }
      return count
    }
  }

  /// A byte as an escape, whatever it is.
  package static func escaped(_ byte: UInt8) -> String {
    String(
      decoding: [UInt8(ascii: "%"), hexadecimalDigit(byte >> 4), hexadecimalDigit(byte & 15)],
      as: UTF8.self)
  }

  /// The text, decoded exactly once; nil for an invalid escape, a NUL, or bytes that are not UTF-8.
  ///
  /// With `decodesPlusAsSpace`, `+` means a space, as in `application/x-www-form-urlencoded`.
  package static func decode(_ encoded: Span<UInt8>, decodesPlusAsSpace: Bool = false) -> String? {
    guard isEscaped(encoded, decodesPlusAsSpace: decodesPlusAsSpace) else {
      guard let text = try? UTF8Span(validating: encoded) else { return nil }
      return String(copying: text)
    }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      switch encoded[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < encoded.count, let high = value(ofDigit: encoded[index + 1]),
          let low = value(ofDigit: encoded[index + 2]), high | low != 0
        else { return nil }
        decoded.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where decodesPlusAsSpace: decoded.append(UInt8(ascii: " "))
      case let byte: decoded.append(byte)
      }
      index += 1
    }
    return String(validating: decoded, as: UTF8.self)
  }

  private static func isEscaped(_ encoded: Span<UInt8>, decodesPlusAsSpace: Bool) -> Bool {
    for index in encoded.indices {
      let byte = encoded[index]
      if byte == UInt8(ascii: "%") || decodesPlusAsSpace && byte == UInt8(ascii: "+") {
        return true
      }
    }
    return false
  }

  private static func isUnreserved(_ byte: UInt8) -> Bool {
    byte.isAlphanumeric || "-._~".utf8.contains(byte)
  }

  private static func hexadecimalDigit(_ value: UInt8) -> UInt8 {
    value < 10 ? UInt8(ascii: "0") + value : UInt8(ascii: "A") + value - 10
  }

  private static func value(ofDigit byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}

extension UInt8 {
  /// Whether it is an ASCII letter or digit.
  @inlinable package var isAlphanumeric: Bool {
    // The sixth bit is the case of an ASCII letter.
    UInt8(ascii: "a")...UInt8(ascii: "z") ~= self | 0x20
      || UInt8(ascii: "0")...UInt8(ascii: "9") ~= self
  }
}

/// JSON that is put together from texts: where its bytes matter, where an encoder is too slow, and in plugins, which
/// have none.
package enum JSONText {
  /// A string literal with its quotes: only what RFC 8259 section 7 requires is escaped.
  package static func quoted(_ text: String) -> String {
    var bytes: [UInt8] = []
    bytes.reserveCapacity(text.utf8.count + 2)
    bytes.append(UInt8(ascii: "\""))
    for byte in text.utf8 {
      switch byte {
      case UInt8(ascii: "\""), UInt8(ascii: "\\"): bytes += [UInt8(ascii: "\\"), byte]
      case 0x0A: bytes += "\\n".utf8
      case 0x0D: bytes += "\\r".utf8
      case 0x09: bytes += "\\t".utf8
      case ..<0x20:
        bytes += (byte < 0x10 ? "\\u000" : "\\u00").utf8
        bytes += String(byte, radix: 16).utf8
      default: bytes.append(byte)
      }
    }
    bytes.append(UInt8(ascii: "\""))
    return String(decoding: bytes, as: UTF8.self)
  }

  /// An object; each value is a JSON text, and members without one are left out.
  package static func object(_ members: KeyValuePairs<String, String?>) -> String {
    object(members.map { ($0.key, $0.value) })
  }

  /// The same of a list that is put together.
  package static func object(_ members: [(name: String, value: String?)]) -> String {
    let present = members.compactMap { name, value in value.map { "\(quoted(name)):\($0)" } }
    return "{" + present.joined(separator: ",") + "}"
  }

  /// An object that is already a text, with more members, of which it has none; all the rest stays as it was written.
  ///
  /// What is no object stays as it is.
  package static func inserting(
    _ members: KeyValuePairs<String, String?>, into object: [UInt8]
  ) -> [UInt8] {
    guard let start = object.firstIndex(where: { $0 > 0x20 }), object[start] == UInt8(ascii: "{")
    else { return object }
    let isEmpty = object[(start + 1)...].first { $0 > 0x20 } == UInt8(ascii: "}")
    let new = self.object(members).dropLast() + (isEmpty ? "" : ",")
    return object[..<start] + Array(new.utf8) + object[(start + 1)...]
  }

  /// An array of strings.
  package static func array(_ texts: [String]) -> String {
    "[" + texts.map(quoted).joined(separator: ",") + "]"
  }

  /// A number in the shortest form, without a fraction if it is an integer.
  package static func number(_ value: Double) -> String {
    Int(exactly: value).map(String.init) ?? "\(value)"
  }
}
