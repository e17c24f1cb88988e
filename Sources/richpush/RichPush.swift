import Media
import Foundation
import Origin
import RichPushAPI
import RichPushClient

/// The program: it finds the command that was asked for, and runs it.
@main
struct RichPush {
  /// Every command, in the order of the help page; a new one is a file of its own and a word here.
  static var commands: [any Command.Type] {
    [
      ServeCommand.self, DeviceCommand.self, NotifyCommand.self, AmendCommand.self,
      WithdrawCommand.self, AssetCommand.self, UserCommand.self, PushCommand.self, KeyCommand.self,
      StoreCommand.self, PluginCommand.self, RenderCommand.self,
    ]
  }

  /// The umask that the program was started with; from its first use on nothing that the process makes
  /// is anybody else's, but where it says so (the drop folder).
  static let mask = umask(0o077)

  static func main() async {
    let words = Array(ProcessInfo.processInfo.arguments.dropFirst())
    do {
      try await run(words, environment: ProcessInfo.processInfo.environment)
    } catch let error as CommandLineError {
      Terminal.complain(error.reason)
      exit(error.exitCode)
    } catch let error as RichPushError {
      Terminal.complain(error.reason)
      exit(error.exitCode)
    } catch {
      Terminal.complain(error.logDescription)
      exit(EXIT_FAILURE)
    }
  }

  private static func run(_ words: [String], environment: [String: String]) async throws {
    guard let name = words.first, name != "--help", name != "-h", name != "help" else {
      try refuse(words.dropFirst(2))
      return Terminal.say(try page(words.dropFirst().first))
    }
    if name == "--version" {
      try refuse(words.dropFirst())
      return Terminal.say("richpush \(version)")
    }
    let command = try command(named: name)
    let rest = Array(words.dropFirst())
    if rest.prefix(while: { $0 != "--" }).contains(where: { $0 == "--help" || $0 == "-h" }) {
      return Terminal.say(HelpPage.text(of: command))
    }
    try Arguments.refuseUnknownVariables(
      in: environment, among: commands.flatMap { $0.options },
      and: OriginConfiguration.pushVariables)
    // Those that open the store.
    if command.options.contains(where: { $0.name == "data" }) { _ = mask }
    try await command.run(Arguments(rest, environment: environment, for: command))
  }

  private static func refuse(_ rest: some Collection<String>) throws(CommandLineError) {
    if let word = rest.first { throw .usage("'\(word)' is one word too many") }
  }

  /// The help page of a command, or of the program when none is named.
  private static func page(_ name: String?) throws(CommandLineError) -> String {
    guard let name else { return HelpPage.text(of: commands) }
    return HelpPage.text(of: try command(named: name))
  }

  private static func command(named name: String) throws(CommandLineError) -> any Command.Type {
    if let command = commands.first(where: { $0.name == name }) { return command }
    throw .usage(
      "unknown command '\(name)'\(Suggestion.hint(to: name, among: commands.map { $0.name })); "
        + "'richpush --help' lists them")
  }
}
