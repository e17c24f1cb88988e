import Foundation
import PluginTester
import PluginHost

/// `richpush plugin`: what handles the rich types.
enum PluginCommand: Command {
  static let name = "plugin"
  static let summary = "lists plugins; makes, tries and checks one"
  static let help = """
      richpush plugin list              each plugin's state, processes and times
      richpush plugin new coupon --language python
                                        a folder with a plugin that works, and its test
      richpush plugin run coupon --payload SAVE10
                                        what the server would send, and what comes back
      richpush plugin check plugins/coupon
                                        checks every plugin must pass, why, and how to fix failures

    list asks the server that runs (as an admin) for what only it knows; without one it reads the
    folder. run and check use the server's own launcher, limits and sandbox. docs/PLUGINS.md is the
    contract.
    """
  static let options: [Option] =
    [
      PluginFolders.option,
      .value("language", "NAME", "new: sh, python, perl, php or swift", default: "sh"),
      .value("verb", "VERB", "run: render, validate or describe", default: "render"),
      .list("payload", "TEXT", "run, check: literal content to ask about"),
      .list("asset", "FILE", "run, check: a file to ask about"),
      .value("message", "TEXT", "run: the notification's message", default: "A message"),
      .value("profile", "NAME", "run: the profile that is asked for"),
      .value("width", "PIXELS", "run: the width that is asked for"),
      .value("height", "PIXELS", "run: the height that is asked for"),
      .list("query", "NAME=VALUE", "run: more of the query string, such as view=waveform"),
      .value("output", "FILE", "run: where the content goes; else it is shown when it is text"),
      .value(
        "assets", "FOLDER", "check: where its samples are, when it has none", default: "assets"),
      .value(
        "sandbox", "LEVEL", "run, check, list without a server: standard, strict or off",
        default: "standard"),
    ] + Account.options(user: "admin")
  static let operands = ["list|new|run|check", "[TYPE-OR-PATH]"]

  static func run(_ arguments: Arguments) async throws {
    switch (arguments.operands[0], arguments.operands.dropFirst().first) {
    case ("list", nil): try await PluginList(arguments).show()
    case ("new", let type?): try create(type, arguments)
    case ("run", let type?): try await PluginRun(type, arguments).show()
    case ("check", let path?): try await PluginCheck(path, arguments).show()
    case ("new", nil), ("run", nil), ("check", nil):
      throw CommandLineError.usage("which plugin? 'richpush plugin --help' shows an example")
    default: throw CommandLineError.usage("it is plugin list, new, run or check")
    }
  }

  private static func create(_ type: String, _ arguments: Arguments) throws {
    let plugins = PluginFolders(arguments).own
    let language = try arguments.required("language")
    let scaffold: Scaffold
    do { scaffold = try Scaffold(type, language: language) } catch {
      throw CommandLineError.usage(error.reason)
    }
    do {
      for file in try scaffold.write(into: plugins) { Terminal.say(file) }
    } catch { throw CommandLineError.failed(error.reason) }
    Terminal.say(
      """

      It works as it stands. Next:
        \(plugins)/\(type)/test.sh
        richpush plugin check \(plugins)/\(type)
      A running server has taken it already:
        richpush notify --to alice --type \(type) --payload Hello "For you"
      """)
  }
}

extension Arguments {
  /// How plugins are isolated.
  func sandbox() throws(CommandLineError) -> SandboxReport.Level {
    guard let level = SandboxReport.Level(rawValue: try required("sandbox")) else {
      throw .usage("--sandbox is standard, strict or off")
    }
    return level
  }

  /// What `--payload` and `--asset` name.
  func samples() throws(CommandLineError) -> [Sample] {
    var samples = list("payload").map { Sample(payload: $0) }
    for path in list("asset") {
      guard let sample = Sample(file: URL(filePath: path)) else {
        throw .failed("the file \(path) cannot be read")
      }
      samples.append(sample)
    }
    return samples
  }
}
