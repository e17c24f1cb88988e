import Foundation
import PluginHost

extension Check {
  /// What publishers send without meaning to, and what others send on purpose.
  static let payloads = [
    Check(
      "answers or refuses when it is given nothing",
      why: "An empty payload is the most frequent mistake of all.",
      mend: "Refuse with Status: 422, Content-Type: text/plain and one sentence."
    ) { bench, _, _ in
      disorder(await bench.ask(Sample(payload: "").call())).map { .fails($0) } ?? .holds()
    },
    Check(
      "gives a reason when it refuses",
      why: "The publisher reads the sentence; without one it says only that the plugin refuses.",
      mend: "Put one sentence that says what to do into the refusal's content, as text/plain."
    ) { bench, plugin, _ in
      let refused = await [Sample(payload: ""), Sample(payload: "\u{1F4A9}")].asyncMap {
        await bench.ask($0.call())
      }.filter { (400..<500).contains($0.status) }
      guard !refused.isEmpty else { return .doesNotApply("it refuses nothing") }
      let silent = refused.first { $0.error?.reason.contains("refuses the content") ?? false }
      return silent.map { .fails("\($0.status) without a sentence") } ?? .holds()
    },
    Check(
      "survives a payload of 100 kB",
      why: "Nobody measures what is pasted.",
      mend: "Refuse what is too long for you; do not build command lines of it."
    ) { bench, _, _ in
      let sample = Sample(payload: String(repeating: "long ", count: 20_000))
      return disorder(await bench.ask(sample.call())).map { .fails($0) } ?? .holds()
    },
    Check(
      "treats a payload as text and not as code",
      why:
        "A payload with quotes, $(…) or line breaks must stay what it is; JSON needs it escaped.",
      mend: "Quote every variable, never eval, and let a JSON library write JSON."
    ) { bench, _, _ in
      for payload in hostile {
        let trial = await bench.ask(Sample(payload: payload).call())
        if let fault = disorder(trial) { return .fails("\(payload.debugDescription): \(fault)") }
        guard trial.reply?.contentType.hasPrefix("application/json") == true else { continue }
        if (try? JSONSerialization.jsonObject(with: Data(trial.content), options: .fragmentsAllowed))
          == nil
        {
          return .fails("\(payload.debugDescription) makes JSON that is none")
        }
      }
      return .holds("\(hostile.count) payloads")
    },
    Check(
      "survives a message in any language",
      why: "The message comes along in RICH_MESSAGE, with emoji, quotes and line breaks.",
      mend: "Treat it as UTF-8 text; do not print it into a header."
    ) { bench, _, samples in
      await each(samples) { sample in
        for message in ["", "Ünïcödé 🎉 \"quoted\"\nX-Evil: 1\n\n", "العربية"] {
          if let fault = disorder(await bench.ask(sample.call(message: message))) { return fault }
        }
        return nil
      }
    },
    Check(
      "survives odd values of its own query names",
      why: "Anybody who may fetch the notification may write them.",
      mend: "Refuse with 422 what you do not know, and decode percent signs with a library."
    ) { bench, plugin, samples in
      guard !plugin.manifest.query.isEmpty else { return .doesNotApply("it declares none") }
      return await each(Array(samples.prefix(2))) { sample in
        for name in plugin.manifest.query {
          for value in hostile + ["-1", "99999999999999999999", String(repeating: "9", count: 256)]
          {
            let trial = await bench.ask(sample.call(query: [(name, value)]))
            if let fault = disorder(trial) { return "\(name)=\(value.debugDescription): \(fault)" }
          }
        }
        return nil
      }
    },
    Check(
      "may leave what it is sent unread",
      why: "A validate brings the payload on standard input, and its end may never be looked at.",
      mend:
        "Read CONTENT_LENGTH bytes at most, and do not fail when there are others than you expected."
    ) { bench, plugin, _ in
      guard plugin.manifest.verbs.contains(.validate) else {
        return .doesNotApply("it has no validate")
      }
      var call = Sample(payload: "x").call(.validate)
      call.body = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
      return disorder(await bench.ask(call)).map { .fails($0) } ?? .holds()
    },
  ]

  private static let hostile = [
    "\"", "\\", "'; rm -rf /; '", "$(touch $TMPDIR/x)", "`id`", "() { :;}; echo x", "-h",
    "--version",
    "../../etc/passwd", "%00%0d%0a", "a\nContent-Type: text/html\n\n<script>", "<img src=x>", "{}",
    "null",
    "\u{7f}\u{1}\t", "é\u{301}\u{202e}",
  ]
}

extension Array {
  fileprivate func asyncMap<Result>(_ body: (Element) async -> Result) async -> [Result] {
    var results: [Result] = []
    for element in self { results.append(await body(element)) }
    return results
  }
}
