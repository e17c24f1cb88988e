package import FoundationEssentials
import MediaTypes
package import PluginHost
import Primitives

/// A payload or file to call a plugin with.
package struct Sample: Sendable {
  // A server takes larger assets, but none of them is needed to test a plugin.
  private static let largestAsset = 1 << 30
  private static let largestPayload = 1 << 20

  /// Its name in reports.
  package let name: String
  let payload: String
  let asset: PluginCall.Asset?

  /// A sample with literal content.
  package init(payload: String) {
    (name, self.payload, asset) = ("\"\(payload.prefix(40))\"", payload, nil)
  }

  /// A sample with a file, whose type is detected from its content; nil when it is not a regular
  /// file, is too large for a server, or cannot be read.
  package init?(file: URL) {
    guard let open = OpenFile(file.path), open.size <= Self.largestAsset,
      let asset = PluginCall.Asset(file: file.path, type: MediaType.sniff(open).value)
    else { return nil }
    (name, payload, self.asset) = (file.lastPathComponent, file.lastPathComponent, asset)
  }

  /// The call that a server would make for this sample, or for `other` instead of its file.
  package func call(
    _ verb: PluginCall.Verb = .render, asset other: PluginCall.Asset? = nil,
    message: String = "A message",
    options: PluginOptions = PluginOptions(), query: [(name: String, value: String)] = []
  ) -> PluginCall {
    var call = PluginCall(
      verb: verb, richType: "", message: message, payload: payload, asset: other ?? asset)
    if verb == .validate {
      // At that time there is no notification yet, and nobody who fetches it.
      call.body = Array(payload.utf8)
    } else {
      (call.id, call.user) = ("7", "alice")
      (call.options, call.query) = (options, query)
    }
    return call
  }

  /// The samples in the plugin's own folder `samples`, or else those in a folder of assets.
  ///
  /// A file whose name ends in `.payload` holds literal content; every other one is an asset.
  package static func all(ofPlugin plugin: String, assets: String) -> [Sample] {
    for folder in [plugin + "/samples", assets] {
      let files = (try? FileManager.default.contentsOfDirectory(atPath: folder)) ?? []
      let samples = files.sorted().filter { !$0.hasPrefix(".") }.compactMap { name in
        let path = "\(folder)/\(name)"
        guard name.hasSuffix(".payload") else { return Sample(file: URL(filePath: path)) }
        guard let file = OpenFile(path), file.size <= largestPayload else { return nil }
        return String(validating: file.bytes(0..<file.size), as: UTF8.self).map {
          Sample(payload: $0.trimming(\.isNewline))
        }
      }
      if !samples.isEmpty { return samples }
    }
    return []
  }
}
