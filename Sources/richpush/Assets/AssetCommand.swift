import Foundation
import RichPushClient

/// `richpush asset`: the drop folder from afar, and a dry run without any server.
enum AssetCommand: Command {
  static let name = "asset"
  static let summary =
    "lists, shows, checks, adds, removes and watches the files of the drop folder"
  static let help = """
      richpush asset list                     every file, its state, and why it is refused
      richpush asset list --state refused --type img
      richpush asset show img/logo.png        all that is known of one
      richpush asset add --type img *.png     uploads files, and says what became of each
      richpush asset remove img/logo.png      sent notifications keep its content
      richpush asset watch                    what happens, live, with the progress
      richpush asset check assets             what the server would say, without a server
      richpush asset check --type img photos  the same for a folder of one rich type

    check and add exit with 65 if any file is refused. --json prints one JSON object a line.
    docs/ASSETS.md explains what is taken, and why not.
    """
  static let options: [Option] =
    [
      .value("type", "NAME", "only this rich type; for add and check what the files are"),
      .value("state", "STATE", "only what is ready, preparing or refused"),
      PluginFolders.option,
      .flag("json", "print one JSON object a line, for programs"),
    ] + Account.options(user: "publisher")
  static let operands = ["list|show|check|add|remove|watch", "[NAME…]"]

  static func run(_ arguments: Arguments) async throws {
    let names = Array(arguments.operands.dropFirst())
    try refuseIgnoredFlags(arguments)
    let report = AssetReport(isJSON: arguments.flag("json"))
    switch (arguments.operands[0], names.count) {
    case ("list", 0): try await list(arguments, report)
    case ("show", 1...):
      let client = try Account(arguments).client
      for name in names {
        let place = try AssetPlace(name)
        let asset = try await client.asset(place.name, richType: place.richType)
        report.show(asset)
      }
    case ("add", 1...): try await AssetAdd(arguments, report).run(names)
    case ("remove", 1...):
      let client = try Account(arguments).client
      for name in names {
        let place = try AssetPlace(name)
        try await client.removeAsset(place.name, richType: place.richType)
        report.note("removed \(name)")
      }
    case ("watch", 0): try await AssetWatch(Account(arguments).client, report).run()
    case ("check", 1): try await AssetCheck(arguments, report).run(names[0])
    default:
      throw CommandLineError.usage(
        "it is asset list, show NAME, check FOLDER, add FILE, remove NAME or watch")
    }
  }

  /// Refuses a flag that means nothing to the action, such as `watch --type img`, which would show all.
  private static func refuseIgnoredFlags(_ arguments: Arguments) throws(CommandLineError) {
    let used = [
      "list": ["type", "state"], "add": ["type"], "check": ["type", "plugins"], "show": [],
      "remove": [], "watch": [],
    ]
    guard let flags = used[arguments.operands[0]] else { return }
    for flag in ["type", "state", "plugins"] where arguments.isTyped(flag) && !flags.contains(flag)
    {
      throw .usage("asset \(arguments.operands[0]) has no flag --\(flag)")
    }
  }

  private static func list(_ arguments: Arguments, _ report: AssetReport) async throws {
    let state = try arguments.string("state").map { text in
      guard let state = Asset.State(rawValue: text) else {
        throw CommandLineError.usage("--state is ready, preparing or refused, not '\(text)'")
      }
      return state
    }
    let client = try Account(arguments).client
    report.list(try await client.assets(richType: arguments.string("type"), state: state))
  }
}

/// `img/logo.png`: a rich type and a name.
struct AssetPlace {
  let richType: String
  let name: String

  init(_ text: String) throws(CommandLineError) {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw .usage("an asset is named TYPE/NAME, such as img/logo.png, not '\(text)'")
    }
    (richType, name) = (parts[0], parts[1])
  }
}
