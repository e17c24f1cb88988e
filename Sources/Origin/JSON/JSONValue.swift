import FoundationEssentials

/// Any JSON text, taken apart (RFC 8259).
package enum JSONValue: Sendable, Hashable {
  case null
  case bool(Bool)
  case number(Double)
  case string(String)
  case array([JSONValue])
  case object([String: JSONValue])

  /// Reads a text; nil when it is not JSON in UTF-8.
  package init?(_ bytes: some Collection<UInt8>) {
    guard let value = JSONReader.value(Array(bytes)) else { return nil }
    self = value
  }

  /// The text, with an object's members in the order of their names.
  package var bytes: [UInt8] {
    var writer = JSONWriter()
    writer.write(self)
    return writer.bytes
  }

  /// The same as a string.
  package var text: String { String(decoding: bytes, as: UTF8.self) }

  /// The object with one more member.
  func with(_ name: String, _ value: JSONValue) -> JSONValue {
    guard case .object(var members) = self else { return self }
    members[name] = value
    return .object(members)
  }

  /// A text that may be missing.
  static func optional(_ text: String?) -> JSONValue { text.map(JSONValue.string) ?? .null }

  /// A time as RFC 3339 writes it, in UTC with seconds.
  static func time(_ date: Date?) -> JSONValue {
    .optional(date.map { $0.formatted(.iso8601) })
  }
}
