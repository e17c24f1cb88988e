import CSQLite
import FoundationEssentials

/// A type that a column of a table can hold.
///
/// An enum or struct with a raw value of such a type conforms by saying so.
protocol Column {
  /// Binds the value to a parameter of a statement (`sqlite3_bind_…`); returns SQLite's result code.
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32
  /// Reads a column of the current row (`sqlite3_column_…`).
  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Self
}

extension Int: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, Int64(self))
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Int {
    Int(sqlite3_column_int64(statement, index))
  }
}

extension Bool: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int(statement, index, self ? 1 : 0)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Bool {
    sqlite3_column_int(statement, index) != 0
  }
}

extension String: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    var text = self
    return text.withUTF8 { bytes in
      // An empty string may have no address, and SQLite would bind nil as NULL.
      bytes.withMemoryRebound(to: CChar.self) { characters in
        characters.baseAddress.map {
          csqlite_bind_text(statement, index, $0, Int32(clamping: characters.count))
        } ?? csqlite_bind_text(statement, index, "", 0)
      }
    }
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> String {
    guard let text = sqlite3_column_text(statement, index) else { return "" }
    let count = Int(sqlite3_column_bytes(statement, index))
    return String(decoding: UnsafeBufferPointer(start: text, count: count), as: UTF8.self)
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
    let text = String.read(statement, at: index)
    guard let digest = Digest(hex: text) else {
      throw StoreError(.damaged, "the database is damaged: “\(text)” is no SHA-256")
    }
    return digest
  }
}

extension Optional: Column where Wrapped: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    switch self {
    case .some(let value): value.bind(to: statement, at: index)
    case .none: sqlite3_bind_null(statement, index)
    }
  }

  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Wrapped? {
    if sqlite3_column_type(statement, index) == SQLITE_NULL { return nil }
    return try Wrapped.read(statement, at: index)
  }
}

extension Column where Self: RawRepresentable, RawValue: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    rawValue.bind(to: statement, at: index)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) throws(StoreError) -> Self {
    let raw = try RawValue.read(statement, at: index)
    guard let value = Self(rawValue: raw) else {
      throw StoreError(.newer, "the database holds a \(Self.self) “\(raw)” unknown to this version")
    }
    return value
  }
}

extension UserID: Column {}
extension Role: Column {}
extension AssetRecord.State: Column {}
extension JobState: Column {}
extension StringList: Column {}
