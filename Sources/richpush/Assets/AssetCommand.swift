import FoundationEssentials
import RichPushClient

/// `richpush asset`: manages a server's assets, and checks a folder without a server.
enum AssetCommand: Command {
  static let name = "asset"
  static let summary =
    "lists, shows, checks, adds, removes, restores and watches the files of the drop folder"
  static let help = """
      richpush asset list                     every file, its state, and why it was refused
      richpush asset list --state refused --type img
      richpush asset list --sort newest       in another order than by type and name
      richpush asset list --label summer      those with this label
      richpush asset list --unused            what no notification has, and no draft names
      richpush asset show img/logo.png        everything known about one asset
      richpush asset add *.png holiday.mp4    uploads files and reports the result for each
      richpush asset add --type coupon a.json the same for a rich type that their content does not tell
      richpush asset describe img/logo.png --alt "A dog at a lake" --focus 0.2,0.6
      richpush asset describe img/logo.png --label summer --label "Sale 2027"
      richpush asset labels                   the labels that assets have, and how many
      richpush asset uses img/logo.png        the notifications and drafts with one
      richpush asset rename img/logo.png new.png    with its text, focus, labels and versions
      richpush asset remove img/logo.png      removes one; sent notifications keep its content
      richpush asset removed                  what was removed and can be restored
      richpush asset versions img/logo.png    what one had before it was replaced or removed
      richpush asset restore img/logo.png     restores what was replaced or removed last
      richpush asset restore --version 3f2a91 img/logo.png
      richpush asset watch                    shows changes and progress, live
      richpush asset check assets             checks a drop folder as a server would, without one
      richpush asset check --type img photos  the same for a folder of one rich type

    describe sets what a notification with the asset says to those who do not see it, if it says
    nothing itself, and the point that crops keep: fractions of width and height from the upper left
    corner. What was sent stays as it is. Each --label is one that it shall have; it keeps no other.

    restore brings back the content, the alternative text and the focus. What it replaces can be
    restored, too, so that restoring twice changes nothing. --version is the beginning of the
    SHA-256 that versions shows. richpush serve --keep-replaced says how long all that is kept.

    uses shows the notifications of --user, or of everybody to an admin, as long as they are there.
    list --unused counts everybody's. What templates of webhooks name counts for neither.

    check and add exit with 65 if any file is refused. --json prints one JSON object per line.
    docs/ASSETS.md lists what is accepted.
    """
  static let options: [Option] =
    [
      .value("type", "NAME", "list: only this rich type; add, check: the files' type"),
      .value("state", "STATE", "list: only ready, preparing or refused assets"),
      .value("sort", "ORDER", "list: name, newest, oldest, largest or smallest").withoutVariable,
      .flag("unused", "list: only what no notification has, and no draft or template names")
        .withoutVariable,
      .value("version", "SHA256", "restore: the beginning of the content's SHA-256")
        .withoutVariable,
      .value("alt", "TEXT", "describe: what it shows, for those who do not see it")
        .withoutVariable,
      .value("focus", "X,Y", "describe: the point that crops keep, such as 0.5,0.3")
        .withoutVariable,
      .list("label", "WORD", "describe: the labels that it shall have; list: the one to look for")
        .withoutVariable,
      .list("remove", "FLAG", "describe: alt, focus or labels, which it shall not have any more")
        .withoutVariable,
      PluginFolders.option,
      .flag("json", "print one JSON object per line, for programs"),
    ] + Account.options(user: "publisher")
  static let operands = [
    "list|show|check|add|describe|labels|uses|rename|remove|removed|versions|restore|watch",
    "[NAME…]",
  ]

  static func run(_ arguments: Arguments) async throws {
    let (action, names) = (arguments.operands[0], arguments.operands.dropFirst())
    try refuseIgnoredFlags(of: action, arguments)
    let report = Report(isJSON: arguments.flag("json"))
    switch (action, names.count) {
    case ("list", 0):
      let state: Asset.State? = try arguments.choice("state")
      let order: Asset.Order? = try arguments.choice("sort")
      let label = arguments.list("label").first
      guard arguments.list("label").count <= 1 else {
        throw CommandLineError.usage("asset list takes one --label")
      }
      report.list(
        try await Account(arguments).client
          .assets(
            richType: arguments.string("type"), state: state, order: order, label: label,
            isUnused: arguments.flag("unused")))
    case ("labels", 0):
      report.list(["LABEL", "ASSETS"], try await Account(arguments).client.assetLabels())
    case ("rename", 2): try await rename(names[1], to: names[2], arguments, report)
    case ("removed", 0): report.list(try await Account(arguments).client.removedAssets())
    case ("show", 1...), ("remove", 1...), ("describe", 1...), ("versions", 1), ("uses", 1),
      ("restore", 1...):
      let amendment = action == "describe" ? try amendment(arguments) : nil
      let client = try Account(arguments).client
      for text in names {
        let parts = try parts(of: text)
        if action == "versions" {
          report.list(try await client.assetVersions(parts[1], richType: parts[0]))
        } else if action == "uses" {
          report.show(try await client.assetUses(parts[1], richType: parts[0]))
        } else if action == "restore" {
          let digest = try await version(arguments, of: parts[1], parts[0], client)
          report.line(
            try await client.restoreAsset(parts[1], richType: parts[0], sha256: digest))
        } else if let amendment {
          report.line(try await client.amendAsset(parts[1], richType: parts[0], amendment))
        } else if action == "show" {
          report.show(try await client.asset(parts[1], richType: parts[0]))
        } else {
          try await client.removeAsset(parts[1], richType: parts[0])
          report.note("removed \(text)")
        }
      }
    case ("add", 1...): try await add(Array(names), arguments, report)
    case ("watch", 0): try await watch(Account(arguments).client, report)
    case ("check", 1): try await check(arguments.operands[1], arguments, report)
    default:
      throw CommandLineError.usage(
        "usage: asset list, show NAME, check FOLDER, add FILE, describe NAME, labels, uses NAME, "
          + "rename NAME NEW, remove NAME, removed, versions NAME, restore NAME or watch")
    }
  }

