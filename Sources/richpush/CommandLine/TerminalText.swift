import Origin
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

  /// A QR code with its quiet zone, two rows of modules in a line.
  ///
  /// Black on white by colours that no theme changes, so that phones read it from dark terminals too.
  init(_ code: QRCode) {
    let zone = QRCode.quietZone
    let range = -zone..<code.width + zone
    func isDark(_ row: Int, _ column: Int) -> Bool {
      code.rows.indices.contains(row) && code.rows.indices.contains(column)
        && code.rows[row][column]
    }
    let lines = stride(from: range.lowerBound, to: range.upperBound, by: 2).map { row in
      let characters = range.map { column in
        switch (isDark(row, column), isDark(row + 1, column)) {
        case (true, true): "\u{2588}"
        case (true, false): "\u{2580}"
        case (false, true): "\u{2584}"
        case (false, false): " "
        }
      }
      // Of the 256 colours, which themes leave as they are: 16 is black, 231 is white.
      return "\u{1B}[38;5;16;48;5;231m\(characters.joined())\u{1B}[0m"
    }
    self.init(printed: lines.joined(separator: "\n"))
  }

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
