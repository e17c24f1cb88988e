import Foundation
import RichPushClient

/// `richpush notify`: a publisher's one-liner.
enum NotifyCommand: Command {
  static let name = "notify"
  static let summary = "sends a notification with a picture, a sound or a link"
  static let help = """
    Creates a notification and prints its id. When it returns, the notification is stored for
    good and its pushes are on their way.

    Example, for a file in the server's assets/img:
      richpush notify --to alice --type img --payload beach.jpg "Look at this"
    """

  static let options: [Option] =
    [
      .list("to", "USER", "a user who gets it"),
      .value("tags", "EXPRESSION", "instead of --to: all whose tags match, as 'news && !muted'"),
      .value("type", "NAME", "the rich type: img, sound, url, or a plugin's", default: "img"),
      .value("payload", "WHAT", "an asset's name, or literal content such as a link"),
      .value(
        "not-before", "WHEN", "checked now, pushed then: 90s, 30m, 12h or 7d from now, or a time"),
      .value("expires", "WHEN", "when the media goes away, written the same way"),
      .value("form", "FORM", "what the push looks like: silent, alert, hybrid or legacy"),
      .value("key", "WORD", "an idempotency key: sent again, it creates nothing"),
    ] + Account.options(user: "publisher")
  static let operands = ["MESSAGE"]

  static func run(_ arguments: Arguments) async throws {
    var notification = NewNotification(
      arguments.operands[0], richType: try arguments.required("type"),
      payload: try arguments.required("payload"), to: try audience(arguments),
      expires: try arguments.moment("expires"), idempotencyKey: arguments.string("key"))
    notification.notBefore = try arguments.moment("not-before")
    notification.form = try form(arguments)
    let created = try await Account(arguments).client.create(notification)
    let to = created.to.joined(separator: ", ") + reach(of: created)
    Terminal.say("#\(created.id) to \(to): \(created.media)")
    for name in created.reach?.unknown ?? [] {
      Terminal.complain("the server knows no user \(name) so far: is the name right?")
    }
  }

  /// How many get it, in words: ` (2 users, no device yet)`.
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

  private static func form(_ arguments: Arguments) throws(CommandLineError) -> PushForm? {
    guard let text = arguments.string("form") else { return nil }
    if let form = PushForm(rawValue: text) { return form }
    let names = PushForm.allCases.map(\.rawValue).joined(separator: ", ")
    throw .usage("--form is one of \(names), not '\(text)'")
  }

  private static func audience(
    _ arguments: Arguments
  ) throws(CommandLineError) -> NewNotification.Audience {
    let users = arguments.list("to")
    switch (users.isEmpty, arguments.string("tags")) {
    case (false, nil): return .users(users)
    case (true, let expression?): return .tags(expression)
    case (true, nil): throw .usage("nobody would get it: --to USER or --tags EXPRESSION is missing")
    case (false, _): throw .usage("--to and --tags exclude each other")
    }
  }
}
