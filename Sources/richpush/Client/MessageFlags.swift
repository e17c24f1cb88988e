import FoundationEssentials
import Glibc
import Primitives
import RichPushAPI

/// The flags that say what a notification is, and the members of its JSON form that they set.
enum MessageFlags {
  /// The flags of `notify` and `amend` alike.
  static let options: [Option] =
    [
      .value("type", "NAME", "the kind of media: img, sound, video, url, or another"),
      .value("payload", "WHAT", "the media: an asset's name, or literal content such as a link"),
    ] + message + [
      .value(
        "not-before", "WHEN", "checked now, pushed then: 90s, 30m, 12h or 7d from now, or a time"),
      .value(
        "local-time", "TIME", "pushed when each device's clock shows it, such as 2026-12-01T09:00"
      ).withoutVariable,
      .value(
        "zone", "NAME", "the time zone of devices that have none; without it, this machine's"
      ).withoutVariable,
      .value(
        "per-minute", "NUMBER", "pushed to at most so many devices in each minute"
      ).withoutVariable,
      .value("expires", "WHEN", "when the media is removed, in the same format"),
      .value("form", "FORM", "what the push looks like: silent, alert, hybrid or legacy"),
    ]

  private static let message = [
    Option.value("title", "TEXT", "a line above the text"),
    .value("subtitle", "TEXT", "a line between title and text"),
    .value("alt", "TEXT", "what the media shows, for those who do not see it"),
    .value("link", "URL", "what a tap opens"),
    .list("action", "ID=LABEL…", "a button, as explained above"),
    .value("sound", "NAME", "default, none, a file of the app, or critical:VOLUME (0 to 1)"),
    .value("importance", "LEVEL", "min, low, normal, high or urgent"),
    .value("relevance", "NUMBER", "the rank among an app's notifications, from 0 to 1"),
    .value("thread", "NAME", "the conversation that it is grouped with"),
    .value("category", "NAME", "a category that the app has registered"),
    .value("lock-screen", "WHAT", "what a locked screen shows: public, private or secret"),
    .value("icon", "URL", "a small picture beside the text"),
    .value("colour", "#RRGGBB", "an accent"),
    .value("channel", "NAME", "a channel that an Android app has created"),
    .value("data", "JSON", "an object for the app"),
    .value("label", "WORD", "groups notifications in Firebase's statistics"),
    .flag("badge", "show the number of unread notifications on the app's icon"),
  ].map(\.withoutVariable)

  /// The flag of what only a new notification can do.
  static let replaces = Option.value(
    "replaces", "NAME", "what it is about: it takes the place of your earlier one about the same"
  ).withoutVariable
  /// The flag of a file with members.
  static let file = Option.value(
    "json", "FILE", "the JSON of docs/API.md; - reads standard input; flags replace its members"
  ).withoutVariable
  /// The flag of what is printed.
  static let output = Option.value(
    "output", "FORMAT", "what is printed: text, or json: the server's response, for programs",
    default: "text")
  /// The most bytes of the file.
  static let largestFile = 1 << 20

  /// The member that a flag sets.
  static func member(of flag: String) -> String {
    switch flag {
    case "type": "richType"
    case "action": "actions"
    case "lock-screen": "lockScreen"
    case "not-before": "notBefore"
    case "local-time": "localTime"
    case "per-minute": "perMinute"
    default: flag
    }
  }

  /// How `--action` names a button, for the help pages.
  static let actionHelp = """
      --action track=Track                         only the publisher learns of it
      --action "shop=To shop=https://shop.example" opens a link
      --action "reply=Reply=input:Your answer"     asks for a text
      --action cancel=Cancel=destructive           is shown as one that destroys something
      --action later=Later=dismiss                 only closes the notification
    """
}

extension Arguments {
  /// Prints in the format of `--output`.
  func report() throws(CommandLineError) -> Report {
    Report(isJSON: try string("output", among: ["text", "json"]) == "json")
  }

