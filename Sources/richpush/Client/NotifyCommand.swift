import RichPushAPI
import RichPushClient

/// `richpush notify`: creates a notification.
enum NotifyCommand: Command {
  static let name = "notify"
  static let summary = "sends a notification: a text, a picture, a sound, a film or a link"
  static let help = """
    Creates a notification and prints its ID. When it returns, the notification is stored durably
    and its pushes are queued. It needs a MESSAGE, a --title or a --payload, which is a picture
    unless --type says what it is.

    Examples, the second with a file in the server's assets/img:
      richpush notify --to alice --title Parcel "Your parcel is at the door."
      richpush notify --to alice --payload beach.jpg --link https://shop.example "Look at this"
      richpush notify --to alice --json message.json

    Buttons, the first ones first; most devices show two or three of at most four:
    \(MessageFlags.actionHelp)

    With --dry-run nothing is stored or sent. It prints how many would get it, the rendition of each
    profile and the push of each platform, with their limits; the exit code is 65 if the content is
    refused.
    """

  static let options: [Option] =
    [
      .list("to", "USER", "a recipient"),
      .value("tags", "EXPRESSION", "instead of --to: users whose tags match, as 'news && !muted'"),
      .value("segment", "NAME", "instead of --to: those who are in a saved segment then"),
    ] + MessageFlags.options + [
      MessageFlags.replaces,
      .value("key", "WORD", "an idempotency key: a second use creates nothing"),
      MessageFlags.file,
      .flag("dry-run", "check and render it, but send nothing"),
      MessageFlags.output,
    ] + Account.options(user: "publisher")
  static let operands = ["[MESSAGE]"]

  static func run(_ arguments: Arguments) async throws {
    let report = try arguments.report()
    let notification = try notification(arguments)
    let client = try Account(arguments).client
    if arguments.flag("dry-run") {
      return try await dryRun(notification, client, report)
    }
    let created = try await client.create(notification)
    let to = created.to.joined(separator: ", ") + reach(of: created)
    report.show(created, "#\(created.id) to \(to): \(created.media)")
    for name in created.reach?.unknown ?? [] {
      Terminal.printError("the server knows no user \(name) so far: is the name right?")
    }
  }

  /// The notification that file, flags and operand describe.
  private static func notification(_ arguments: Arguments) throws -> NewNotification {
    var members = try arguments.messageMembers()
    if let text = arguments.operands.first { members["message"] = .string(text) }
    if let key = arguments.string("key") { members["idempotencyKey"] = .string(key) }
    if let subject = arguments.string("replaces") { members["replaces"] = .string(subject) }
    if arguments.namesAudience || members["to"]?.isValue != true {
      members["to"] = JSONValue(JSONCoding.encode(try arguments.audience()))
    }
    if members["payload"]?.isValue == true, members["richType"]?.isValue != true {
      members["richType"] = .string("img")
    }
    guard
      ["message", "title", "payload", "richType"].contains(where: { members[$0]?.isValue == true })
    else { throw CommandLineError.usage("nothing to send: give a MESSAGE, --title or --payload") }
    return try JSONCoding.fromCommandLine(members)
  }

  /// The numbers of recipients: ` (2 users, no device yet)`.
  private static func reach(of created: RichNotification) -> String {
    guard let reach = created.reach else { return "" }
    let users = reach.users == 1 ? "1 user" : "\(reach.users) users"
    let devices =
      switch reach.devices {
      case 0: "no device yet"
      case 1: "1 device"
      default: "\(reach.devices) devices"
      }
    let unreached =
      reach.devicesWithoutLane == 0
      ? "" : ", \(reach.devicesWithoutLane) of them without a push service"
    let waiting = created.approval == nil ? "" : "; it awaits the approval of another publisher"
    return " (\(users), \(devices)\(unreached))\(waiting)"
  }

  private static func dryRun(
    _ notification: NewNotification, _ client: RichPushClient, _ report: Report
  ) async throws {
    let result = try await client.dryRun(notification)
    let renditions = result.renditions.map { one in
      let size = one.bytes.map(Table.size) ?? "-"
      return [
        one.profile, one.status.rawValue, "\(size) of \(Table.size(of: one.limit))",
        one.reason ?? one.contentType ?? "",
      ]
    }
    let texts = result.texts.map { one in
      [one.platform, one.cut ? "cut" : "whole", "\(one.bytes) of \(one.limit) bytes", one.words]
    }
    let table = Table.text(renditions + texts)
    report.show(result, "would reach \(result.audience.words)\n\(table)")
    for name in result.audience.unknown {
      Terminal.printError("the server knows no user \(name) so far: is the name right?")
    }
    if let skipped = result.skipped {
      let names = skipped.users.prefix(10).map { "\($0.username) ({{\($0.placeholder)}})" }
      let more = skipped.count > names.count ? " and \(skipped.count - names.count) others" : ""
      Terminal.printError(
        "\(skipped.count) without a value would be left out: \(names.joined(separator: ", "))\(more)"
      )
    }
    for warning in result.warnings { Terminal.printError("\(warning)") }
    let refused = result.renditions.count { $0.status == .refused }
    if refused > 0 {
      throw CommandLineError.failed(
        "\(refused) of \(result.renditions.count) renditions are refused",
        exitCode: ExitCode.refused)
    }
  }
}

