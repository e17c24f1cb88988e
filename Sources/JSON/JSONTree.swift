/// A parsed JSON text (RFC 8259).
///
/// Unlike Foundation's parsers it accepts nothing else, and adds nothing to a program's size.
package enum JSONTree: Sendable, Equatable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONTree])
  case object([String: JSONTree])

  /// Parses a text; nil if it is not JSON in UTF-8, nested deeper than 512 levels, or has a number beyond
  /// a `Double`.
  ///
  /// A member that occurs twice has its first value.
  package init?(_ text: some Sequence<UInt8>) {
    let bytes = Array(text)
    guard String(validating: bytes, as: UTF8.self) != nil else { return nil }
    var parser = JSONParser(bytes[...])
    guard let value = parser.value(depth: 512), parser.isAtEnd else { return nil }
    self = value
  }

  /// A member of an object; nil if it is missing or null.
  package subscript(name: String) -> JSONTree? {
    guard case .object(let members) = self, let member = members[name], member != .null else {
      return nil
    }
    return member
  }

  /// The string, if it is one.
  package var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The number, if it is an integer.
  package var integer: Int? {
    guard case .number(let number) = self else { return nil }
    return Int(exactly: number)
  }

  /// The elements, if it is an array.
  package var elements: [JSONTree]? {
    guard case .array(let elements) = self else { return nil }
    return elements
  }
}

/// Reads bytes that are UTF-8 as a whole.
private struct JSONParser {
  private var rest: ArraySlice<UInt8>

  init(_ bytes: ArraySlice<UInt8>) { rest = bytes }

  var isAtEnd: Bool {
    mutating get {
      skipSpaces()
      return rest.isEmpty
    }
  }

  mutating func value(depth: Int) -> JSONTree? {
    skipSpaces()
    guard depth > 0, let first = rest.first else { return nil }
    switch first {
    case UInt8(ascii: "{"): return object(depth: depth)
    case UInt8(ascii: "["): return array(depth: depth)
    case UInt8(ascii: "\""): return string().map(JSONTree.string)
    case UInt8(ascii: "n"): return take("null") ? .null : nil
    case UInt8(ascii: "t"): return take("true") ? .bool(true) : nil
    case UInt8(ascii: "f"): return take("false") ? .bool(false) : nil
    default: return number()
    }
  }

  private mutating func object(depth: Int) -> JSONTree? {
    var members: [String: JSONTree] = [:]
    let isComplete = list(until: "}") { parser in
      guard let name = parser.string() else { return false }
      parser.skipSpaces()
      guard parser.take(":"), let value = parser.value(depth: depth - 1) else { return false }
      if members[name] == nil { members[name] = value }
      return true
    }
    return isComplete ? .object(members) : nil
  }

  private mutating func array(depth: Int) -> JSONTree? {
    var elements: [JSONTree] = []
    let isComplete = list(until: "]") { parser in
      guard let value = parser.value(depth: depth - 1) else { return false }
      elements.append(value)
      return true
    }
    return isComplete ? .array(elements) : nil
  }

  /// Reads items that commas separate, behind an opening bracket.
  private mutating func list(until end: StaticString, item: (inout Self) -> Bool) -> Bool {
    rest = rest.dropFirst()
    skipSpaces()
    if take(end) { return true }
    while true {
      skipSpaces()
      guard item(&self) else { return false }
      skipSpaces()
      if take(end) { return true }
      guard take(",") else { return false }
    }
  }

  private mutating func string() -> String? {
    guard take("\"") else { return nil }
    var text: [UInt8] = []
    while let byte = rest.popFirst() {
      switch byte {
      case UInt8(ascii: "\""): return String(decoding: text, as: UTF8.self)
      case UInt8(ascii: "\\"):
        guard let scalar = escaped() else { return nil }
        text += String(scalar).utf8
      case ..<0x20: return nil
      default: text.append(byte)
      }
    }
    return nil
  }

  /// The character behind a backslash.
  private mutating func escaped() -> Unicode.Scalar? {
    switch rest.popFirst() {
    case UInt8(ascii: "\""): "\""
    case UInt8(ascii: "\\"): "\\"
    case UInt8(ascii: "/"): "/"
    case UInt8(ascii: "b"): "\u{8}"
    case UInt8(ascii: "f"): "\u{C}"
    case UInt8(ascii: "n"): "\n"
    case UInt8(ascii: "r"): "\r"
    case UInt8(ascii: "t"): "\t"
    case UInt8(ascii: "u"): scalar()
    default: nil
    }
  }

  /// One character by the digits of one or, beyond U+FFFF, two code units of UTF-16.
  private mutating func scalar() -> Unicode.Scalar? {
    guard let unit = codeUnit() else { return nil }
    guard UTF16.isLeadSurrogate(unit) else { return Unicode.Scalar(unit) }
    guard take("\\u"), let trail = codeUnit(), UTF16.isTrailSurrogate(trail) else { return nil }
    return Unicode.Scalar(0x10000 + (UInt32(unit & 0x3FF) << 10 | UInt32(trail & 0x3FF)))
  }

  private mutating func codeUnit() -> UInt16? {
    let digits = rest.prefix(4)
    rest = rest.dropFirst(4)
    // UInt16() accepts a sign.
    guard digits.count == 4, digits.first != UInt8(ascii: "+"), digits.first != UInt8(ascii: "-")
    else { return nil }
    return UInt16(String(decoding: digits, as: UTF8.self), radix: 16)
  }

  private mutating func number() -> JSONTree? {
    let text = rest.prefix { "+-.0123456789Ee".utf8.contains($0) }
    rest = rest[text.endIndex...]
    // Double() accepts more, such as 01, .5 and 1. without digits.
    let digits = text.first == UInt8(ascii: "-") ? text.dropFirst() : text
    let integer = digits.prefix(while: isDigit)
    guard !integer.isEmpty, integer.count == 1 || integer.first != UInt8(ascii: "0") else {
      return nil
    }
    let fraction = digits[integer.endIndex...]
    if fraction.first == UInt8(ascii: "."), fraction.dropFirst().first.map(isDigit) != true {
      return nil
    }
    guard let number = Double(String(decoding: text, as: UTF8.self)), number.isFinite else {
      return nil
    }
    return .number(number)
  }

  private func isDigit(_ byte: UInt8) -> Bool {
    (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(byte)
  }

  private mutating func take(_ text: StaticString) -> Bool {
    let isNext = text.withUTF8Buffer { rest.starts(with: $0) }
    if isNext { rest = rest.dropFirst(text.utf8CodeUnitCount) }
    return isNext
  }

  private mutating func skipSpaces() { rest = rest.drop { " \t\n\r".utf8.contains($0) } }
}
