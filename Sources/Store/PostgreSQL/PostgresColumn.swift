import FoundationEssentials

/// A type that a parameter of a statement can have.
///
/// Values are sent and received in PostgreSQL's text form.
protocol PostgresParameter {
  /// Appends the text form and returns true; false for NULL.
  func append(to bytes: inout [UInt8]) -> Bool
}

/// A type that a column can hold.
///
/// An enum or struct with a raw value of such a type conforms by saying so.
protocol PostgresColumn: PostgresParameter {
  /// Parses the text form.
  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Self
  /// The value that NULL stands for; throws unless the type is optional.
  static func parseNull() throws(StoreError) -> Self
}

extension PostgresColumn {
  static func parseNull() throws(StoreError) -> Self {
    throw StoreError(.damaged, "the database is damaged: a value is missing")
  }
}

extension Int: PostgresColumn {
  func append(to bytes: inout [UInt8]) -> Bool {
    bytes += String(self).utf8
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Int {
    guard let number = Int(String(decoding: text, as: UTF8.self)) else {
      throw StoreError(.damaged, "the database is damaged: a number is none")
    }
    return number
  }
}

extension Bool: PostgresColumn {
  func append(to bytes: inout [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: self ? "t" : "f"))
    return true
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) -> Bool {
    text.first == UInt8(ascii: "t")
  }
}

extension String: PostgresColumn {
  // PostgreSQL's texts can't contain U+0000. It is stored as U+FFFF “0”, and U+FFFF, which is no character,
  // as U+FFFF “1”; the rare text with one of them is the only one that differs.
  private static let escape: [UInt8] = [0xEF, 0xBF, 0xBF]

  func append(to bytes: inout [UInt8]) -> Bool {
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
}

/// A time is stored as whole milliseconds since 1970, rounded down.
extension Date: PostgresColumn {
  func append(to bytes: inout [UInt8]) -> Bool {
    bytes += String(milliseconds).utf8
    return true
  }

  /// The time as it is read back.
  var stored: Date { Date(timeIntervalSince1970: Double(milliseconds) / 1000) }

  private var milliseconds: Int64 {
    let exact = (timeIntervalSince1970 * 1000).rounded(.down)
    return Int64(exactly: exact) ?? (exact < 0 ? .min : .max)
  }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Date {
    Date(timeIntervalSince1970: Double(try Int.parse(text)) / 1000)
  }
}

extension Digest: PostgresColumn {
  func append(to bytes: inout [UInt8]) -> Bool { hex.append(to: &bytes) }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Digest {
    guard let digest = Digest(hex: String.parse(text)) else {
      throw StoreError(.damaged, "the database is damaged: a SHA-256 is none")
    }
    return digest
  }
}

extension Optional: PostgresParameter where Wrapped: PostgresParameter {
  func append(to bytes: inout [UInt8]) -> Bool { self?.append(to: &bytes) ?? false }
}

extension Optional: PostgresColumn where Wrapped: PostgresColumn {
  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Wrapped? {
    try Wrapped.parse(text)
  }

  static func parseNull() -> Wrapped? { nil }
}

private func isEscapedInArrays(_ byte: UInt8) -> Bool {
  byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\")
}

/// An array's text form is `{"…","…",NULL}`.
extension Array: PostgresParameter where Element: PostgresParameter {
  func append(to bytes: inout [UInt8]) -> Bool {
    bytes.append(UInt8(ascii: "{"))
    for (index, value) in enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      bytes.append(UInt8(ascii: "\""))
      let start = bytes.count
      guard value.append(to: &bytes) else {
        bytes.removeLast()
        bytes += "NULL".utf8
        continue
      }
      if bytes[start...].contains(where: isEscapedInArrays) {
        let element = Array<UInt8>(bytes[start...])
        bytes.removeSubrange(start...)
        for byte in element {
          if isEscapedInArrays(byte) { bytes.append(UInt8(ascii: "\\")) }
          bytes.append(byte)
        }
      }
      bytes.append(UInt8(ascii: "\""))
    }
    bytes.append(UInt8(ascii: "}"))
    return true
  }
}

extension PostgresColumn where Self: RawRepresentable, RawValue: PostgresColumn {
  func append(to bytes: inout [UInt8]) -> Bool { rawValue.append(to: &bytes) }

  static func parse(_ text: UnsafeBufferPointer<UInt8>) throws(StoreError) -> Self {
    let raw = try RawValue.parse(text)
    guard let value = Self(rawValue: raw) else {
      throw StoreError(.newer, "the database holds a \(Self.self) “\(raw)” unknown to this version")
    }
    return value
  }
}

extension UserID: PostgresColumn {}
extension Role: PostgresColumn {}
extension AssetRecord.State: PostgresColumn {}
extension JobState: PostgresColumn {}
extension StringList: PostgresColumn {}
