import MediaTypes
import PluginHost

extension Check {
  /// Unusual and hostile payloads, messages and options.
  static let payloads = [
    Check(
      "answers or refuses an empty payload",
      why: "An empty payload is the most frequent mistake.",
      fix: "Refuse with Status: 422, Content-Type: text/plain and one sentence.",
      survives: { _, _, _ in [Sample(payload: "").call()] }),
    Check(
      "gives a reason when it refuses",
      why: "The publisher reads the sentence; without one they learn only that the plugin refuses.",
      fix: "Put one sentence that says what to do into the refusal's content, as text/plain."
    ) { tester, _, _ in
      var refusals: [CallResult] = []
      for payload in ["", "\u{1F4A9}"] {
        refusals.append(await tester.run(Sample(payload: payload).call()))
      }
      refusals.removeAll { $0.error?.code.isFailure != false }
      let silent = refusals.first { $0.error?.reason.contains("refuses the content") ?? false }
      if silent != nil { return .fails("it refuses without a sentence") }
      return refusals.isEmpty ? .doesNotApply("it refuses nothing") : .passes()
    },
    Check(
      "survives a payload of 100 kB",
      why: "Publishers paste texts of any length.",
      fix: "Refuse what is too long, and do not put it on a command line.",
      survives: { _, _, _ in [Sample(payload: String(repeating: "long ", count: 20_000)).call()] }),
    Check(
      "treats a payload as text and not as code",
      why:
        "A payload with quotes, $(…) or line breaks must not be executed, and JSON must escape it.",
      fix: "Quote every variable, never eval, and let a JSON library write JSON."
    ) { tester, _, _ in
      for payload in hostileTexts {
        let result = await tester.run(Sample(payload: payload).call())
        if !result.isOrderly { return .fails("\(payload.debugDescription): \(result.cause)") }
        if result.reply?.contentType.hasPrefix("application/json") == true, !isJSON(result.content)
        {
          return .fails("\(payload.debugDescription) makes invalid JSON")
        }
      }
      return .passes("\(hostileTexts.count) payloads")
    },
    Check(
      "survives a message in any language",
      why: "RICH_MESSAGE has the message, with emoji, quotes and line breaks.",
      fix: "Treat it as UTF-8 text; do not print it into a header.",
      survives: { _, _, samples in
        samples.flatMap { sample in
          ["", "Ünïcödé 🎉 \"quoted\"\nX-Evil: 1\n\n", "العربية"].map { sample.call(message: $0) }
        }
      }),
    Check(
      "survives odd values of its own query names",
      why: "Any recipient of the notification can send them.",
      fix: "Refuse unknown values with 422, and decode percent signs with a library.",
      survives: { _, plugin, samples in
        let values =
          hostileTexts + ["-1", "99999999999999999999", String(repeating: "9", count: 256)]
        return samples.prefix(2).flatMap { sample in
          plugin.manifest.query.flatMap { name in values.map { sample.call(query: [(name, $0)]) } }
        }
      }
    ).only(if: { !$0.query.isEmpty }, otherwise: "it declares none"),
    Check(
      "survives a request body that it does not read",
      why: "validate gets the payload on standard input, and may not need to read it to its end.",
      fix:
        "Read CONTENT_LENGTH bytes at most, and do not fail when there are others than expected.",
      survives: { _, _, _ in
        var call = Sample(payload: "x").call(.validate)
        call.body = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        return [call]
      }
    ).only(if: { $0.verbs.contains(.validate) }, otherwise: "it has no validate"),
  ]

  /// Damaged files; only for plugins whose samples are files.
  static let assets = [
    Check(
      "survives a truncated file",
      why: "Uploads are interrupted, and disks fill up.",
      fix: "Refuse with 422 and a sentence, or exit with 65; check every read.",
      damage: { [Array($0.prefix($0.count / 2))] }),
    Check(
      "survives an empty file",
      why: "It has a name and a type, but no content.",
      fix: "Refuse with 422 and a sentence; do not divide by its size.",
      damage: { _ in [[]] }),
    Check(
      "survives a damaged file",
      why: "Attackers send such files, to crash what reads them.",
      fix: "Trust no size in the file; test with such files under a sanitizer.",
      damage: { bytes in (1...4).map { damaged(bytes, seed: $0) } }),
    Check(
      "survives random bytes after a valid signature",
      why: "The type is detected from the first bytes only.",
      fix: "Refuse with 415 or 422 and a sentence.",
      damage: { bytes in
        let noise = (0..<4096).map { UInt8(truncatingIfNeeded: $0 &* 167 ^ ($0 >> 3)) }
        return [Array(bytes.prefix(16)) + noise]
      }),
  ]

  /// Of a larger file the beginning is damaged: several copies of it are held in memory.
  private static let largestCopy = 16 << 20

  /// A check that calls each verb with damaged copies of each sample that is a file.
  private init(
    _ name: String, why: String, fix: String,
    damage: @escaping @Sendable ([UInt8]) -> [[UInt8]]
  ) {
    self.init(
      name, why: why, fix: fix, otherwise: "no sample is a file",
      survives: { tester, plugin, samples in
        let verbs = plugin.manifest.verbs.subtracting([.describe]).sorted {
          $0.rawValue > $1.rawValue
        }
        return samples.flatMap { sample -> [PluginCall] in
          guard let original = sample.asset, let file = OpenFile(original.path) else { return [] }
          let copies = damage(file.bytes(0..<Self.largestCopy)).compactMap {
            tester.makeAsset($0, type: original.type)
          }
          return copies.flatMap { copy in verbs.map { sample.call($0, asset: copy) } }
        }
      })
  }

  /// Overwrites 2% of the bytes, at least 8 and at most 400, the same ones for the same seed.
  private static func damaged(_ bytes: [UInt8], seed: UInt64) -> [UInt8] {
    var bytes = bytes
    // Knuth's linear congruential generator (MMIX); the seed is spread by the golden ratio.
    var state = seed &* 0x9E37_79B9_7F4A_7C15
    for _ in 0..<max(8, min(bytes.count / 50, 400)) where !bytes.isEmpty {
      state = state &* 6_364_136_223_846_793_005 &+ 1_442_695_040_888_963_407
      bytes[Int(state >> 33) % bytes.count] = UInt8(truncatingIfNeeded: state >> 20)
    }
    return bytes
  }

  /// Texts that break programs which take a payload for code, an option, a path, a header or JSON.
  static let hostileTexts = [
    "\"", "\\", "'; rm -rf /; '", "$(touch $TMPDIR/x)", "`id`", "() { :;}; echo x", "-h",
    "--version", "../../etc/passwd", "%00%0d%0a", "a\nContent-Type: text/html\n\n<script>",
    "<img src=x>", "{}", "null", "\u{7f}\u{1}\t", "é\u{301}\u{202e}",
  ]
}
