import CSQLite
import FoundationEssentials
import Primitives

/// A value that a parameter of a statement can have.
protocol Parameter {
  /// Binds the value to a parameter of SQLite (`sqlite3_bind_…`); returns its result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
  /// Appends PostgreSQL's text form and returns true; false for NULL.
  func appendText(to bytes: inout [UInt8]) -> Bool
}

/// A type that a column of a table can hold, in each database.
///
/// An enum or struct with a raw value of such a type conforms by saying so.
protocol Column: Parameter {
  /// Reads a column of SQLite's current row (`sqlite3_column_…`).
  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Self
  /// Parses PostgreSQL's text form.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Self
  /// The value that NULL stands for; throws unless the type is optional.
  static func parseNull() throws(StoreError) -> Self
  /// The value as JSON, an element of a list in SQLite.
  var json: String { get }
}

extension Column {
  static func parseNull() throws(StoreError) -> Self {
    throw StoreError(.unreadable, "a value in the database is missing")
  }
}

extension Int: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, Int64(self))
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Int {
    Int(sqlite3_column_int64(statement, index))
  }

  func appendText(to bytes: inout [UInt8]) -> Bool {
    bytes += String(self).utf8
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Int {
    guard let number = Int(String(decoding: text, as: UTF8.self)) else {
      throw StoreError(.unreadable, "a number in the database is none")
    }
    return number
  }

  var json: String { String(self) }
}

extension Bool: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int(statement, index, self ? 1 : 0)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Bool {
    sqlite3_column_int(statement, index) != 0
  }

  func appendText(to bytes: inout [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: self ? "t" : "f"))
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.first == UInt8(ascii: "t")
  }

  var json: String { self ? "true" : "false" }
}

extension String: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { $0.bind(to: statement, at: index) }
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> String {
    guard let text = sqlite3_column_text(statement, index) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, index))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
  }

  // PostgreSQL's texts can't contain U+0000. It is stored as U+FFFF “0”, and U+FFFF, which is no character,
  // as U+FFFF “1”; the rare text with one of them is the only one that differs.
  private static let escape: [UInt8] = [0xEF, 0xBF, 0xBF]

  func appendText(to bytes: inout [UInt8]) -> Bool {
    let start = bytes.count
    bytes += utf8
    guard bytes[start...].contains(where: { $0 == 0 || $0 == 0xEF }) else { return true }
    let escaped = unicodeScalars.reduce(into: [UInt8]()) { escaped, scalar in
      switch scalar {
      case "\0": escaped += Self.escape + [UInt8(ascii: "0")]
      case "\u{FFFF}": escaped += Self.escape + [UInt8(ascii: "1")]
      default: escaped += Character(scalar).utf8
      }
    }
    bytes.replaceSubrange(start..., with: escaped)
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> String {
    let string = String(decoding: text, as: UTF8.self)
    guard text.contains(0xEF), string.unicodeScalars.contains("\u{FFFF}") else { return string }
    var (scalars, isEscaped) = (UnicodeScalarView(), false)
    for scalar in string.unicodeScalars {
      if isEscaped {
        scalars.append(scalar == "0" ? "\0" : "\u{FFFF}")
        isEscaped = false
      } else if scalar == "\u{FFFF}" {
        isEscaped = true
      } else {
        scalars.append(scalar)
      }
    }
    return String(scalars)
  }

  var json: String { JSONText.quoted(self) }
}

extension UnsafeBufferPointer<UInt8> {
  /// Binds UTF-8 as a text.
  fileprivate func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    // An empty one may have no address, and SQLite would bind nil as NULL.
    withMemoryRebound(to: CChar.self) { characters in
      characters.baseAddress.map {
        csqlite_bind_text(statement, index, $0, Int32(clamping: characters.count))
      } ?? csqlite_bind_text(statement, index, "", 0)
    }
  }
}

