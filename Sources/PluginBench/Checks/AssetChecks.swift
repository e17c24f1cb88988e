import Foundation
import PluginHost

extension Check {
  /// Files that are not what they seem; only for plugins whose samples are files.
  static let assets = [
    Check(
      "survives half a file",
      why: "Uploads break off, and disks fill up.",
      mend: "Refuse with 422 and a sentence, or exit with 65; check every read.",
      spoilt: { [Array($0.prefix($0.count / 2))] }),
    Check(
      "survives an empty file",
      why: "It has a name, and nothing in it.",
      mend: "Refuse with 422 and a sentence; do not divide by its size.",
      spoilt: { _ in [[]] }),
    Check(
      "survives a file with wrong bytes in it",
      why: "Somebody will send one on purpose, to crash whatever reads it.",
      mend: "Trust no size in the file; run it under a sanitizer with such files.",
      spoilt: { bytes in (1...4).map { damaged(bytes, seed: $0) } }),
    Check(
      "survives random bytes under an honest type",
      why: "The type is only what the first bytes looked like.",
      mend: "Refuse with 415 or 422 and a sentence.",
      spoilt: { bytes in
        [
          Array(bytes.prefix(16))
            + (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ ($0 >> 3)) }
        ]
      }),
  ]

  private static func damaged(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    var bytes = bytes
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    for _ in 0..<max(8, min(bytes.count / 50, 400)) where !bytes.isEmpty {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
    }
    return bytes
  }

  /// Asks each verb about each sample that is a file, when something has happened to its bytes.
  private init(
    _ name: String, why: String, mend: String,
    spoilt spoil: @escaping @Sendable ([UInt8]) -> [[UInt8]]
  ) {
    self.init(
      name, why: why, mend: mend, otherwise: "no sample is a file",
      survives: { bench, plugin, samples in
        let verbs = plugin.manifest.verbs.subtracting([.describe]).sorted {
          $0.rawValue > $1.rawValue
        }
        return samples.flatMap { sample -> [PluginCall] in
          guard let whole = sample.asset,
            let bytes = try? Data(contentsOf: URL(fileURLWithPath: whole.path))
          else { return [] }
          let assets = spoil(Array(bytes)).compactMap { bench.asset($0, type: whole.type) }
          return assets.flatMap { asset in verbs.map { sample.call($0, about: asset) } }
        }
      })
  }
}
