/// The query of a URL as CGI hands it over: still encoded (RFC 3875 section 4.1.7).
enum QueryString {
  /// The pairs of `text`; of two with one name the last holds.
  static func decoded(_ text: String) -> [String: String] {
    var pairs: [String: String] = [:]
    for item in text.utf8.split(separator: UInt8(ascii: "&")) {
      let parts = item.split(
        separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
      pairs[unescaped(parts[0])] = parts.count > 1 ? unescaped(parts[1]) : ""
    }
    return pairs
  }

  private static func unescaped(_ text: Substring.UTF8View) -> String {
    var bytes: [UInt8] = []
    var rest = text
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "+"):
        bytes.append(UInt8(ascii: " "))
      case UInt8(ascii: "%"):
        if let digits = String(rest.prefix(2)), digits.utf8.count == 2,
          let value = UInt8(digits, radix: 16)
        {
          bytes.append(value)
          rest = rest.dropFirst(2)
        } else {
          bytes.append(byte)
        }
      default:
        bytes.append(byte)
      }
    }
    return String(decoding: bytes, as: UTF8.self)
  }
}
