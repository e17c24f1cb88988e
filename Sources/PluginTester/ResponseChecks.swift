import FoundationEssentials
import JSON
import MediaTypes
import PluginHost

extension Check {
  /// The responses to good samples.
  static let responses = [
    Check(
      "answers every sample",
      why: "This is what a phone gets.",
      fix: "richpush plugin run shows what was sent and returned; the sandbox applies here too.",
      response: { result, _ in result.reply == nil ? result.cause : nil }),
    Check(
      "writes nothing before its header",
      why:
        "One stray byte (a log line, a byte order mark) is taken as a header: the response is lost.",
      fix: "Write messages to standard error, and save scripts without a byte order mark.",
      response: { result, _ in
        let line = (result.exchanges.last?.head ?? []).prefix { $0 != UInt8(ascii: "\n") }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        let isHeader =
          name.count < line.count && !name.isEmpty && name.allSatisfy { 0x21..<0x7F ~= $0 }
        return isHeader
          ? nil : "it begins with \"\(String(decoding: line.prefix(60), as: UTF8.self))\""
      }
    ).only(if: { $0.verbs.contains(.render) }, otherwise: "it does not render"),
    Check(
      "declares the type of its content",
      why: "Phones rely on the declared type alone (nosniff): with a wrong one they show nothing.",
      fix: "Send the Content-Type of the bytes you send; JSON must be JSON, and text UTF-8.",
      response: { result, _ in
        result.isAsset ? nil : mismatch(result.reply?.contentType ?? "", result.content)
      }),
    Check(
      "gives the same answer twice",
      why: "One response is stored and sent to every phone; one that changes must not be stored.",
      fix: "Leave out times and random numbers, or answer with Cache-Control: no-store.",
      each: { tester, sample in
        let first = await tester.run(sample.call())
        guard first.reply?.isStorable == true else { return nil }
        return await tester.run(sample.call()).equals(first) ? nil : "the second response differs"
      }),
    Check(
      "is silent on standard error when it succeeds",
      why: "Every line of it becomes a line in the server's log, for each phone.",
      fix: "Write only what an operator must know, and fix what causes warnings.",
      response: { result, _ in
        let text = result.exchanges.last?.standardError ?? []
        return text.isEmpty ? nil : String(decoding: text.prefix(200), as: UTF8.self)
      }),
    Check(
      "finishes in half its time limit",
      why:
        "At the limit it is killed and the phone gets a 504; a busy server is slower than yours.",
      fix: "Do less, keep what is costly in a resident worker, or ask for more limits.seconds.",
      response: { result, plugin in
        let time = result.exchanges.last?.duration ?? .zero
        let limit = plugin?.manifest.limits.seconds ?? 0
        return time < .seconds(limit) / 2 ? nil : "it took \(time)"
      }),
    Check(
      "returns facts from validate",
      why: "They are stored as the notification's details and shown to the publisher.",
      fix: "Answer the verb validate with a JSON object, which may be {}.",
      each: { tester, sample in
        let result = await tester.run(sample.call(.validate))
        guard result.reply != nil else { return result.cause }
        guard case .object(let facts) = JSONTree(result.content) else {
          return "it is not a JSON object"
        }
        guard let advice = facts["advice"], advice.text == nil else { return nil }
        return advice.elements?.allSatisfy { $0.text != nil } == true
          ? nil : "advice is neither a string nor an array of strings"
      }
    ).only(if: { $0.verbs.contains(.validate) }, otherwise: "it has no validate"),
    Check(
      "describes itself as in its manifest",
      why: "Tools that call describe and tools that read plugin.json must get the same.",
      fix: "Answer the verb describe with plugin.json, or remove describe from its verbs."
    ) { tester, _, _ in
      let result = await tester.run(PluginCall(verb: .describe, richType: tester.name))
      let file = try? Data(contentsOf: URL(filePath: tester.path + "/plugin.json"))
      let described = JSONTree(result.content)
      return described != nil && described == file.flatMap { JSONTree($0) }
        ? .passes() : .fails(result.reply == nil ? result.cause : "it differs")
    }.only(if: { $0.verbs.contains(.describe) }, otherwise: "it has no describe"),
    Check(
      "answers for any requested size",
      why: "Phones name a profile, or a width and a height; both are passed as variables.",
      fix:
        "Ignore RICH_PROFILE, RICH_WIDTH, RICH_HEIGHT, RICH_FIT and RICH_MAX_BYTES if not needed.",
      each: { tester, sample in
        for options in [
          PluginOptions(profile: "watch", width: 400, height: 400, maxBytes: 500_000),
          PluginOptions(width: 64, height: 2560, fit: "cover"),
        ] {
          let result = await tester.run(sample.call(options: options))
          if result.reply == nil { return result.cause }
        }
        return nil
      }),
  ]

  /// How bytes contradict the media type they are sent with; nil when they agree.
  private static func mismatch(_ contentType: String, _ bytes: [UInt8]) -> String? {
    let type = contentType.prefix { $0 != ";" }.lowercased()
    let family = type.prefix { $0 != "/" }
    if type == "application/json" {
      return isJSON(bytes) ? nil : "its type is \(type), but it is not JSON"
    }
    if family == "text" {
      return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
    }
    guard ["image", "audio", "video"].contains(family) else { return nil }
    let sniffed = MediaType.sniff(bytes).value
    return sniffed.hasPrefix(family + "/") ? nil : "its type is \(type), but it is \(sniffed)"
  }

  static func isJSON(_ bytes: [UInt8]) -> Bool { JSONTree(bytes) != nil }
}
