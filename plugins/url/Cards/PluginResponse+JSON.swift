import FoundationEssentials
import PluginKit

extension PluginResponse {
  /// Answers with a value as JSON, its members in the order of their names.
  ///
  /// An answer that might be better another time is not to be stored by the server.
  static func json(_ value: some Encodable, isFinal: Bool = true) throws -> PluginResponse {
    let encoder = JSONEncoder()
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    return .document(
      Array(try encoder.encode(value)), type: "application/json",
      fields: isFinal ? [] : [("Cache-Control", "no-store")])
  }
}
