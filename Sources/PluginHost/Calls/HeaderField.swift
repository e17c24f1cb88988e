/// One field of a plugin's answer.
struct HeaderField {
  /// The name in lower case.
  let name: String
  let value: String

  /// Reads a line without its end (RFC 3875 section 6.3); nil when it is malformed or folded.
  init?(line: Substring.UTF8View) {
    guard let colon = line.firstIndex(of: UInt8(ascii: ":")), colon != line.startIndex,
      line[..<colon].allSatisfy(HeaderField.isTokenByte)
    else { return nil }
    let isSpace = { (byte: UInt8) in byte == UInt8(ascii: " ") || byte == UInt8(ascii: "\t") }
    let rest = line[line.index(after: colon)...].drop(while: isSpace)
    let end = rest.lastIndex { !isSpace($0) }.map { rest.index(after: $0) } ?? rest.startIndex
    let value = rest[..<end]
    guard value.allSatisfy({ $0 >= 0x20 && $0 != 0x7F || $0 == UInt8(ascii: "\t") }) else {
      return nil
    }
    name = String(Substring(line[..<colon])).lowercased()
    self.value = String(Substring(value))
  }

  /// Takes its place among those that a header has at most once.
  func become(the place: inout String?) throws(Malformation) {
    guard place == nil else { throw Malformation("its header has \(name) twice") }
    place = value
  }

  /// Whether a byte can be in a field's name (RFC 9110 section 5.6.2).
  static func isTokenByte(_ byte: UInt8) -> Bool {
    switch byte {
    case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
      UInt8(ascii: "0")...UInt8(ascii: "9"):
      true
    default:
      "!#$%&'*+-.^_`|~".utf8.contains(byte)
    }
  }

  /// The fields a plugin may set beside its type; all else is the server's affair and dropped.
  static let allowed: Set<String> = [
    "cache-control", "content-disposition", "content-language", "retry-after",
  ]
}
