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
      throw RichPushError(.malformed, "The server's answer is not what was asked for: \(error)")
    }
  }

  private static func date(_ decoder: any Decoder) throws -> Date {
    let text = try decoder.singleValueContainer().decode(String.self)
    let whole = Date.ISO8601FormatStyle()
    let fractional = Date.ISO8601FormatStyle(includingFractionalSeconds: true)
    return try (try? whole.parse(text)) ?? fractional.parse(text)
  }
}
