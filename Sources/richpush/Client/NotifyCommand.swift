import RichPushClient

/// `richpush notify`: creates a notification.
enum NotifyCommand: Command {
  static let name = "notify"
  static let summary = "sends a notification with a picture, a sound, a film or a link"
  static let help = """
    Creates a notification and prints its ID. When it returns, the notification is stored durably
    and its pushes are queued.

    Example, for a file in the server's assets/img:
      richpush notify --to alice --type img --payload beach.jpg "Look at this"

    With --dry-run nothing is stored or sent. It prints how many would get it, the rendition of each
    profile and the push of each platform, with their limits; the exit code is 65 if the content is
    refused.
    """

  static let options: [Option] =
    [
      .list("to", "USER", "a recipient"),
      .value("tags", "EXPRESSION", "instead of --to: users whose tags match, as 'news && !muted'"),
      .value("type", "NAME", "the rich type: img, sound, video, url, or another", default: "img"),
      .value("payload", "WHAT", "an asset's name, or literal content such as a link"),
      .value(
        "not-before", "WHEN", "checked now, pushed then: 90s, 30m, 12h or 7d from now, or a time"),
      .value("expires", "WHEN", "when the media is removed, in the same format"),
      .value("form", "FORM", "what the push looks like: silent, alert, hybrid or legacy"),
      .value("key", "WORD", "an idempotency key: a second use creates nothing"),
      .flag("dry-run", "check and render it, but send nothing"),
      .flag("json", "print the server's response, one JSON object, for programs"),
    ] + Account.options(user: "publisher")
  static let operands = ["MESSAGE"]

  static func run(_ arguments: Arguments) async throws {
    var notification = NewNotification(
      NotificationMessage(arguments.operands[0]), richType: try arguments.required("type"),
      payload: try arguments.required("payload"), to: try arguments.audience(),
      expires: try arguments.time("expires"), idempotencyKey: arguments.string("key"))
    notification.notBefore = try arguments.futureTime("not-before")
    notification.form = try arguments.choice("form")
    let client = try Account(arguments).client
    let report = Report(isJSON: arguments.flag("json"))
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
    return " (\(users), \(devices)\(unreached))"
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
      [one.platform, one.cut ? "cut" : "whole", "\(one.bytes) of \(one.limit) bytes", one.body]
    }
    let table = Table.text(renditions + texts)
    report.show(result, "would reach \(result.audience.words)\n\(table)")
    for name in result.audience.unknown {
      Terminal.printError("the server knows no user \(name) so far: is the name right?")
    }
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

    Example:
      richpush amend 7 --message "Look at that" --not-before 2h
    """
  static let options: [Option] =
    [
      .value("message", "TEXT", "the text beside the media"),
      .value("type", "NAME", "the rich type"),
      .value("payload", "WHAT", "an asset's name, or literal content such as a link"),
      .value(
        "not-before", "WHEN", "new push time, if not pushed yet: 90s, 30m, 12h, 7d, or a time"),
      .value("expires", "WHEN", "when the media is removed"),
    ] + Account.options(user: "publisher")
  static let operands = ["ID"]

  static func run(_ arguments: Arguments) async throws {
    let amendment = Amendment(
      message: arguments.string("message"), richType: arguments.string("type"),
      payload: arguments.string("payload"), notBefore: try arguments.futureTime("not-before"),
      expires: try arguments.time("expires"))
    guard amendment != Amendment() else {
      throw CommandLineError.usage("nothing to change: give --message, --payload or another flag")
    }
    let id = try arguments.notificationID(arguments.operands[0])
    let amended = try await Account(arguments).client.amend(id, amendment)
    Terminal.print(
      "#\(amended.id) is now \"\(amended.message.summary)\": \(amended.richType ?? "text") \(amended.payload ?? "")"
    )
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

extension Arguments {
  /// An operand as a notification's ID, with or without `#`.
  func notificationID(_ text: String) throws(CommandLineError) -> Int {
    if let id = Int32(text.first == "#" ? String(text.dropFirst()) : text), id >= 0 {
      return Int(id)
    }
    throw .usage("ID is a number as notify prints it, not '\(text)'")
  }
}
