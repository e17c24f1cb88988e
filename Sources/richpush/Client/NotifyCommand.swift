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
      .value("expires", "WHEN", "when the media goes away: 90s, 30m, 12h or 7d from now"),
      .value("key", "WORD", "an idempotency key: sent again, it creates nothing"),
    ] + Account.options(user: "publisher")
  static let operands = ["MESSAGE"]

  static func run(_ arguments: Arguments) async throws {
    let notification = NewNotification(
      arguments.operands[0], richType: try arguments.required("type"),
      payload: try arguments.required("payload"), to: try audience(arguments),
      expires: try expires(arguments), idempotencyKey: arguments.string("key"))
    let created = try await Account(arguments).client.create(notification)
    Terminal.say("#\(created.id) to \(created.to.joined(separator: ", ")): \(created.media)")
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

  private static func expires(_ arguments: Arguments) throws(CommandLineError) -> Date? {
    guard let text = arguments.string("expires") else { return nil }
    let units: [Character: Double] = ["s": 1, "m": 60, "h": 3600, "d": 86_400]
    guard let unit = text.last.flatMap({ units[$0] }), let number = Int(text.dropLast()),
      (1...100_000).contains(number)
    else {
      throw .usage("--expires is a time from now such as 90s, 30m, 12h or 7d, not '\(text)'")
    }
    return Date(timeIntervalSinceNow: Double(number) * unit)
  }
}
