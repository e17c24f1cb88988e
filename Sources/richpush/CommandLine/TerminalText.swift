import Primitives
import RichPushAPI

/// A text for a terminal: what the program says as it is written, and every value in it as one ``String/printable``
/// text, since others may have written it.
///
///     Terminal.print("#\(id) \(message)")
struct TerminalText: ExpressibleByStringInterpolation {
  /// The text as it is printed.
  let text: String

  init(stringLiteral text: String) { self.text = text }

  init(stringInterpolation: StringInterpolation) { text = stringInterpolation.text }

  private init(printed text: String) { self.text = text }

  /// A value as one line of JSON.
  init(json value: some Encodable) { self.init(json: JSONCoding.text(value)) }

  /// A JSON text.
  init(json text: String) { self.init(printed: text.printableJSON) }

  static func + (first: Self, second: Self) -> Self { Self(printed: first.text + second.text) }

  struct StringInterpolation: StringInterpolationProtocol {
    fileprivate var text = ""

    init(literalCapacity: Int, interpolationCount: Int) { text.reserveCapacity(literalCapacity) }

    mutating func appendLiteral(_ literal: String) { text += literal }

    /// Inserts a value on the same line.
    mutating func appendInterpolation(_ value: some Any) { text += "\(value)".printable }

    /// Inserts another text for a terminal.
    mutating func appendInterpolation(_ other: TerminalText) { text += other.text }

    /// Inserts the lines of a text.
    mutating func appendInterpolation(lines: String) { text += lines.printableLines }
  }
}
