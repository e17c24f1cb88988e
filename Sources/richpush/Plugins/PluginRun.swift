import Foundation
import Media
import Origin
import RichPushAPI
import PluginTester
import PluginHost

/// `richpush plugin run`: one question, with all that goes there (`>`) and comes back (`<`, `!`).
struct PluginRun {
  private let tester: PluginTester
  private let call: PluginCall
  private let output: String?

  init(_ type: String, _ arguments: Arguments) throws {
    guard let verb = PluginCall.Verb(rawValue: try arguments.required("verb")) else {
      throw CommandLineError.usage("--verb is render, validate or describe")
    }
    let samples = try arguments.samples()
    guard samples.count < 2 else { throw CommandLineError.usage("run asks about one sample") }
    let options = ["profile", "width", "height"].compactMap { name in
      arguments.string(name).map { (name: name, value: $0) }
    }
    let query = try arguments.list("query").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
      guard parts.count == 2 else { throw CommandLineError.usage("--query is NAME=VALUE") }
      return (name: parts[0], value: parts[1])
    }
    let path = type.contains("/") ? type : PluginFolders(arguments).path(of: type)
    let level = try arguments.sandbox()
    do {
      tester = try PluginTester(path, programs: Programs.folder, sandbox: level)
    } catch { throw CommandLineError.failed(error.reason) }
    var call = (samples.first ?? Sample(payload: "")).call(
      verb, message: try arguments.required("message"))
    if verb == .render, let plugin = tester.plugin {
      do throws(ServiceError) {
        try call.setOptions(options + query, for: plugin)
      } catch { throw CommandLineError.usage(error.reason) }
    }
    self.call = call
    output = arguments.string("output")
  }

  func show() async throws {
    let result = await tester.run(call)
    for exchange in result.exchanges {
      for (name, value) in exchange.variables { Terminal.say("> \(name)=\(value)") }
      Terminal.say("> (standard input: \(exchange.body.count) bytes)")
      for line in lines(of: exchange.head) { Terminal.say("< \(line)") }
      Terminal.say("< (content: \(exchange.content.count) bytes)")
      for line in lines(of: exchange.standardError) { Terminal.say("! \(line)") }
      let time = Double(exchange.duration.components.attoseconds / 1_000_000_000_000) / 1000
      Terminal.say(
        "= it \(exchange.ending) after \(exchange.duration.components.seconds * 1000 + Int64(time)) ms"
      )
    }
    guard let reply = result.reply else {
      for line in result.log { Terminal.complain(line) }
      throw CommandLineError.failed(
        "the caller gets \(result.error.map { ServiceError(any: $0).code.status } ?? 0): "
          + (result.error?.reason ?? ""), exitCode: 65)
    }
    try show(reply, result.content)
  }

  private func show(_ reply: PluginReply, _ content: [UInt8]) throws {
    let what =
      if let location = reply.location {
        "a redirect to \(location)"
      } else if case .asset = reply.body {
        "the asset itself"
      } else { "\(content.count) bytes" }
    Terminal.say(
      "= the caller gets \(reply.location == nil ? 200 : 302) \(reply.contentType), \(what), "
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
