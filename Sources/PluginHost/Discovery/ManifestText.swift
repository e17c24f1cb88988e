/// The members of `plugin.json` as they are written.
struct ManifestText: Decodable {
  struct Limits: Decodable {
    var seconds, memoryMiB, outputMiB: Int?
  }

  struct Workers: Decodable {
    var min, max, idleSeconds, requests: Int?
  }

  var `protocol`: Int?
  var name, version, executable: String?
  var mode: Manifest.Mode?
  var verbs: [PluginCall.Verb]?
  var accepts, produces, query: [String]?
  var perUser, network: Bool?
  var limits: Limits?
  var workers: Workers?
}

/// The first member of `plugin.json` that no version of the format has; a typing error, mostly.
struct UnknownMember: Decodable {
  let name: String?

  private struct Key: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }
    init(stringValue: String) { self.stringValue = stringValue }
    init?(intValue: Int) { nil }
  }

  private static let known = [
    "": [
      "protocol", "name", "version", "executable", "mode", "verbs", "accepts", "produces", "query",
      "perUser", "network", "limits", "workers",
    ],
    "limits": ["seconds", "memoryMiB", "outputMiB"],
    "workers": ["min", "max", "idleSeconds", "requests"],
  ]

  init(from decoder: any Decoder) throws {
    let top = try decoder.container(keyedBy: Key.self)
    var unknown = UnknownMember.names(in: top, of: "")
    for group in ["limits", "workers"] where top.contains(Key(stringValue: group)) {
      let inner = try top.nestedContainer(keyedBy: Key.self, forKey: Key(stringValue: group))
      unknown += UnknownMember.names(in: inner, of: group)
    }
    name = unknown.min()
  }

  private static func names(in container: KeyedDecodingContainer<Key>, of group: String) -> [String]
  {
    container.allKeys.map(\.stringValue)
      .filter { !(known[group] ?? []).contains($0) }
      .map { group.isEmpty ? $0 : "\(group).\($0)" }
  }
}
