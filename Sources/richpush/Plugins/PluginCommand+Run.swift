import FoundationEssentials
import Media
import Origin
import PluginHost
import PluginTester
import RichPushAPI

extension PluginCommand {
  /// Calls a plugin once and prints everything that is sent (`>`) and received (`<`, and `!` for standard error).
  static func call(_ type: String, _ arguments: Arguments) async throws {
    let path = type.contains("/") ? type : PluginFolders(arguments).path(of: type)
    let verb: PluginCall.Verb = try arguments.choice("verb") ?? .render
    let samples = try arguments.samples()
    guard samples.count < 2 else { throw CommandLineError.usage("run takes one sample") }
    let options = try options(arguments)
    let tester = try PluginTester(
      path, programs: Programs.folder, sandbox: try arguments.sandbox())
    var call = (samples.first ?? Sample(payload: "")).call(
      verb, message: try arguments.required("message"))
    if verb == .render, let plugin = tester.plugin {
      try CommandLineError.usage { try call.setOptions(options, for: plugin) }
    }
    let result = await tester.run(call)
    result.exchanges.forEach(show)
    guard let reply = result.reply else {
      for line in result.log { Terminal.printError("\(line)") }
      throw CommandLineError.failed(
        "the caller gets \(result.error.map { ServiceError(any: $0).code.status } ?? 0): "
          + (result.error?.reason ?? ""),
        exitCode: result.error.map { ExitCode.of($0) } ?? ExitCode.refused)
    }
    let sentAsset = if case .asset = reply.body { call.asset?.path } else { String?.none }
    show(reply, result.content)
    if let output = arguments.string("output") {
      try (sentAsset.map { try Data(contentsOf: URL(filePath: $0)) } ?? Data(result.content))
        .write(to: URL(filePath: output))
    } else if let text = String(validating: result.content, as: UTF8.self), !text.isEmpty {
      Terminal.print("\(lines: text)")
    }
  }

  private static func options(_ arguments: Arguments) throws -> [(name: String, value: String)] {
    try ["profile", "width", "height"].compactMap { name in
      arguments.string(name).map { (name: name, value: $0) }
    }
      + arguments.list("query").map { pair in
        let parts = pair.split(separator: "=", maxSplits: 1).map(String.init)
        guard parts.count == 2 else { throw CommandLineError.usage("--query must be NAME=VALUE") }
        return (name: parts[0], value: parts[1])
      }
  }

  private static func show(_ exchange: Transcript.Attempt) {
    for (name, value) in exchange.variables { Terminal.print("> \(name)=\(value)") }
    Terminal.print("> (standard input: \(exchange.body.count) bytes)")
    for line in lines(of: exchange.head) { Terminal.print("< \(line)") }
    Terminal.print("< (content: \(exchange.content.count) bytes)")
    for line in lines(of: exchange.standardError) { Terminal.print("! \(line)") }
    let milliseconds = Int(exchange.duration / .milliseconds(1))
    Terminal.print("= it \(exchange.ending) after \(milliseconds) ms")
  }

  private static func show(_ reply: PluginReply, _ content: [UInt8]) {
    let what =
      if let location = reply.location {
        "a redirect to \(location)"
      } else if case .asset = reply.body {
        "the asset itself"
      } else { "\(content.count) bytes" }
    Terminal.print(
      "= the caller gets \(reply.location == nil ? 200 : 302) \(reply.contentType), \(what), "
        + (reply.isStorable ? "which is kept" : "which is not kept"))
  }

  private static func lines(of bytes: [UInt8]) -> [Substring] {
    String(decoding: bytes, as: UTF8.self).split(whereSeparator: \.isNewline)
  }
}
