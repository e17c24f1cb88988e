import FoundationEssentials
import PluginKit

extension PluginResponse {
  /// Answers with a value as JSON, its members in the order of their names.
  static func json(_ value: some Encodable) throws -> PluginResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return try .json(String(decoding: encoder.encode(value), as: UTF8.self))
  }
}