/// `richpush amend`: changes a notification.
enum AmendCommand: Command {
  static let name = "amend"
  static let summary = "changes a notification that no device has fetched yet"
  static let help = """
    Changes only what the flags name. The new content is checked as notify checks it;
    pushes not sent yet are cancelled, and those already sent are replaced on the device.
    A notification that a device has fetched cannot be changed.

    Examples:
      richpush amend 7 --message "Look at that" --not-before 2h
      richpush amend 7 --title Parcel --remove link --remove action

    --remove takes the name of a flag: payload removes the media. --action replaces all buttons; its
    forms are those of notify. The file of --json is a JSON merge patch, in which null removes.
    """
  static let options: [Option] =
    [.value("message", "TEXT", "the text")] + MessageFlags.options + [
      .list("remove", "FLAG", "what the notification shall not have any more").withoutVariable,
      MessageFlags.file, MessageFlags.output,
    ] + Account.options(user: "publisher")
  static let operands = ["ID"]

  static func run(_ arguments: Arguments) async throws {
    let report = try arguments.report()
    let id = try arguments.notificationID(arguments.operands[0])
    var members = try arguments.messageMembers()
    if let text = arguments.string("message") { members["message"] = .string(text) }
    for name in try arguments.list("remove").map(removed) {
      guard members[name]?.isValue != true else {
        throw CommandLineError.usage("--remove \(name) and a value for it exclude each other")
      }
      members[name] = .null
    }
    if members["payload"] == .null, members["richType"] == nil { members["richType"] = .null }
    guard !members.isEmpty else {
      throw CommandLineError.usage("nothing to change: give --message, --payload or another flag")
    }
    let amendment: Amendment = try JSONCoding.fromCommandLine(members)
    let amended = try await Account(arguments).client.amend(id, amendment)
    let media = [amended.richType, amended.payload].compactMap(\.self).joined(separator: " ")
    report.show(
      amended,
      "#\(amended.id) is now \"\(amended.message.summary)\"\(media.isEmpty ? "" : ": " + media)")
  }

  /// The member that a value of `--remove` names.
  private static func removed(_ name: String) throws(CommandLineError) -> String {
    let flags = ["message"] + MessageFlags.options.map(\.name)
    if let flag = flags.first(where: { [$0, MessageFlags.member(of: $0)].contains(name) }) {
      return MessageFlags.member(of: flag)
    }
    throw .usage(
      "--remove takes the name of a flag such as link, not '\(name)'"
        + Suggestion.hint(to: name, among: flags))
  }
}

/// `richpush withdraw`: removes a notification.
enum WithdrawCommand: Command {
  static let name = "withdraw"
  static let summary = "withdraws a notification"
  static let help = """
    The notification can no longer be fetched, and pushes not sent yet are cancelled. A phone that
    already shows it keeps showing it.

    Example:
      richpush withdraw 7
    """
  static let options = Account.options(user: "publisher")
  static let operands = ["ID"]

  static func run(_ arguments: Arguments) async throws {
    let id = try arguments.notificationID(arguments.operands[0])
    try await Account(arguments).client.withdraw(id)
    Terminal.print("#\(id) is withdrawn")
  }
}

extension DryRun.Text {
  /// What the push says: title and text, what is beside them, and what the platform does not show.
  fileprivate var words: String {
    let message = PushEvent.Push(payload).message
    let (texts, data) = (payload.notification, payload.data)
    let title = message.title ?? texts.title.text ?? data.richTitle.text
    let actions = message.actions ?? (try? JSONCoding.decode(from: (data.actions.text ?? "").utf8))
    let others: [(String, String?)] = [
      ("subtitle", message.subtitle ?? data.richSubtitle.text),
      ("link", message.link ?? data.link.text),
      ("buttons", actions?.map(\.label).joined(separator: ", ")),
      ("for code only:", carried.isEmpty ? nil : carried.joined(separator: ", ")),
      ("dropped:", dropped.isEmpty ? nil : dropped.joined(separator: ", ")),
    ]
    let said = [title, body].compactMap(\.self).filter { !$0.isEmpty }.joined(separator: ": ")
    return ([said] + others.compactMap { name, text in text.map { "\(name) \($0)" } })
      .joined(separator: "; ")
  }
}

extension JSONCoding {
  /// A message of members that flags and files set.
  fileprivate static func fromCommandLine<Message: RequestMessage>(
    _ members: [String: JSONValue]
  ) throws(CommandLineError) -> Message {
    do throws(ServiceError) { return try request(from: encode(members)) } catch {
      throw .failed(error.reason, exitCode: ExitCode.refused)
    }
  }
}

extension Arguments {
  /// An operand as a notification's ID, with or without `#`.
  func notificationID(_ text: String) throws(CommandLineError) -> Int {
    if let id = Int32(text.first == "#" ? String(text.dropFirst()) : text), id >= 0 {
      return Int(id)
    }
    throw .usage("ID must be a number as notify prints it, not '\(text)'")
  }
}
