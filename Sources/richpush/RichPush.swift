import FoundationEssentials
import Glibc
import Media
import Origin
import RichPushAPI

/// The program: finds the command that the first argument names, and runs it.
@main
struct RichPush {
  /// The version that `richpush --version` prints.
  static let version = "0.2.0"
  /// The date of the version, for the manual pages.
  static let versionDate = "November 28, 2026"

  /// All commands, in the order of the help page.
  static var commands: [any Command.Type] {
    [
      ServeCommand.self, DeviceCommand.self, NotifyCommand.self, AmendCommand.self,
      WithdrawCommand.self, SentCommand.self, AudienceCommand.self, AssetCommand.self,
      WebhookCommand.self, OutboxCommand.self, PeopleCommand.self, AuditCommand.self,
      SessionCommand.self,
      UserCommand.self, TokenCommand.self, NtfyCommand.self, PushCommand.self, KeyCommand.self,
      StoreCommand.self, PluginCommand.self, RenderCommand.self, StatusCommand.self,
      HealthCommand.self, ConfigCommand.self, CompletionCommand.self, ManualCommand.self,
    ]
  }

  /// All environment variables that a command reads.
  static var variables: [String] {
    commands.flatMap { $0.options }.filter(\.hasVariable).map(\.variable)
      + OriginConfiguration.pushVariables.map(\.name)
      + ObjectStoreSettings.variables.map(\.name)
      + SignInSettings.variables.map(\.name)
  }

  /// The umask that the program was started with.
  ///
  /// From its first use on, only the owner can access what the process creates; the drop folder's files
  /// get the initial umask back.
  static let initialUmask = umask(0o077)

  static func main() async {
    let process = ProcessInfo.processInfo
    do {
      try await run(Array(process.arguments.dropFirst()), environment: process.environment)
    } catch {
      Terminal.printError("\(error.logDescription)")
      exit(ExitCode.of(error))
    }
  }

  private static func run(_ words: [String], environment: [String: String]) async throws {
    guard let name = words.first, name != "--help", name != "-h", name != "help" else {
      try requireNoMore(words.dropFirst(2))
      let text = try words.dropFirst().first.map { HelpPage.text(of: try Self.command(named: $0)) }
      return Terminal.print("\(lines: text ?? HelpPage.text(of: commands))")
    }
    if name == "--version" || name == "version" {
      try requireNoMore(words.dropFirst())
      return Terminal.print(
        "richpush \(version), commit \(BuildInformation.commit)\n\(lines: BuildInformation.libraries)"
      )
    }
    let command = try command(named: name)
    let rest = Array(words.dropFirst())
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      return Terminal.print("\(lines: HelpPage.text(of: command))")
    }
    try Arguments.checkVariables(environment, known: variables)
    var arguments = try Arguments(rest, environment: environment, for: command)
    if command.options.contains(where: { $0.name == Option.data.name && $0.hasVariable }) {
      // Commands that open the store create files that others must not read.
      _ = initialUmask
      // What they have changed reaches a running server also if nobody reads what they print.
      signal(SIGPIPE, SIG_IGN)
      if arguments.string(Option.data.name) == nil {
        let environment = environment.merging(StoreLocation.variables) { $0.isEmpty ? $1 : $0 }
        arguments = try Arguments(rest, environment: environment, for: command)
      }
    }
    // What the server itself does is nobody's command.
    if command == ServeCommand.self { return try await command.run(arguments) }
    try await DataFolderAdmin.recordingUnixUser { try await command.run(arguments) }
    if let failure = Terminal.outputFailure {
      throw CommandLineError.failed(
        "it was done, but what it printed could not be written to standard output: \(failure)")
    }
  }

  private static func requireNoMore(_ rest: some Collection<String>) throws(CommandLineError) {
    if let word = rest.first { throw .usage("unexpected argument '\(word)'") }
  }

  /// The command of a name.
  static func command(named name: String) throws(CommandLineError) -> any Command.Type {
    if let command = commands.first(where: { $0.name == name }) { return command }
    throw .usage(
      "unknown command '\(name)'\(Suggestion.hint(to: name, among: commands.map { $0.name })); "
        + "'richpush --help' lists them")
  }
}

/// The installed files of this package.
enum Programs {
  /// The folder of this executable, which also contains `richpush-exec` and the plugins' executables.
  static var folder: String {
    let path = (try? FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")) ?? "."
    return URL(fileURLWithPath: path).deletingLastPathComponent().path
  }

  /// The program that starts others.
  static var launcher: String { folder + "/richpush-exec" }

  /// Whether the Debian package has installed this program.
  static var arePackaged: Bool { folder == "/usr/lib/richpush" }

  /// The folder of the plugins that ship.
  static var plugins: String { package + "/plugins" }

  /// The folder of the demonstration's sample files, with a subfolder per rich type.
  static var samples: String { package + "/assets" }

  /// The folder of an installed program, or the repository that it was built in.
  private static var package: String {
    folder.firstRange(of: "/.build/").map { String(folder[..<$0.lowerBound]) } ?? folder
  }
}
