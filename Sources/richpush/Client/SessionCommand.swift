import RichPushAPI
import RichPushClient

/// `richpush session`: where a user is signed in.
enum SessionCommand: Command {
  static let name = "session"
  static let summary = "lists the web pages on which you are signed in, and signs out"
  static let help = """
      richpush session list --user shop      the sessions of the console, newest first
      richpush session end 3 --user shop     signs out there

    A session ends by itself after 12 hours, and when the password is changed. --json prints one
    JSON object per line.
    """
  static let options: [Option] =
    [.flag("json", "print one JSON object per line, for programs")] + Account.options()
  static let operands = ["list|end", "[ID]"]

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    switch (arguments.operands[0], arguments.subject) {
    case ("list", nil):
      report.list(
        ["ID", "SINCE", "LAST USED", "BROWSER"],
        try await Account(arguments).client.signedIn().sessions)
    case ("end", let text?):
      guard let id = Int(text) else {
        throw CommandLineError.usage("ID must be a number from session list, not '\(text)'")
      }
      try await Account(arguments).client.endSession(id)
      report.note("signed out of \(id)")
    default: throw CommandLineError.usage("usage: session list or end ID")
    }
  }
}

extension SignedIn.Session: Reported {
  var cells: [String] { ["\(id)", Optional(created).cell, Optional(used).cell, userAgent] }
}
