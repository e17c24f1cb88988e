import FoundationEssentials

/// Hosts that are no part of the public Internet and may be fetched from nevertheless.
///
/// The operator names them in `settings.json` in the plugin's own folder, where the server starts a
/// plugin: `{"reach": ["intranet.example:8080"]}`.
enum Reach {
  private struct Settings: Decodable {
    let reach: [String]
  }

  /// The hosts with their ports; none without the file.
  static func read() -> Set<String> {
    let settings = (try? Data(contentsOf: URL(filePath: "settings.json"))).flatMap {
      try? JSONDecoder().decode(Settings.self, from: $0)
    }
    return Set(settings?.reach ?? [])
  }
}
