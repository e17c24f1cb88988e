import CSQLite
import FoundationEssentials

/// A type that a column of a table can hold.
protocol Column {
  /// Gives the value to a parameter of a statement (`sqlite3_bind_…`) and returns SQLite's code.
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
      // An empty string has no address, and SQLite takes an address of nil for NULL.
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

/// A moment is kept as whole milliseconds since 1970.
extension Date: Column {
  func bind(to statement: OpaquePointer, at index: Int32) -> Int32 {
    sqlite3_bind_int64(statement, index, milliseconds)
  }

  static func read(_ statement: OpaquePointer, at index: Int32) -> Date {
    Date(timeIntervalSince1970: Double(sqlite3_column_int64(statement, index)) / 1000)
  }

  private var milliseconds: Int64 {
    let exact = (timeIntervalSince1970 * 1000).rounded(.down)
    return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
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
