import FoundationEssentials
import PluginHost
import PluginTester

/// `richpush plugin`: creates, tests and lists plugins.
enum PluginCommand: Command {
  static let name = "plugin"
  static let summary = "lists, creates, runs and checks plugins"
  static let help = """
      richpush plugin list              each plugin's state, processes, times and last failure
      richpush plugin list --json       the same as one JSON object, for programs
      richpush plugin new coupon --language python
                                        creates a folder with a working plugin and its test
      richpush plugin new coupon --form
                                        the same, of what is filled in in the console
      richpush plugin run coupon --payload SAVE10
                                        shows what the server would send, and the response
      richpush plugin check plugins/coupon
                                        checks every plugin must pass, why, and how to fix failures
      richpush plugin pack plugins/coupon
                                        packs the folder into coupon-1.0.0.plugin.tar
      richpush plugin install coupon-1.0.0.plugin.tar --plugins /usr/local/lib/richpush/plugins
                                        checks and installs it; --replace replaces another version

    list asks the running server (as an admin), which has statistics; without a server it reads
    the folder. run, check and install use the server's own launcher, limits and sandbox. install
    refuses what is no plain file, and a plugin that fails a check; a running server uses the new one
    at once. docs/PLUGINS.md describes the interface.
    """
  static let options: [Option] =
    [
      PluginFolders.option,
      .value(
        "language", "NAME", "new: sh (without it), python, perl, php or swift; with --form python"),
      .flag("form", "new: a plugin whose content is filled in, by fields in its plugin.json"),
      .value("verb", "VERB", "run: render, validate or describe", default: "render"),
      .list("payload", "TEXT", "run, check, install: literal content to call it with"),
      .list("asset", "FILE", "run, check, install: a file to call it with"),
      .value("message", "TEXT", "run: the notification's message", default: "A message"),
      .value("profile", "NAME", "run: the requested profile"),
      .value("width", "PIXELS", "run: the requested width"),
      .value("height", "PIXELS", "run: the requested height"),
      .list("query", "NAME=VALUE", "run: another query parameter, such as view=waveform"),
      .value(
        "output", "FILE",
        "run: where to write the content, else it is shown if it is text; pack: the archive"),
      .flag("replace", "pack, install: replace the file, or the plugin, of the same name"),
      .value(
        "assets", "FOLDER", "check, install: the folder of samples, if the plugin has none",
        default: "assets"),
      .value(
        "sandbox", "LEVEL", "run, check, install, list without a server: standard, strict or off",
        default: "standard"),
      .flag("json", "list: print the server's report, one JSON object"),
    ] + Account.options(user: "admin")
  static let operands = ["list|new|run|check|pack|install", "[TYPE-OR-PATH]"]

  static func run(_ arguments: Arguments) async throws {
    switch (arguments.operands[0], arguments.subject) {
    case ("list", nil): try await list(arguments)
    case ("new", let type?): try create(type, arguments)
    case ("run", let type?): try await call(type, arguments)
    case ("check", let path?): try await check(path, arguments)
    case ("pack", let path?): try pack(path, arguments)
    case ("install", let archive?): try await install(archive, arguments)
    case ("new", nil), ("run", nil), ("check", nil), ("pack", nil), ("install", nil):
      throw CommandLineError.usage("which plugin? 'richpush plugin --help' shows an example")
    default: throw CommandLineError.usage("usage: plugin list, new, run, check, pack or install")
    }
  }

  private static func create(_ type: String, _ arguments: Arguments) throws {
    let plugins = PluginFolders(arguments).own
    let language = arguments.string("language")
    let scaffold = try CommandLineError.usage {
      try Scaffold(type, language: language, hasForm: arguments.flag("form"))
    }
    for file in try scaffold.write(into: plugins, launcher: Programs.launcher) {
      Terminal.print("\(file)")
    }
    Terminal.print(
      """

      The plugin works already. Next:
        \(plugins)/\(type)/test.sh
        richpush plugin check \(plugins)/\(type)
      A running server uses it at once:
        richpush notify --to alice --type \(type) --payload '\(scaffold.sample)' "For you"
      """)
  }

  /// Prints the checks as TAP (Test Anything Protocol); the exit code is 1 if one fails.
  private static func check(_ path: String, _ arguments: Arguments) async throws {
    let failed = try await failures(at: path, arguments)
    if failed > 0 {
      throw CommandLineError.failed("\(failed) of \(Check.all.count) checks failed")
    }
  }

  /// Prints the checks, and returns how many have failed.
  static func failures(at path: String, _ arguments: Arguments) async throws -> Int {
    let tester = try PluginTester(
      path, programs: Programs.folder, sandbox: try arguments.sandbox())
    var samples = try arguments.samples()
    if samples.isEmpty {
      let assets = try arguments.required("assets") + "/" + tester.name
      samples = Sample.all(ofPlugin: tester.path, assets: assets)
    }
    Terminal.print("1..\(Check.all.count)")
    var failed = 0
    for (index, check) in Check.all.enumerated() {
      let line = "\(index + 1) - \(check.name)"
      switch await check.finding(tester, samples) {
      case .passes(let note): Terminal.print("ok \(line)" + (note.isEmpty ? "" : " (\(note))"))
      case .doesNotApply(let reason): Terminal.print("ok \(line) # SKIP \(reason)")
      case .fails(let fault):
        failed += 1
        Terminal.print("not ok \(line)")
        Terminal.print("  found: \(lines: fault)\n  why:   \(check.why)\n  fix:   \(check.fix)")
      }
    }
    return failed
  }
}

extension Arguments {
  /// How plugins are isolated.
  func sandbox() throws(CommandLineError) -> SandboxReport.Level {
    try choice("sandbox") ?? .standard
  }

  /// The samples that `--payload` and `--asset` name.
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

/// The folders in which plugins are searched: the ones `--plugins` names, or else `plugins` and the folder
/// of the built-in plugins.
struct PluginFolders {
  /// At least one; the first that has a plugin for a rich type counts.
  let paths: [String]

  /// The folder of the author's or operator's own plugins.
  var own: String { paths[0] }

  /// The flag that names the folders.
  static let option = Option.list(
    "plugins", "FOLDER", "folder of plugins; without it: plugins, and the built-in ones")

  init(_ arguments: Arguments) {
    let named = arguments.list("plugins")
    paths = named.isEmpty ? ["plugins", Programs.plugins] : named
  }

  /// The path of a rich type's file or folder; in ``own`` if there is none.
  func path(of richType: String) -> String {
    let paths = paths.map { "\($0)/\(richType)" }
    return paths.first(where: FileManager.default.fileExists(atPath:)) ?? paths[0]
  }
}
