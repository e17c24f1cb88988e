#if canImport(FoundationEssentials)
  package import FoundationEssentials
#else
  package import Foundation
#endif

/// Encodes and decodes messages: times are RFC 3339, and members are sorted by name.
package enum JSONCoding {
  private static let encoder: JSONEncoder = {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }()

  /// The JSON text of a message.
  package static func encode(_ message: some Encodable) -> [UInt8] {
    // Only a number that JSON cannot express fails, and no message has one.
    (try? encoder.encode(message)).map(Array.init) ?? Array("null".utf8)
  }

  /// The JSON text of a message, as a string.
  package static func text(_ message: some Encodable) -> String {
    String(decoding: encode(message), as: UTF8.self)
  }

  /// Decodes a message; unknown members are ignored.
  ///
  /// - Throws: `invalidRequest`, with a sentence about the first member that is missing or wrong.
  package static func decode<Message: Decodable>(
    _ type: Message.Type = Message.self, from text: some Sequence<UInt8>
  ) throws(ServiceError) -> Message {
    try decode(from: Data(text), asRequest: false)
  }

  private static func decode<Message: Decodable>(
    from text: Data, asRequest: Bool
  ) throws(ServiceError) -> Message {
    guard isText(text) else { throw notJSON }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom(time)
    if let key = CodingUserInfoKey.text { decoder.userInfo[key] = text }
    if let key = CodingUserInfoKey.isRequest { decoder.userInfo[key] = asRequest }
    do {
      return try decoder.decode(Message.self, from: text)
    } catch let error as DecodingError {
      throw ServiceError(error)
    } catch {
      throw error as? ServiceError ?? notJSON
    }
  }

  /// Decodes a request.
  ///
  /// - Throws: `invalidRequest`, or `unknownField` for a member that the message does not have.
  package static func request<Message: RequestMessage>(
    _ type: Message.Type = Message.self, from body: [UInt8]
  ) throws(ServiceError) -> Message {
    let closed: Closed<Message> = try decode(from: Data(body), asRequest: true)
    return closed.message
  }

  fileprivate static let notJSON = ServiceError(.invalidRequest, "The body is not JSON in UTF-8.")

  /// Whether Foundation may parse the text: it also accepts UTF-16, UTF-32 and a comma after the last item.
  ///
  /// `JSONCodingTests` has the texts.
  static func isText(_ text: Data) -> Bool {
    var (isString, isEscaped, last) = (false, false, UInt8(0))
    for byte in text {
      if isString {
        isString = isEscaped || byte != UInt8(ascii: "\"")
        isEscaped = !isEscaped && byte == UInt8(ascii: "\\")
        continue
      }
      switch byte {
      case 0: return false
      case 0x20, 0x0A, 0x0D, 0x09: continue
      case UInt8(ascii: "]"), UInt8(ascii: "}"): if last == UInt8(ascii: ",") { return false }
      default: isString = byte == UInt8(ascii: "\"")
      }
      last = byte
    }
    return String(validating: text, as: UTF8.self) != nil
  }

  /// A time such as `2026-12-31T23:59:59Z`, also with a fraction of the second; nil if it is none.
  package static func time(_ text: String) -> Date? {
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return (try? Date(text, strategy: .iso8601)) ?? (try? Date(text, strategy: fractional))
  }

  private static func time(_ decoder: any Decoder) throws -> Date {
    let text = try decoder.singleValueContainer().decode(String.self)
    if let date = time(text) { return date }
    throw ServiceError(at: decoder.codingPath, "is not a time such as 2026-12-31T23:59:59Z")
  }
}

/// A message of a request.
///
/// A member that it does not have is an error, since a misspelled one would be ignored silently.
package protocol RequestMessage: Decodable {
  /// - Throws: `unknownField` or `invalidRequest` if a request must not have one of these members.
  static func check(members: [String]) throws(ServiceError)
}

extension RequestMessage {
  /// - Throws: `unknownField` for the names that are not among `known`.
  static func check(members: [String], known: [String]) throws(ServiceError) {
    if let error = ServiceError(members: members, known: known) { throw error }
  }
}

/// A request's message, after its members were checked.
private struct Closed<Message: RequestMessage>: Decodable {
  let message: Message

  init(from decoder: any Decoder) throws {
    let members = try decoder.container(keyedBy: MemberName.self).allKeys
    try Message.check(members: members.map(\.stringValue))
    message = try Message(from: decoder)
  }
}

/// The name of any member.
struct MemberName: CodingKey {
  let stringValue: String
  var intValue: Int? { nil }
  init(stringValue: String) { self.stringValue = stringValue }
  init?(intValue: Int) { nil }
}

/// A member that is `null` if there is no value, rather than missing.
@propertyWrapper
public struct Nullable<Value: Codable & Sendable & Equatable>: Codable, Sendable,
  Equatable
{
  /// The value.
  public var wrappedValue: Value?

  /// A member with a value, or `null`.
  public init(wrappedValue: Value?) { self.wrappedValue = wrappedValue }

  /// Decodes the value or `null`.
  public init(from decoder: any Decoder) throws {
    wrappedValue = try decoder.singleValueContainer().decode(Value?.self)
  }

  /// Encodes the value or `null`.
  public func encode(to encoder: any Encoder) throws {
    var member = encoder.singleValueContainer()
    try member.encode(wrappedValue)
  }
}

extension KeyedDecodingContainer {
  /// Decodes a member that may also be missing.
  func decode<Value>(
    _ type: Nullable<Value>.Type, forKey key: Key
  ) throws -> Nullable<Value> {
    Nullable(wrappedValue: try decodeIfPresent(Value.self, forKey: key))
  }
}

extension CodingUserInfoKey {
  /// The whole text that is being decoded, as `Data`.
  static let text = CodingUserInfoKey(rawValue: "text")
  /// Whether members that a message does not have are errors, as `Bool`.
  static let isRequest = CodingUserInfoKey(rawValue: "isRequest")
}

extension ServiceError {
  /// What is wrong with a message, in a sentence.
  init(_ error: DecodingError) {
    switch error {
    case .keyNotFound(let key, let context): self.init(at: context.codingPath + [key], "is missing")
    case .valueNotFound(_, let context): self.init(at: context.codingPath, "is missing")
    case .typeMismatch(let type, let context):
      self.init(at: context.codingPath, "is not \(Self.noun(type))")
    case .dataCorrupted(let context) where !context.codingPath.isEmpty:
      self.init(at: context.codingPath, "is not valid")
    default: self = JSONCoding.notJSON
    }
  }

  fileprivate init(at path: [any CodingKey], _ problem: String) {
    let isItem = path.last?.intValue != nil
    let subject =
      isItem ? "\(Self.name(of: path.dropLast())) holds something that" : Self.name(of: path)
    let reason = "\(subject.isEmpty ? "The body" : subject) \(problem)."
    self =
      path.isEmpty
      ? ServiceError(.invalidRequest, reason)
      : ServiceError(Fault(Self.name(of: path), .invalidRequest, reason))
  }

  /// The name of a member, such as `actions[1].label`.
  static func name(of path: some Sequence<any CodingKey>) -> String {
    path.reduce(into: "") { name, key in
      if let index = key.intValue {
        name += "[\(index)]"
      } else {
        name += (name.isEmpty ? "" : ".") + key.stringValue
      }
    }
  }

  private static func noun(_ type: any Any.Type) -> String {
    switch type {
    case is String.Type: "a string"
    case is Bool.Type: "true or false"
    case is Int.Type, is Double.Type: "a number"
    default: "\(type)".hasPrefix("Array") ? "an array" : "a JSON object"
    }
  }
}
