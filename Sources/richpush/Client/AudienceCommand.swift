import RichPushAPI
import RichPushClient

/// `richpush audience`: how many a notification would reach.
enum AudienceCommand: Command {
  static let name = "audience"
  static let summary = "counts the users and devices that a notification would reach"
  static let help = """
      richpush audience --to alice --to bob
      richpush audience --tags 'news && !muted'
      richpush audience --segment german-readers

    The numbers are those of now. Names that no user has are printed as errors; sending to them is
    no error. 'richpush notify --dry-run' checks the notification as well.
    """
  static let options: [Option] =
    [
      .list("to", "USER", "a recipient"),
      .value("tags", "EXPRESSION", "instead of --to: users whose tags match, as 'news && !muted'"),
      .value("segment", "NAME", "instead of --to: those who are in a saved segment"),
      .flag("json", "print one JSON object, for programs"),
    ] + Account.options(user: "publisher")

  static func run(_ arguments: Arguments) async throws {
    let audience = try arguments.audience()
    let size = try await Account(arguments).client.size(of: audience)
    Report(isJSON: arguments.flag("json")).show(size, "\(size.words)")
    for name in size.unknown {
      Terminal.printError("the server knows no user \(name): is the name right?")
    }
  }
}

extension AudienceSize {
  /// The numbers: `2 users: 1 device of apns, 2 of fcm`.
  var words: String {
    let users = users == 1 ? "1 user" : "\(users) users"
    let devices = devices.sorted { $0.key < $1.key }.map { platform, number in
      "\(number) \(platform)"
    }
    return users
      + (devices.isEmpty ? ", no device yet" : ", devices: \(devices.joined(separator: ", "))")
      + (needsApproval == true ? "; another publisher would have to approve it" : "")
  }
}

extension Arguments {
  /// The recipients that `--to`, `--tags` or `--segment` name.
  func audience() throws(CommandLineError) -> NewNotification.Audience {
    let users = list("to")
    switch (users.isEmpty, string("tags"), string("segment")) {
    case (false, nil, nil): return .users(users)
    case (true, let expression?, nil): return .tags(expression)
    case (true, nil, let name?): return .segment(name)
    case (true, nil, nil):
      throw .usage("no recipients: --to USER, --tags EXPRESSION or --segment NAME is missing")
    default: throw .usage("--to, --tags and --segment exclude each other")
    }
  }

  /// Whether `--to`, `--tags` or `--segment` is there.
  var namesAudience: Bool {
    !list("to").isEmpty || string("tags") != nil || string("segment") != nil
  }
}
