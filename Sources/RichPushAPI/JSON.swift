package import FoundationEssentials
import Primitives

/// Any JSON value (RFC 8259).
package enum JSON: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSON])
  case object([String: JSON])

  /// Parses a JSON text; nil if it is not JSON in UTF-8.
  package init?(_ bytes: some Collection<UInt8>) {
    guard let value = JSONReader.value(Array(bytes)) else { return nil }
    self = value
  }

  /// The JSON text, with an object's members sorted by name.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }

  /// The JSON text as a string.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The object with a member added or replaced.
  package func with(_ name: String, _ value: JSON) -> JSON {
    guard case .object(var members) = self else { return self }
    members[name] = value
    return .object(members)
  }

  /// A string, or `null`.
  package static func optional(_ text: String?) -> JSON { text.map(JSON.string) ?? .null }

  /// A time (RFC 3339), in UTC with seconds, or `null`.
  package static func time(_ date: Date?) -> JSON {
    .optional(date.map { $0.formatted(.iso8601) })
  }
}

/// Writes JSON without white space, an object's members sorted by name.
struct JSONWriter {
  private(set) var bytes: [UInt8] = []

  mutating func write(_ value: JSON) {
    switch value {
    case .null: bytes += "null".utf8
    case .bool(let value): bytes += (value ? "true" : "false").utf8
    case .number(let value): bytes += Self.text(of: value).utf8
    case .string(let text): JSONText.append(text, to: &bytes)
    case .array(let items): list(items, "[", "]") { writer, item in writer.write(item) }
    case .object(let members):
      list(members.sorted { $0.key < $1.key }, "{", "}") { writer, member in
        JSONText.append(member.key, to: &writer.bytes)
        writer.bytes.append(UInt8(ascii: ":"))
        writer.write(member.value)
      }
    }
  }

  private mutating func list<Item>(
    _ items: [Item], _ start: Unicode.Scalar, _ end: Unicode.Scalar,
    _ write: (inout JSONWriter, Item) -> Void
  ) {
    bytes.append(UInt8(ascii: start))
    for (index, item) in items.enumerated() {
      if index > 0 { bytes.append(UInt8(ascii: ",")) }
      write(&self, item)
    }
    bytes.append(UInt8(ascii: end))
  }

  /// A whole number without a decimal point; a number that JSON cannot express as `null`.
  private static func text(of number: Double) -> String {
    if let whole = Int(exactly: number) { return String(whole) }
    return number.isFinite ? "\(number)" : "null"
  }
}
