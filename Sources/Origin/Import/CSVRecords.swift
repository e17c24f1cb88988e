/// The records of a CSV file (RFC 4180), with fields between commas or, if its first line has them, semicolons.
///
/// A line can end with a carriage return, a line feed or both; empty lines are skipped. Of a record that is malformed
/// only the first line is skipped, and reading goes on in the next one.
struct CSVRecords {
  /// What is wrong with a record.
  enum Fault: Error, Equatable {
    /// A quoted field does not end before ``longestRecord``, or the end of the file.
    case unclosedQuote
    /// A quotation mark in a field that is not quoted, or text after a quoted field.
    case strayQuote
    /// It is longer than ``longestRecord``.
    case tooLong
    case notUTF8
  }

  /// The fields of one line, or of several if a quoted field has line breaks.
  struct Record: Equatable {
    /// The number of the line in which it begins; the first one is 1.
    let line: Int
    /// All fields, or those before the fault; what is not UTF-8 is replaced by U+FFFD.
    var fields: [String] = []
    var fault: Fault?
  }

  /// The most bytes of a record.
  static let longestRecord = 64 << 10

  /// The byte between fields.
  let separator: UInt8
  private let bytes: [UInt8]
  private var position: Int
  private var line = 1

  private static let quote = UInt8(ascii: "\"")
  private static let (lineFeed, carriageReturn) = (UInt8(ascii: "\n"), UInt8(ascii: "\r"))

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
    // Spreadsheets begin with a byte order mark.
    let start = bytes.starts(with: [0xEF, 0xBB, 0xBF]) ? 3 : 0
    position = start
    separator = Self.separator(ofFirstLine: bytes[start...])
  }

  /// The first comma or semicolon that is not quoted; a comma if there is none.
  private static func separator(ofFirstLine bytes: ArraySlice<UInt8>) -> UInt8 {
    var isQuoted = false
    for byte in bytes.prefix(longestRecord) {
      if byte == quote { isQuoted.toggle() }
      if isQuoted { continue }
      if byte == UInt8(ascii: ",") || byte == UInt8(ascii: ";") { return byte }
      if isLineEnd(byte) { break }
    }
    return UInt8(ascii: ",")
  }

  /// The next record; nil after the last.
  mutating func next() -> Record? {
    while position < bytes.count, Self.isLineEnd(bytes[position]) { endLine() }
    guard position < bytes.count else { return nil }
    let start = (position, line)
    var record = Record(line: line)
    do throws(Fault) {
      try readFields(of: &record)
    } catch {
      record.fault = error
      // A quotation mark that is missing would otherwise take the lines below with it.
      (position, line) = start
      while position < bytes.count, !Self.isLineEnd(bytes[position]) { position += 1 }
    }
    endLine()
    return record
  }

  private mutating func readFields(of record: inout Record) throws(Fault) {
    let end = min(bytes.count, position + Self.longestRecord)
    while true {
      let isQuoted = position < end && bytes[position] == Self.quote
      let field = isQuoted ? try quotedField(before: end) : try plainField(before: end)
      if let text = String(validating: field, as: UTF8.self) {
        record.fields.append(text)
      } else {
        record.fields.append(String(decoding: field, as: UTF8.self))
        record.fault = .notUTF8
      }
      guard position < bytes.count, bytes[position] == separator else { return }
      position += 1
    }
  }

  private mutating func plainField(before end: Int) throws(Fault) -> ArraySlice<UInt8> {
    let start = position
    while position < end, !isEndOfField(bytes[position]) {
      guard bytes[position] != Self.quote else { throw .strayQuote }
      position += 1
    }
    guard position < end || position == bytes.count || isEndOfField(bytes[position]) else {
      throw .tooLong
    }
    return bytes[start..<position]
  }

  private mutating func quotedField(before end: Int) throws(Fault) -> ArraySlice<UInt8> {
    var field: [UInt8] = []
    position += 1
    while position < end {
      let byte = bytes[position]
      position += 1
      let next = position < bytes.count ? bytes[position] : nil
      if byte != Self.quote {
        if byte == Self.lineFeed || byte == Self.carriageReturn && next != Self.lineFeed {
          line += 1
        }
        field.append(byte)
      } else if next == Self.quote {
        field.append(byte)
        position += 1
      } else {
        guard next.map(isEndOfField) ?? true else { throw .strayQuote }
        return field[...]
      }
    }
    throw .unclosedQuote
  }

  private func isEndOfField(_ byte: UInt8) -> Bool { byte == separator || Self.isLineEnd(byte) }

  private static func isLineEnd(_ byte: UInt8) -> Bool {
    byte == lineFeed || byte == carriageReturn
  }

  private mutating func endLine() {
    if position < bytes.count, bytes[position] == Self.carriageReturn { position += 1 }
    if position < bytes.count, bytes[position] == Self.lineFeed { position += 1 }
    line += 1
  }
}

extension CSVRecords.Fault: CustomStringConvertible {
  /// What is wrong with a record, and what to do.
  var description: String {
    switch self {
    case .unclosedQuote: "A quoted field begins here and does not end: add the quotation mark."
    case .strayQuote:
      "A field with a quotation mark has to be quoted as a whole, with each of its own marks doubled."
    case .tooLong: "It has more than \(CSVRecords.longestRecord) bytes: shorten it."
    case .notUTF8: "It is not UTF-8: save the file as “CSV UTF-8”."
    }
  }
}
