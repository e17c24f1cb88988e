import FoundationEssentials

/// What the operator decided about this plugin, in files of the plugin's own folder.
struct Settings {
  /// Whether pages may be fetched: `"network": true` in `plugin.json`.
  let hasNetwork: Bool
  /// Hosts that are no part of the public Internet and may be fetched from nevertheless:
  /// `{"reach": ["intranet.example:8080"]}` in `settings.json`.
  let reach: Set<String>

  private struct Manifest: Decodable {
    var network: Bool?
  }

  private struct Exceptions: Decodable {
    var reach: [String]
  }

  /// Reads the files in the current folder, where the server starts a plugin.
  static func read() -> Settings {
    Settings(
      hasNetwork: decode(Manifest.self, "plugin.json")?.network ?? false,
      reach: Set(decode(Exceptions.self, "settings.json")?.reach ?? []))
  }

  private static func decode<Value: Decodable>(_ type: Value.Type, _ path: String) -> Value? {
    (try? Data(contentsOf: URL(filePath: path))).flatMap {
      try? JSONDecoder().decode(type, from: $0)
    }
  }
}
