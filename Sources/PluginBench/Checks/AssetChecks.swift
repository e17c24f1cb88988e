import Foundation
import PluginHost

extension Check {
  /// Files that are not what they seem; only for plugins whose samples are files.
  static let assets = [
    Check(
      "survives half a file",
      why: "Uploads break off, and disks fill up.",
      mend: "Refuse with 422 and a sentence, or exit with 65; check every read."
    ) { bench, _, samples in
      await spoiled(samples, bench) { Array($0.prefix($0.count / 2)) }
    },
    Check(
      "survives an empty file",
      why: "It has a name, and nothing in it.",
      mend: "Refuse with 422 and a sentence; do not divide by its size."
    ) { bench, _, samples in
      await spoiled(samples, bench) { _ in [] }
    },
    Check(
      "survives a file with wrong bytes in it",
      why: "Somebody will send one on purpose, to crash whatever reads it.",
      mend: "Trust no size in the file; run it under a sanitizer with such files."
    ) { bench, _, samples in
      for seed in 1...4 {
        let finding = await spoiled(samples, bench) { bytes in
          var bytes = bytes
          var state = UInt64(seed) &* 0x9E37_79B9_7F4A_7C15
          for _ in 0..<max(8, min(bytes.count / 50, 400)) where !bytes.isEmpty {
            state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
            bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
          }
          return bytes
        }
        guard case .holds = finding else { return finding }
      }
      return .holds("4 of each")
    },
    Check(
      "survives random bytes under an honest type",
      why: "The type is only what the first bytes looked like.",
      mend: "Refuse with 415 or 422 and a sentence."
    ) { bench, _, samples in
      await spoiled(samples, bench) { bytes in
        Array(bytes.prefix(16))
          + (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ ($0 >> 3)) }
      }
    },
  ]

  private static func spoiled(
    _ samples: [Sample], _ bench: PluginBench, _ spoil: ([UInt8]) -> [UInt8]
  ) async -> Finding {
    let files = samples.filter { $0.asset != nil }
    guard !files.isEmpty else { return .doesNotApply("no sample is a file") }
    let verbs = bench.plugin?.manifest.verbs.subtracting([.describe]).sorted {
      $0.rawValue > $1.rawValue
    }
    return await each(files) { sample in
      guard let whole = sample.asset,
        let bytes = try? Data(contentsOf: URL(fileURLWithPath: whole.path)),
        let asset = bench.asset(spoil(Array(bytes)), type: whole.type)
      else { return "the sample cannot be read" }
      for verb in verbs ?? [] {
        var call = sample.call(verb)
        call.asset = asset
        if let fault = disorder(await bench.ask(call)) { return fault }
      }
      return nil
    }
  }
}
