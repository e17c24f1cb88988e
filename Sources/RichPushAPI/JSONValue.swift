import JSON

/// Any JSON value (RFC 8259), such as a plugin's details of its media.
@dynamicMemberLookup
public enum JSONValue: Sendable, Hashable {
  /// `null`, or a missing member.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// A string.
  case string(String)
  /// An array.
  case array([JSONValue])
  /// An object.
  case object([String: JSONValue])

  /// A member; `.null` if it is missing.
  public subscript(dynamicMember name: String) -> JSONValue {
    members?[name] ?? .null
  }

  /// The members, if it is an object.
  public var members: [String: JSONValue]? {
    guard case .object(let members) = self else { return nil }
    return members
  }

  /// The string, if it is one.
  public var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The number, if it is one.
  public var double: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  /// The number, if it is an integer.
  public var integer: Int? { double.flatMap(Int.init(exactly:)) }
}

extension JSONValue {
  /// Parses a JSON text; nil if it is not JSON in UTF-8.
  ///
  /// As a part of a message it can only be decoded by attempts, whose time grows with the cube of the depth.
  package init?(_ text: some Sequence<UInt8>) {
    // A byte order mark may be ignored (RFC 8259, section 8.1).
    var bytes = Array(text)[...]
    if bytes.starts(with: "\u{FEFF}".utf8) { bytes.removeFirst(3) }
    guard let value = JSONTree(bytes) else { return nil }
    self.init(value)
  }

  private init(_ value: JSONTree) {
    switch value {
    case .null: self = .null
    case .bool(let bool): self = .bool(bool)
    case .number(let number): self = .number(number)
    case .string(let text): self = .string(text)
    case .array(let items): self = .array(items.map { JSONValue($0) })
    case .object(let members): self = .object(members.mapValues { JSONValue($0) })
    }
  }
}

extension JSONValue: Codable {
  /// Decodes any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    // An attempt that fails costs most of the time, so the most frequent kinds come first.
    if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if value.decodeNil() {
      self = .null
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let members = try? value.decode([String: JSONValue].self) {
      self = .object(members)
    } else if let items = try? value.decode([JSONValue].self) {
      self = .array(items)
    } else {
      self = .bool(try value.decode(Bool.self))
    }
  }

  /// Encodes the value.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number): try value.encode(number)
    case .string(let text): try value.encode(text)
    case .array(let items): try value.encode(items)
    case .object(let members): try value.encode(members)
    }
  }
}
