import Foundation

/// How this API writes and reads JSON: times are RFC 3339, with or without fractions of a second.
enum JSONCoding {
  static var encoder: JSONEncoder {
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return encoder
  }

  /// Reads a value out of an answer's body.
  static func value<Value: Decodable>(in data: Data) throws(RichPushError) -> Value {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .custom(date)
    do {
      return try decoder.decode(Value.self, from: data)
    } catch {
      let what = (error as? DecodingError).map(sentence) ?? error.localizedDescription
      throw RichPushError(.malformed, "The server's answer is not what was asked for: \(what)")
    }
  }

  /// Where the text is not as it should be.
  private static func sentence(for error: DecodingError) -> String {
    switch error {
    case .keyNotFound(let key, let context): "\(place(context)) has no “\(key.stringValue)”."
    case .typeMismatch(_, let context), .valueNotFound(_, let context):
      "\(place(context)) has another type."
    case .dataCorrupted(let context): "\(place(context)) cannot be read."
    @unknown default: "it cannot be read."
    }
  }

  private static func place(_ context: DecodingError.Context) -> String {
    let path = context.codingPath.map(\.stringValue).joined(separator: ".")
    return path.isEmpty ? "it" : path
  }

  private static func date(_ decoder: any Decoder) throws -> Date {
    let text = try decoder.singleValueContainer().decode(String.self)
    let whole = Date.ISO8601FormatStyle()
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return try (try? whole.parse(text)) ?? fractional.parse(text)
  }
}
