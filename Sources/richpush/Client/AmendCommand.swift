import RichPushClient

/// `richpush amend`: a publisher's second thought.
enum AmendCommand: Command {
  static let name = "amend"
  static let summary = "changes a notification that no device has fetched yet"
  static let help = """
    Changes what is named and leaves the rest. The new content is checked as notify checks it;
    pushes not sent yet are cancelled, and those already sent are replaced on the device.
    Once a device has fetched the notification, it stays as it is.

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
      .value("expires", "WHEN", "when the media goes away"),
    ] + Account.options(user: "publisher")
  static let operands = ["ID"]

  static func run(_ arguments: Arguments) async throws {
    let amendment = Amendment(
      message: arguments.string("message"), richType: arguments.string("type"),
      payload: arguments.string("payload"), notBefore: try arguments.moment("not-before"),
      expires: try arguments.moment("expires"))
    guard amendment != Amendment() else {
      throw CommandLineError.usage(
        "nothing would change: --message, --payload or another is missing")
    }
    let id = try arguments.id()
    let amended = try await Account(arguments).client.amend(id, amendment)
    Terminal.say(
      "#\(amended.id) is now \"\(amended.message)\": \(amended.richType) \(amended.payload)")
  }
}

/// `richpush withdraw`: a publisher's regret.
enum WithdrawCommand: Command {
  static let name = "withdraw"
  static let summary = "withdraws a notification"
  static let help = """
    Nobody can fetch the notification any more, and it is not pushed to devices that wait for it.
    A phone that shows it already goes on showing it.

    Example:
      richpush withdraw 7
    """
  static let options = Account.options(user: "publisher")
  static let operands = ["ID"]

  static func run(_ arguments: Arguments) async throws {
    let id = try arguments.id()
    try await Account(arguments).client.withdraw(id)
    Terminal.say("#\(id) is withdrawn")
  }
}

extension Arguments {
  /// The first operand as a notification's id, with or without its `#`.
  fileprivate func id() throws(CommandLineError) -> Int {
    let text = operands[0]
    if let id = Int32(text.first == "#" ? String(text.dropFirst()) : text), id >= 0 {
      return Int(id)
    }
    throw .usage("ID is a number as notify prints it, not '\(text)'")
  }
}
