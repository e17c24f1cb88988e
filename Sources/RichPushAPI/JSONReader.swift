/// A strict JSON parser (RFC 8259) for one value with limited nesting.
struct JSONReader {
  /// The text is not JSON.
  private struct Malformed: Error, CustomStringConvertible {
    var description: String { "the text is not JSON" }
  }

  private let bytes: [UInt8]
  private var next = 0
  private var depth = 0
  private static let deepest = 256

  /// The value of a text in UTF-8; nil when it is not JSON.
  static func value(_ text: [UInt8]) -> JSON? {
    // Strings are copied without further checks.
    guard String(validating: text, as: UTF8.self) != nil else { return nil }
    var reader = JSONReader(bytes: text)
    // Windows editors add a byte order mark, which section 8.1 allows to ignore.
    if text.starts(with: [0xEF, 0xBB, 0xBF]) { reader.next = 3 }
    do throws(Malformed) {
      let value = try reader.value()
      return reader.peek() == nil ? value : nil
    } catch {
      return nil
    }
  }

  private init(bytes: [UInt8]) { self.bytes = bytes }

  /// The next byte that is not white space; nil at the end.
  private mutating func peek() -> UInt8? {
    while next < bytes.count {
      switch bytes[next] {
      case 0x20, 0x0A, 0x0D, 0x09: next += 1
      case let byte: return byte
      }
    }
    return nil
  }

  private mutating func take(_ byte: Unicode.Scalar) -> Bool {
    guard peek() == UInt8(ascii: byte) else { return false }
    next += 1
    return true
  }

  private mutating func require(_ isThere: Bool) throws(Malformed) {
    guard isThere else { throw Malformed() }
  }

  private mutating func value() throws(Malformed) -> JSON {
    switch peek() {
    case UInt8(ascii: "{"): return .object(try members())
    case UInt8(ascii: "["): return .array(try items())
    case UInt8(ascii: "\""): return .string(try string())
    case UInt8(ascii: "t"): return try word("true", .bool(true))
    case UInt8(ascii: "f"): return try word("false", .bool(false))
    case UInt8(ascii: "n"): return try word("null", .null)
    default: return .number(try number())
    }
  }

  private mutating func word(
    _ word: StaticString, _ value: JSON
  ) throws(Malformed) -> JSON {
    let isIt = word.withUTF8Buffer { bytes[next...].starts(with: $0) }
    try require(isIt)
    next += word.utf8CodeUnitCount
    return value
  }

  private mutating func members() throws(Malformed) -> [String: JSON] {
    var members: [String: JSON] = [:]
    try enter()
    defer { depth -= 1 }
    if take("}") { return members }
    repeat {
      try require(peek() == UInt8(ascii: "\""))
      let name = try string()
      try require(take(":"))
      members[name] = try value()
    } while take(",")
    try require(take("}"))
    return members
  }

  private mutating func items() throws(Malformed) -> [JSON] {
    var items: [JSON] = []
    try enter()
    defer { depth -= 1 }
    if take("]") { return items }
    repeat { items.append(try value()) } while take(",")
    try require(take("]"))
    return items
  }

  private mutating func enter() throws(Malformed) {
    next += 1
    depth += 1
    try require(depth <= Self.deepest)
  }

  private mutating func number() throws(Malformed) -> Double {
    let start = next
    var whole = 0
    while next < bytes.count, (0x30...0x39).contains(bytes[next]), next - start < 15 {
      whole = whole * 10 + Int(bytes[next] - 0x30)
      next += 1
    }
    let isWhole = next == bytes.count || !"+-.0123456789Ee".utf8.contains(bytes[next])
    if isWhole, next > start, bytes[start] != 0x30 || next == start + 1 { return Double(whole) }
    while next < bytes.count, "+-.0123456789Ee".utf8.contains(bytes[next]) { next += 1 }
    let text = String(decoding: bytes[start..<next], as: UTF8.self)
    let digits = text.drop { $0 == "-" }
    let isPlain = text.utf8.count - digits.utf8.count < 2 && digits.first?.isNumber == true
    let hasZero = digits.hasPrefix("0") && digits.dropFirst().first?.isNumber == true
    let hasGap = text.contains(".e") || text.contains(".E") || text.hasSuffix(".")
    guard isPlain, !hasZero, !hasGap, let number = Double(text), number.isFinite else {
      throw Malformed()
    }
    return number
  }

  private mutating func string() throws(Malformed) -> String {
    next += 1
    var start = next
    var text = ""
    while next < bytes.count {
      let byte = bytes[next]
      try require(byte >= 0x20)
      guard byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\") else {
        next += 1
        continue
      }
      text += String(decoding: bytes[start..<next], as: UTF8.self)
      next += 1
      if byte == UInt8(ascii: "\"") { return text }
      text.unicodeScalars.append(try escaped())
      start = next
    }
    throw Malformed()
  }

  private mutating func escaped() throws(Malformed) -> Unicode.Scalar {
    try require(next < bytes.count)
    next += 1
    switch bytes[next - 1] {
    case UInt8(ascii: "\""): return "\""
    case UInt8(ascii: "\\"): return "\\"
    case UInt8(ascii: "/"): return "/"
    case UInt8(ascii: "b"): return "\u{8}"
    case UInt8(ascii: "f"): return "\u{C}"
    case UInt8(ascii: "n"): return "\n"
    case UInt8(ascii: "r"): return "\r"
    case UInt8(ascii: "t"): return "\t"
    case UInt8(ascii: "u"): return try scalar()
    default: throw Malformed()
    }
  }

  /// The character of one `\u` escape, or of two (a UTF-16 surrogate pair).
  private mutating func scalar() throws(Malformed) -> Unicode.Scalar {
    let unit = try hexadecimal()
    if let scalar = Unicode.Scalar(unit) { return scalar }
    try require(unit < 0xDC00 && bytes[next...].starts(with: "\\u".utf8))
    next += 2
    let low = try hexadecimal()
    guard (0xDC00..<0xE000).contains(low),
      let scalar = Unicode.Scalar(0x10000 + (unit - 0xD800) << 10 + (low - 0xDC00))
    else { throw Malformed() }
    return scalar
  }

  private mutating func hexadecimal() throws(Malformed) -> UInt32 {
    let digits = bytes[next...].prefix(4)
    // `UInt32(_:radix:)` accepts a sign.
    guard digits.count == 4, digits.first != UInt8(ascii: "+"),
      let unit = UInt32(String(decoding: digits, as: UTF8.self), radix: 16)
    else { throw Malformed() }
    next += 4
    return unit
  }
}
