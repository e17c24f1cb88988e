/// Percent-encoding (RFC 3986, section 2.1), decoded exactly once.
enum PercentEncoding {
  /// The decoded text; nil for an invalid escape, a NUL or bytes that are not UTF-8.
  static func decode(_ encoded: Span<UInt8>, plusIsBlank: Bool = false) -> String? {
    if isPlain(encoded, plusIsBlank: plusIsBlank) {
      guard let text = try? UTF8Span(validating: encoded) else { return nil }
      return String(copying: text)
    }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(encoded.count)
    var index = 0
    while index < encoded.count {
      switch encoded[index] {
      case UInt8(ascii: "%"):
        guard index + 2 < encoded.count, let high = digit(encoded[index + 1]),
          let low = digit(encoded[index + 2]), high | low != 0
        else { return nil }
        decoded.append(high << 4 | low)
        index += 2
      case UInt8(ascii: "+") where plusIsBlank: decoded.append(UInt8(ascii: " "))
      case let byte: decoded.append(byte)
      }
      index += 1
    }
    return String(validating: decoded, as: UTF8.self)
  }

  /// The text with everything but RFC 3986's unreserved characters escaped.
  static func encode(_ text: String) -> String {
    var encoded = ""
    for byte in text.utf8 {
      let scalar = Unicode.Scalar(byte)
      switch scalar {
      case "a"..."z", "A"..."Z", "0"..."9", "-", ".", "_", "~":
        encoded.unicodeScalars.append(scalar)
      default:
        encoded += byte < 16 ? "%0" : "%"
        encoded += String(byte, radix: 16, uppercase: true)
      }
    }
    return encoded
  }

  private static func isPlain(_ encoded: Span<UInt8>, plusIsBlank: Bool) -> Bool {
    for index in encoded.indices {
      let byte = encoded[index]
      if byte == UInt8(ascii: "%") || plusIsBlank && byte == UInt8(ascii: "+") { return false }
    }
    return true
  }

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
