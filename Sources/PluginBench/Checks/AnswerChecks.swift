import Foundation
import MediaTypes
import PluginHost

extension Check {
  /// What it answers when all is well.
  static let answers = [
    Check(
      "answers about every sample",
      why: "This is what a phone gets.",
      mend:
        "richpush plugin run shows what went there and what came back; the sandbox holds here too.",
      answer: { trial, _ in trial.reply == nil ? trial.cause : nil }),
    Check(
      "writes nothing before its header",
      why:
        "One stray byte (a log line, a byte order mark) is part of the header, and the answer is lost.",
      mend: "Write messages to standard error, and save scripts without a byte order mark.",
      answer: { trial, _ in
        let line = (trial.exchanges.last?.head ?? []).prefix { $0 != UInt8(ascii: "\n") }
        let name = line.prefix { $0 != UInt8(ascii: ":") }
        let isName =
          name.count < line.count && !name.isEmpty && name.allSatisfy { 0x21..<0x7F ~= $0 }
        return isName
          ? nil : "it begins with \"\(String(decoding: line.prefix(60), as: UTF8.self))\""
      }
    ).only({ $0.verbs.contains(.render) }, otherwise: "it does not render"),
    Check(
      "names the type that its bytes have",
      why: "A phone goes by the type, and by nothing else (nosniff): the wrong one shows nothing.",
      mend: "Send the Content-Type of the bytes you send; JSON must be JSON, and text UTF-8.",
      answer: { trial, _ in
        trial.isAsset ? nil : mismatch(trial.reply?.contentType ?? "", trial.content)
      }),
    Check(
      "gives the same answer twice",
      why: "One answer is kept and given to everybody; one that changes must not be.",
      mend: "Leave out times and random numbers, or answer with Cache-Control: no-store.",
      each: { bench, _, sample in
        let first = await bench.ask(sample.call())
        guard first.reply?.isStorable == true else { return nil }
        return await bench.ask(sample.call()).equals(first) ? nil : "the second answer is another"
      }),
    Check(
      "is silent on standard error while all is well",
      why: "Every line of it is a line in the server's log, for each phone that asks.",
      mend: "Write there only what an operator must know; mend what warns.",
      answer: { trial, _ in
        let words = trial.exchanges.last?.complaints ?? []
        return words.isEmpty ? nil : String(decoding: words.prefix(200), as: UTF8.self)
      }),
    Check(
      "is done in half of its time",
      why:
        "At the deadline it is killed and the phone gets a 504; a busy server is slower than yours.",
      mend: "Do less, keep what is costly in a resident worker, or ask for more limits.seconds.",
      answer: { trial, plugin in
        let time = trial.exchanges.last?.duration ?? .zero
        return time < .seconds(plugin.manifest.limits.seconds) / 2 ? nil : "it took \(time)"
      }),
    Check(
      "states facts when it validates",
      why: "They are kept as the notification's details and shown to the publisher.",
      mend: "Answer the verb validate with a JSON object, which may be {}.",
      each: { bench, _, sample in
        let trial = await bench.ask(sample.call(.validate))
        guard trial.reply != nil else { return trial.cause }
        let object = try? JSONSerialization.jsonObject(with: Data(trial.content))
        return object is [String: Any] ? nil : "the answer is not a JSON object"
      }
    ).only({ $0.verbs.contains(.validate) }, otherwise: "it has no validate"),
    Check(
      "describes itself as its manifest does",
      why: "Tools that ask and tools that read plugin.json must come to the same.",
      mend: "Answer the verb describe with plugin.json, or take describe out of its verbs."
    ) { bench, _, _ in
      let trial = await bench.ask(PluginCall(verb: .describe, richType: bench.name))
      let said = try? JSONSerialization.jsonObject(with: Data(trial.content)) as? NSDictionary
      let file = try? Data(contentsOf: URL(fileURLWithPath: bench.path + "/plugin.json"))
      let written = file.flatMap { try? JSONSerialization.jsonObject(with: $0) as? NSDictionary }
      return said != nil && said == written
        ? .holds() : .fails(trial.reply == nil ? trial.cause : "it differs")
    }.only({ $0.verbs.contains(.describe) }, otherwise: "it has no describe"),
    Check(
      "answers whatever the size that is asked for",
      why: "Phones name a profile, or a width and a height; both come as variables.",
      mend:
        "Ignore RICH_PROFILE, RICH_WIDTH, RICH_HEIGHT, RICH_FIT and RICH_MAX_BYTES if they do not matter.",
      each: { bench, _, sample in
        for options in [
          PluginOptions(profile: "watch", width: 400, height: 400, maxBytes: 500_000),
          PluginOptions(width: 64, height: 2560, fit: "cover"),
        ] {
          let trial = await bench.ask(sample.call(options: options))
          if trial.reply == nil { return trial.cause }
        }
        return nil
      }),
  ]

  /// What is wrong with bytes of a media type.
  private static func mismatch(_ contentType: String, _ bytes: [UInt8]) -> String? {
    let type = contentType.prefix { $0 != ";" }.lowercased()
    let sniffed = MediaType.sniff(bytes).value
    let family = type.prefix { $0 != "/" }
    if type == "application/json" {
      let value = try? JSONSerialization.jsonObject(with: Data(bytes), options: .fragmentsAllowed)
      return value == nil ? "it says \(type), and that is no JSON" : nil
    }
    if family == "text" {
      return String(validating: bytes, as: UTF8.self) == nil ? "it is not UTF-8" : nil
    }
    guard ["image", "audio", "video"].contains(family) else { return nil }
    return sniffed.prefix { $0 != "/" } == family ? nil : "it says \(type) and is \(sniffed)"
  }
}
