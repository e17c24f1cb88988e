import Foundation

/// Any JSON value (RFC 8259), such as a plugin's details of its media.
@dynamicMemberLookup
public enum JSONValue: Sendable, Equatable {
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
    guard case .object(let members) = self else { return .null }
    return members[name] ?? .null
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

extension JSONValue: Codable {
  /// Decodes any JSON value.
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

  /// Encodes the value.
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

/// Encodes and decodes the JSON of the API: times are RFC 3339, with or without fractions of a second.
enum JSONCoding {
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Decodes the body of a response.
  static func value<Value: Decodable>(in data: Data) throws(RichPushError) -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom(date)
    do {
      return try decoder.decode(Value.self, from: data)
    } catch {
      let reason = (error as? DecodingError).map(reason) ?? error.localizedDescription
      throw RichPushError(.malformed, "The server's response is not as expected: \(reason)")
    }
  }

  private static func reason(for error: DecodingError) -> String {
    let (context, problem) =
      switch error {
      case .keyNotFound(let key, let context): (context, "has no “\(key.stringValue)”")
      case .typeMismatch(_, let context), .valueNotFound(_, let context):
        (context, "has an unexpected type")
      case .dataCorrupted(let context): (context, "is not valid")
      @unknown default: (.init(codingPath: [], debugDescription: ""), "is not valid")
      }
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return "\(path.isEmpty ? "it" : path) \(problem)."
  }

  private static func date(_ decoder: any Decoder) throws -> Date {
    let text = try decoder.singleValueContainer().decode(String.self)
    let whole = Date.ISO8601FormatStyle()
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return try (try? whole.parse(text)) ?? fractional.parse(text)
  }
}
