/// A row as a line of the text format of PostgreSQL's `COPY`: values separated by tabs, `\N` for NULL.
///
/// Rows of SQLite and of PostgreSQL with the same values have the same line.
struct CopyLine {
  /// The bytes so far, without an end of line.
  private(set) var bytes: [UInt8] = []
  private var isFirst = true

  /// Begins another line.
  mutating func removeAll() {
    bytes.removeAll(keepingCapacity: true)
    isFirst = true
  }

  /// Appends NULL.
  mutating func appendNull() {
    separate()
    bytes += [UInt8(ascii: "\\"), UInt8(ascii: "N")]
  }

  /// Appends a number.
  mutating func append(_ number: Int) {
    separate()
    bytes += String(number).utf8
  }

  /// Appends a text in UTF-8, in the form that a parameter of a statement has.
  mutating func append(_ text: UnsafeBufferPointer<UInt8>) {
    separate()
    guard text.contains(where: Self.mustBeEscaped) else {
      bytes += text
      return
    }
    guard text.contains(where: { $0 == 0 || $0 == 0xEF }) else { return appendEscaped(text) }
    var parameter: [UInt8] = []
    _ = String(decoding: text, as: UTF8.self).appendText(to: &parameter)
    appendEscaped(parameter)
  }

  private static func mustBeEscaped(_ byte: UInt8) -> Bool {
    byte < 0x20 || byte == UInt8(ascii: "\\") || byte == 0xEF
  }

  private mutating func appendEscaped(_ text: some Sequence<UInt8>) {
    for byte in text {
      let letter: Unicode.Scalar? =
        switch byte {
        case 0x08: "b"
        case 0x09: "t"
        case 0x0A: "n"
        case 0x0B: "v"
        case 0x0C: "f"
        case 0x0D: "r"
        case UInt8(ascii: "\\"): "\\"
        default: nil
        }
      if let letter {
        bytes += [UInt8(ascii: "\\"), UInt8(ascii: letter)]
      } else {
        bytes.append(byte)
      }
    }
  }

  private mutating func separate() {
    if !isFirst { bytes.append(UInt8(ascii: "\t")) }
    isFirst = false
  }
}