  /// Gives an asset another name, and tells which drafts have the earlier one.
  private static func rename(
    _ text: String, to name: String, _ arguments: Arguments, _ report: Report
  ) async throws {
    let parts = try parts(of: text)
    // The name may be written as the asset's is.
    let prefix = parts[0] + "/"
    let new = name.hasPrefix(prefix) ? String(name.dropFirst(prefix.count)) : name
    let client = try Account(arguments).client
    report.line(try await client.renameAsset(parts[1], richType: parts[0], to: new))
    let drafts = (try? await client.assetUses(parts[1], richType: parts[0]).drafts) ?? []
    for draft in drafts {
      let kind = draft.isTemplate ? "template" : "draft"
      report.note("the \(kind) \(draft.id) \(draft.name) still names \(text)")
    }
  }

  /// The rich type and the name of an asset.
  private static func parts(of text: String) throws(CommandLineError) -> [String] {
    let parts = text.split(separator: "/", maxSplits: 1).map(String.init)
    guard parts.count == 2 else {
      throw .usage("an asset is named TYPE/NAME, such as img/logo.png, not '\(text)'")
    }
    return parts
  }

  /// The SHA-256 of the content that `restore` names; nil for what was replaced or removed last.
  private static func version(
    _ arguments: Arguments, of name: String, _ richType: String, _ client: RichPushClient
  ) async throws -> String? {
    guard let start = arguments.string("version") else { return nil }
    let found = try await client.assetVersions(name, richType: richType)
      .map(\.sha256).filter { $0.hasPrefix(start) }
    guard found.count == 1 else {
      throw CommandLineError.failed(
        "\(found.isEmpty ? "no version" : "more than one version") of \(richType)/\(name) begins with "
          + "'\(start)'; 'richpush asset versions \(richType)/\(name)' lists them",
        exitCode: ExitCode.notFound)
    }
    return found[0]
  }

  /// What `describe` changes.
  private static func amendment(_ arguments: Arguments) throws(CommandLineError) -> AssetAmendment {
    var amendment = AssetAmendment(alt: arguments.string("alt"))
    let labels = arguments.list("label")
    if !labels.isEmpty { amendment.labels = .value(labels) }
    if let text = arguments.string("focus") {
      guard let focus = Asset.Focus(text) else {
        throw .usage("--focus is two fractions of width and height such as 0.5,0.3, not '\(text)'")
      }
      amendment.focus = .value(focus)
    }
    for name in arguments.list("remove") {
      switch name {
      case "alt" where amendment.alt == .none: amendment.alt = .removal
      case "focus" where amendment.focus == .none: amendment.focus = .removal
      case "labels" where amendment.labels == .none: amendment.labels = .removal
      case "alt", "focus", "labels":
        throw .usage("--remove \(name) and a value for it exclude each other")
      default: throw .usage("--remove takes alt, focus or labels, not '\(name)'")
      }
    }
    guard amendment != AssetAmendment() else {
      throw .usage("nothing to change: give --alt, --focus, --label or --remove")
    }
    return amendment
  }

  /// Refuses a flag without effect, such as `watch --type img`, which would show all types.
  private static func refuseIgnoredFlags(
    of action: String, _ arguments: Arguments
  ) throws(CommandLineError) {
    let used = [
      "list": ["type", "state", "sort", "unused", "label"], "add": ["type"],
      "check": ["type", "plugins"],
      "show": [], "describe": ["alt", "focus", "label", "remove"], "labels": [], "rename": [],
      "remove": [],
      "removed": [],
      "versions": [], "uses": [], "restore": ["version"], "watch": [],
    ]
    guard let flags = used[action] else { return }
    for flag in [
      "type", "state", "sort", "unused", "plugins", "alt", "focus", "label", "remove", "version",
    ]
    where arguments.isTyped(flag) && !flags.contains(flag) {
      throw .usage("asset \(action) has no flag --\(flag)")
    }
  }
}
