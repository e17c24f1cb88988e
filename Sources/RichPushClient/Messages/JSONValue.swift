/// Any JSON value (RFC 8259), for what a plugin says about its media.
@dynamicMemberLookup
public enum JSONValue: Sendable, Equatable {
  /// `null`, also where a member is missing.
  case null
  /// `true` or `false`.
  case bool(Bool)
  /// A number.
  case number(Double)
  /// A text.
  case string(String)
  /// A list.
  case array([JSONValue])
  /// Members with names.
  case object([String: JSONValue])

  /// A member by name; `.null` when there is none.
  public subscript(dynamicMember name: String) -> JSONValue {
    guard case .object(let members) = self else { return .null }
    return members[name] ?? .null
  }

  /// The text, if this is one.
  public var text: String? {
    guard case .string(let text) = self else { return nil }
    return text
  }

  /// The number, if this is one.
  public var double: Double? {
    guard case .number(let number) = self else { return nil }
    return number
  }

  /// The number, if this is a whole one.
  public var integer: Int? { double.flatMap(Int.init(exactly:)) }
}

extension JSONValue: Codable {
  /// Reads any JSON value.
  public init(from decoder: any Decoder) throws {
    let value = try decoder.singleValueContainer()
    if value.decodeNil() {
      self = .null
    } else if let bool = try? value.decode(Bool.self) {
      self = .bool(bool)
    } else if let number = try? value.decode(Double.self) {
      self = .number(number)
    } else if let text = try? value.decode(String.self) {
      self = .string(text)
    } else if let list = try? value.decode([JSONValue].self) {
      self = .array(list)
    } else {
      self = .object(try value.decode([String: JSONValue].self))
    }
  }

  /// Writes the value as it is.
  public func encode(to encoder: any Encoder) throws {
    var value = encoder.singleValueContainer()
    switch self {
    case .null: try value.encodeNil()
    case .bool(let bool): try value.encode(bool)
    case .number(let number): try value.encode(number)
    case .string(let text): try value.encode(text)
    case .array(let list): try value.encode(list)
    case .object(let members): try value.encode(members)
    }
  }
}
