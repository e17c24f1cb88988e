package import Foundation
import MediaTypes
package import PluginHost

/// Something to ask a plugin about.
package struct Sample: Sendable {
  /// What a report calls it.
  package let name: String
  let payload: String
  let asset: PluginCall.Asset?

  /// Literal content.
  package init(payload: String) {
    (name, self.payload, asset) = ("\"\(payload.prefix(40))\"", payload, nil)
  }

  /// A file, with the type its bytes have; nil when it cannot be read.
  package init?(file: URL) {
    guard let prefix = try? FileHandle(forReadingFrom: file).read(upToCount: 4096),
      let asset = PluginCall.Asset(file: file.path, type: MediaType.sniff(prefix).value)
    else { return nil }
    (name, payload, self.asset) = (file.lastPathComponent, file.lastPathComponent, asset)
  }

  /// The question about it, or about another file in its place.
  package func call(
    _ verb: PluginCall.Verb = .render, about other: PluginCall.Asset? = nil,
    message: String = "A message",
    options: PluginOptions = PluginOptions(), query: [(name: String, value: String)] = []
  ) -> PluginCall {
    PluginCall(
      verb: verb, richType: "", id: "7", message: message, payload: payload,
      asset: other ?? asset,
      options: options, query: query, user: "alice",
      body: verb == .validate ? Array(payload.utf8) : [])
  }

  /// The samples that lie ready: the plugin's own folder `samples`, or else a folder of assets.
  ///
  /// A file whose name ends in `.payload` holds literal content; every other one is an asset.
  package static func found(beside plugin: String, assets: String) -> [Sample] {
    for folder in [plugin + "/samples", assets] {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let samples = files.sorted().filter { !$0.hasPrefix(".") }.compactMap { name in
        let file = URL(fileURLWithPath: "\(folder)/\(name)")
        guard name.hasSuffix(".payload") else { return Sample(file: file) }
        return (try? String(contentsOf: file, encoding: .utf8)).map {
          Sample(payload: $0.trimmingCharacters(in: .newlines))
        }
      }
      if !samples.isEmpty { return samples }
    }
    return []
  }
}