/// A time is stored as whole milliseconds since 1970, rounded down.
extension Date: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, milliseconds)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Date {
    Date(timeIntervalSince1970: Double(sqlite3_column_int64(statement, index)) / 1000)
  }

  func appendText(to bytes: inout [UInt8]) -> Bool {
    bytes += String(milliseconds).utf8
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Date {
    Date(timeIntervalSince1970: Double(try Int.parse(text)) / 1000)
  }

  var json: String { String(milliseconds) }

  /// The time as it is read back.
  var stored: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  private var milliseconds: Int64 {
    let exact = (timeIntervalSince1970 * 1000).rounded(.down)
    // Int64(exactly:) costs as much as all the rest.
    return abs(exact) < 0x1p63 ? Int64(exact) : exact < 0 ? .min : .max
  }
}

extension Digest: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    hex.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Digest {
    try Digest(stored: String.read(statement, at: index))
  }

  func appendText(to bytes: inout [UInt8]) -> Bool { hex.appendText(to: &bytes) }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Digest {
    try Digest(stored: String.parse(text))
  }

  private init(stored text: String) throws(StoreError) {
    guard let digest = Digest(hex: text) else {
      throw StoreError(.unreadable, "“\(text)” in the database is no SHA-256")
    }
    self = digest
  }

  var json: String { hex.json }
}

extension Optional: Parameter where Wrapped: Parameter {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .some(let value): value.bind(to: statement, at: index)
    case .none: sqlite3_bind_null(statement, index)
    }
  }

  func appendText(to bytes: inout [UInt8]) -> Bool { self?.appendText(to: &bytes) ?? false }
}

extension Optional: Column where Wrapped: Column {
  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Wrapped? {
    if sqlite3_column_type(statement, index) == SQLITE_NULL { return nil }
    return try Wrapped.read(statement, at: index)
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Wrapped? {
    try Wrapped.parse(text)
  }

  static func parseNull() -> Wrapped? { nil }

  var json: String { self?.json ?? "null" }
}

/// A list, which is an array in PostgreSQL and a text of JSON in SQLite.
extension Array: Parameter where Element: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    ColumnValues(self).bind(to: statement, at: index)
  }

  func appendText(to bytes: inout [UInt8]) -> Bool { ColumnValues(self).appendText(to: &bytes) }
}

/// A list of values of one type, which the statement knows.
struct ColumnValues: Parameter {
  private let values: [any Column]

  init(_ values: [any Column]) { self.values = values }

  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    "[\(values.map { $0.json }.joined(separator: ","))]".bind(to: statement, at: index)
  }

  /// The text form of an array is `{"…","…",NULL}`.
  func appendText(to bytes: inout [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: "{"))
    for (index, value) in values.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      let start = bytes.count
      guard value.appendText(to: &bytes) else {
        bytes.removeLast()
        bytes += "NULL".utf8
        continue
      }
      if bytes[start...].contains(where: Self.isEscaped) {
        let element = Array<UInt8>(bytes[start...])
        bytes.removeSubrange(start...)
        for byte in element {
          if Self.isEscaped(byte) { bytes.append(UInt8(ascii: "\\")) }
          bytes.append(byte)
        }
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: "}"))
    return true
  }

  private static func isEscaped(_ byte: UInt8) -> Bool {
    byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
  }
}

extension Column where Self: RawRepresentable, RawValue: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    rawValue.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Self {
    try Self(stored: RawValue.read(statement, at: index))
  }

  func appendText(to bytes: inout [UInt8]) -> Bool { rawValue.appendText(to: &bytes) }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Self {
    try Self(stored: RawValue.parse(text))
  }

  private init(stored raw: RawValue) throws(StoreError) {
    guard let value = Self(rawValue: raw) else {
      throw StoreError(.newer, "the database holds a \(Self.self) “\(raw)” unknown to this version")
    }
    self = value
  }

  var json: String { rawValue.json }
}

extension UserID: Column {}
extension Role: Column {}
extension AssetRecord.State: Column {}
extension JobState: Column {}
extension StringList: Column {}