  /// The members of the notification that the file of `--json` and the flags of ``MessageFlags`` set.
  func messageMembers() throws -> [String: JSONValue] {
    var members = try string("json").map(Self.members(inFile:)) ?? [:]
    for name in ["payload", "title", "subtitle", "alt", "link", "thread", "category", "icon"]
      + ["colour", "channel", "label"]
    {
      if let text = string(name) { members[name] = .string(text) }
    }
    // Not a variable's without media, which a message of text only has not.
    if let type = string("type"), isTyped("type") || members["payload"]?.isValue == true {
      members["richType"] = .string(type)
    }
    let actions = try list("action").map(Self.action)
    if !actions.isEmpty { members["actions"] = .array(actions) }
    if let sound = try sound() { members["sound"] = JSONValue(JSONCoding.encode(sound)) }
    if let level: NotificationMessage.Importance = try choice("importance") {
      members["importance"] = .string(level.rawValue)
    }
    if let rank = try fraction(string("relevance"), of: "--relevance") {
      members["relevance"] = .number(rank)
    }
    if let shown: NotificationMessage.LockScreen = try choice("lock-screen") {
      members["lockScreen"] = .string(shown.rawValue)
    }
    if let text = string("data") {
      guard let data = JSONValue(text.utf8), data.members != nil else {
        throw CommandLineError.usage(
          "--data is a JSON object such as {\"order\": 7}, not '\(text)'")
      }
      members["data"] = data
    }
    if let time = try futureTime("not-before") {
      members["notBefore"] = .string(time.formatted(.iso8601))
    }
    if let time = string("local-time") {
      members["localTime"] = .object([
        "at": .string(time), "zone": .string(string("zone") ?? TimeZone.current.identifier),
      ])
    } else if string("zone") != nil {
      throw CommandLineError.usage("--zone is for --local-time")
    }
    if let most = try integer("per-minute", in: 1...1_000_000) {
      members["perMinute"] = .number(Double(most))
    }
    if let time = try self.time("expires") {
      members["expires"] = .string(time.formatted(.iso8601))
    }
    if let form: PushForm = try choice("form") { members["form"] = .string(form.rawValue) }
    if flag("badge") { members["badge"] = .bool(true) }
    return members
  }

  /// The members of an object in a file.
  private static func members(
    inFile path: String
  ) throws(CommandLineError) -> [String: JSONValue] {
    // What --json was in version 0.2.0.
    let hint = "; to print the server's response use --output json"
    let text: [UInt8]
    guard path == "-" || !path.hasPrefix("-") else {
      throw .usage(
        "--json must be followed by a file, or - for standard input, not by \(path)\(hint)")
    }
    do {
      let file =
        path == "-"
        ? FileDescriptor(owning: dup(STDIN_FILENO)) : try FileDescriptor(path, O_RDONLY)
      text = try file?.readAll(limit: MessageFlags.largestFile + 1) ?? []
    } catch {
      throw .failed("\(path) cannot be read: \(error)\(hint)", exitCode: ExitCode.notFound)
    }
    guard text.count <= MessageFlags.largestFile else {
      throw .failed(
        "\(path) has more than \(MessageFlags.largestFile) bytes", exitCode: ExitCode.refused)
    }
    if let members = JSONValue(text)?.members { return members }
    throw .failed("\(path) is not a JSON object in UTF-8", exitCode: ExitCode.refused)
  }

  /// A button as `ID=LABEL` or `ID=LABEL=WHAT`.
  private static func action(_ text: String) throws(CommandLineError) -> JSONValue {
    let parts = text.split(separator: "=", maxSplits: 2, omittingEmptySubsequences: false)
      .map(String.init)
    guard parts.count >= 2, let id = parts.first, !id.isEmpty, !parts[1].isEmpty else {
      throw .usage("--action must be ID=LABEL, such as track=Track, or ID=LABEL=URL, not '\(text)'")
    }
    var members: [String: JSONValue] = ["id": .string(id), "label": .string(parts[1])]
    switch parts.dropFirst(2).first {
    case nil: break
    case "dismiss": members["dismiss"] = .bool(true)
    case "destructive": members["destructive"] = .bool(true)
    case "input": members["input"] = .string(parts[1])
    case let what? where what.hasPrefix("input:"):
      members["input"] = .string(String(what.dropFirst("input:".count)))
    case let what? where what.contains(":"): members["link"] = .string(what)
    case let what?:
      throw .usage(
        "after --action \(id)=\(parts[1])= comes a URL, input:PROMPT, dismiss or destructive, "
          + "not '\(what)'")
    }
    return .object(members)
  }

  private func sound() throws(CommandLineError) -> MessageSound? {
    guard let text = string("sound") else { return nil }
    switch text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false) {
    case ["none"]: return .silent
    case ["default"]: return .default
    case ["critical"]: return .critical(volume: 1)
    case let parts where parts.count == 2 && parts[0] == "critical":
      return try fraction(String(parts[1]), of: "the volume of --sound critical")
        .map(MessageSound.critical)
    default: return .named(text)
    }
  }

  private func fraction(_ text: String?, of name: String) throws(CommandLineError) -> Double? {
    guard let text else { return nil }
    if let number = Double(text), (0...1).contains(number) { return number }
    throw .usage("\(name) must be a number from 0 to 1, not '\(text)'")
  }
}

extension JSONValue {
  /// Whether it is there, and not `null`.
  var isValue: Bool { self != .null }
}
