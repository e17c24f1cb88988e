import Foundation
import PluginBench
import PluginHost

/// `richpush plugin run`: one question, with all that goes there (`>`) and comes back (`<`, `!`).
struct PluginRun {
  private let bench: PluginBench
  private let call: PluginCall
  private let output: String?

  init(_ type: String, _ arguments: Arguments) throws {
    let path = try type.contains("/") ? type : arguments.required("plugins") + "/" + type
    let level = try arguments.sandbox()
    do {
      bench = try PluginBench(path, programs: Programs.folder, sandbox: level)
    } catch { throw CommandLineError.failed(error.reason) }
    guard let verb = PluginCall.Verb(rawValue: try arguments.required("verb")) else {
      throw CommandLineError.usage("--verb is render, validate or describe")
    }
    let samples = try arguments.samples()
    guard samples.count < 2 else { throw CommandLineError.usage("run asks about one sample") }
    let edge = 1...65_535
    let query = try arguments.list("query").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw CommandLineError.usage("--query is NAME=VALUE") }
      return (name: parts[0], value: parts[1])
    }
    call = (samples.first ?? Sample(payload: "")).call(
      verb, message: try arguments.required("message"),
      options: PluginOptions(
        profile: arguments.string("profile"), width: try arguments.integer("width", in: edge),
        height: try arguments.integer("height", in: edge)),
      query: query)
    output = arguments.string("output")
  }

  func show() async throws {
    let trial = await bench.ask(call)
    for exchange in trial.exchanges {
      for (name, value) in exchange.variables { Terminal.say("> \(name)=\(value)") }
      Terminal.say("> (standard input: \(exchange.body.count) bytes)")
      for line in lines(of: exchange.head) { Terminal.say("< \(line)") }
      Terminal.say("< (content: \(exchange.content.count) bytes)")
      for line in lines(of: exchange.complaints) { Terminal.say("! \(line)") }
      let time = Double(exchange.duration.components.attoseconds / 1_000_000_000_000) / 1000
      Terminal.say(
        "= it \(exchange.ending) after \(exchange.duration.components.seconds * 1000 + Int64(time)) ms"
      )
    }
    guard let reply = trial.reply else {
      for line in trial.log { Terminal.complain(line) }
      throw CommandLineError.failed(
        "the caller gets \(trial.status): \(trial.error?.reason ?? "")", exitCode: 65)
    }
    try show(reply, trial.content)
  }

  private func show(_ reply: PluginReply, _ content: [UInt8]) throws {
    let what =
      if let location = reply.location {
        "a redirect to \(location)"
      } else if case .asset = reply.body {
        "the asset itself"
      } else { "\(content.count) bytes" }
    Terminal.say(
      "= the caller gets \(reply.status) \(reply.contentType), \(what), "
        + (reply.isStorable ? "which is kept" : "which is not kept"))
    if let output {
      let sent = if case .asset = reply.body { call.asset?.path } else { String?.none }
      try (sent.map { try Data(contentsOf: URL(filePath: $0)) } ?? Data(content))
        .write(to: URL(filePath: output))
    } else if let text = String(validating: content, as: UTF8.self), !text.isEmpty {
      Terminal.say(text)
    }
  }

  private func lines(of bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
  }
}
