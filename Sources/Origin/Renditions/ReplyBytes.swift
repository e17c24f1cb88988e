import FoundationEssentials
import PluginHost

extension PluginReply {
  /// The content in memory; it is bounded by the plugin's output limit, or is the asset's.
  func bytes(asset: String?) throws -> [UInt8] {
    switch body {
    case .bytes(let bytes): bytes
    case .file(let file): Array(try Data(contentsOf: URL(filePath: file.path)))
    case .asset: Array(try Data(contentsOf: URL(filePath: asset ?? "")))
    }
  }
}
