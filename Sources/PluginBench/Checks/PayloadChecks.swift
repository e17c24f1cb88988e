import Foundation
import PluginHost

extension Check {
  /// What publishers send without meaning to, and what others send on purpose.
  static let payloads = [
    Check(
      "answers or refuses when it is given nothing",
      why: "An empty payload is the most frequent mistake of all.",
      mend: "Refuse with Status: 422, Content-Type: text/plain and one sentence.",
      survives: { _, _, _ in [Sample(payload: "").call()] }),
    Check(
      "gives a reason when it refuses",
      why: "The publisher reads the sentence; without one it says only that the plugin refuses.",
      mend: "Put one sentence that says what to do into the refusal's content, as text/plain."
    ) { bench, plugin, _ in
      var refused: [Trial] = []
      for payload in ["", "\u{1F4A9}"] {
        let trial = await bench.ask(Sample(payload: payload).call())
        if 400..<500 ~= trial.status { refused.append(trial) }
      }
      guard !refused.isEmpty else { return .doesNotApply("it refuses nothing") }
      let silent = refused.first { $0.error?.reason.contains("refuses the content") ?? false }
      return silent.map { .fails("\($0.status) without a sentence") } ?? .holds()
    },
    Check(
      "survives a payload of 100 kB",
      why: "Nobody measures what is pasted.",
      mend: "Refuse what is too long for you; do not build command lines of it.",
      survives: { _, _, _ in [Sample(payload: String(repeating: "long ", count: 20_000)).call()] }),
    Check(
      "treats a payload as text and not as code",
      why:
        "A payload with quotes, $(…) or line breaks must stay what it is; JSON needs it escaped.",
      mend: "Quote every variable, never eval, and let a JSON library write JSON."
    ) { bench, _, _ in
      for payload in hostile {
        let trial = await bench.ask(Sample(payload: payload).call())
        if !trial.isOrderly { return .fails("\(payload.debugDescription): \(trial.cause)") }
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
      mend: "Treat it as UTF-8 text; do not print it into a header.",
      survives: { _, _, samples in
        samples.flatMap { sample in
          ["", "Ünïcödé 🎉 \"quoted\"\nX-Evil: 1\n\n", "العربية"].map { sample.call(message: $0) }
        }
      }),
    Check(
      "survives odd values of its own query names",
      why: "Anybody who may fetch the notification may write them.",
      mend: "Refuse with 422 what you do not know, and decode percent signs with a library.",
      survives: { _, plugin, samples in
        let values = hostile + ["-1", "99999999999999999999", String(repeating: "9", count: 256)]
        return samples.prefix(2).flatMap { sample in
          plugin.manifest.query.flatMap { name in
            values.map { sample.call(query: [(name, $0)]) }
          }
        }
      }
    ).only({ !$0.query.isEmpty }, otherwise: "it declares none"),
    Check(
      "may leave what it is sent unread",
      why: "A validate brings the payload on standard input, and its end may never be looked at.",
      mend:
        "Read CONTENT_LENGTH bytes at most, and do not fail when there are others than you expected.",
      survives: { _, _, _ in
        var call = Sample(payload: "x").call(.validate)
        call.body = [UInt8](repeating: UInt8(ascii: "x"), count: 1 << 20)
        return [call]
      }
    ).only({ $0.verbs.contains(.validate) }, otherwise: "it has no validate"),
  ]

  private static let hostile = [
    "\"", "\\", "'; rm -rf /; '", "$(touch $TMPDIR/x)", "`id`", "() { :;}; echo x", "-h",
    "--version",
    "../../etc/passwd", "%00%0d%0a", "a\nContent-Type: text/html\n\n<script>", "<img src=x>", "{}",
    "null",
    "\u{7f}\u{1}\t", "é\u{301}\u{202e}",
  ]
}
