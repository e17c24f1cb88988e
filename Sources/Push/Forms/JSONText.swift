/// JSON written by hand, where the order and the spacing of the text are part of the contract, or an
/// encoder would be too slow.
package enum JSONText {
  /// A JSON string literal with its quotes: only what RFC 8259 section 7 demands is escaped.
  package static func quoted(_ text: String) -> String {
    var literal = "\""
    literal.reserveCapacity(text.utf8.count + 2)
    for scalar in text.unicodeScalars { escape(scalar, into: &literal) }
    literal += "\""
    return literal
  }

  /// The bytes that a piece of text takes inside a string literal, without the quotes.
  static func length(of text: some StringProtocol) -> Int {
    text.utf8.reduce(0) { $0 + length(of: $1) }
  }

  private static func escape(_ scalar: Unicode.Scalar, into literal: inout String) {
    switch scalar {
    case "\"": literal += "\\\""
    case "\\": literal += "\\\\"
    case "\n": literal += "\\n"
    case "\r": literal += "\\r"
    case "\t": literal += "\\t"
    case "\0"..<" ":
      let digits = String(scalar.value, radix: 16)
      literal += "\\u" + String(repeating: "0", count: 4 - digits.count) + digits
    default: literal.unicodeScalars.append(scalar)
    }
  }

  private static func length(of byte: UInt8) -> Int {
    switch byte {
    case UInt8(ascii: "\""), UInt8(ascii: "\\"): 2
    case UInt8(ascii: "\n"), UInt8(ascii: "\r"), UInt8(ascii: "\t"): 2
    case 0..<0x20: 6
    default: 1
    }
  }
}
