/// Percent-encoding (RFC 3986, section 2.1), decoded exactly once.
enum PercentEncoding {
  /// The decoded text; nil for an invalid escape, a NUL or bytes that are not UTF-8.
  static func decode(_ encoded: Substring.UTF8View, plusIsBlank: Bool = false) -> String? {
    let isPlain = !encoded.contains {
      $0 == UInt8(ascii: "%") || plusIsBlank && $0 == UInt8(ascii: "+")
    }
    if isPlain { return String(Substring(encoded)) }
    var decoded: [UInt8] = []
    decoded.reserveCapacity(encoded.count)
    var rest = encoded[...]
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "%"):
        guard let high = rest.popFirst().flatMap(digit), let low = rest.popFirst().flatMap(digit),
          high | low != 0
        else { return nil }
        decoded.append(high << 4 | low)
      case UInt8(ascii: "+") where plusIsBlank: decoded.append(UInt8(ascii: " "))
      default: decoded.append(byte)
      }
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

  private static func digit(_ byte: UInt8) -> UInt8? {
    switch byte {
    case UInt8(ascii: "0")...UInt8(ascii: "9"): byte - UInt8(ascii: "0")
    case UInt8(ascii: "a")...UInt8(ascii: "f"): byte - UInt8(ascii: "a") + 10
    case UInt8(ascii: "A")...UInt8(ascii: "F"): byte - UInt8(ascii: "A") + 10
    default: nil
    }
  }
}
