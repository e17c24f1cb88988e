import Origin

/// `richpush plugin`: what handles the rich types.
enum PluginCommand: Command {
  static let name = "plugin"
  static let summary = "lists the plugins"
  static let help = """
      richpush plugin list     the rich types, how each plugin runs, and what the sandbox lacks

    docs/PLUGINS.md shows how to write one.
    """
  static let options: [Option] = [
    .value("plugins", "FOLDER", "where the plugins are", default: "plugins")
  ]
  static let operands = ["list"]

  static func run(_ arguments: Arguments) async throws {
    guard arguments.operands == ["list"] else { throw CommandLineError.usage("it is plugin list") }
    let inventory: PluginInventory
    do {
      inventory = try PluginInventory(
        folder: arguments.required("plugins"), programs: Programs.folder)
    } catch { throw CommandLineError.failed("\(error)") }
    Terminal.say(Table.text([["TYPE", "VERSION", "MODE", "VERBS", "STATE"]] + inventory.rows))
    for gap in inventory.gaps { Terminal.say("sandbox: \(gap)") }
    if inventory.gaps.isEmpty { Terminal.say("sandbox: complete on this kernel") }
  }
}
