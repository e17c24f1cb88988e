import FoundationEssentials
import Origin

/// `richpush ntfy`: adds a phone that has ntfy's app.
enum NtfyCommand: Command {
  static let name = "ntfy"
  static let summary = "adds a phone with ntfy's app to a user"
  static let help = """
      richpush ntfy subscribe --user alice --server https://ntfy.example.org
      richpush ntfy subscribe --user alice --server https://ntfy.example.org --topic news
      richpush ntfy subscribe --user alice --server https://ntfy.example.org --ios

    The server must be started with --compat ntfy; --server is the address of --ntfy-listen as the
    phone reaches it. The phone becomes a device of the user, with the topics as tags. What is
    printed is a name and a password for the app (Settings, Manage users), which ends with the
    device ('richpush user devices'), and for each topic a link that the app opens, also as a
    QR code. The topic inbox has all that the user gets. A running server need not be restarted.
    An iPhone (--ios) subscribes to one topic of its own with all that the user gets; it is woken
    if the server was started with --ntfy-upstream, which docs/COMING-FROM.md explains.
    Root acts as the owner of the folder --data.
    """
  static let options: [Option] =
    [.data, .database]
    + [
      Option.value("user", "NAME", "whose phone it is"),
      .value("server", "URL", "the address of ntfy's API"),
      .list("topic", "TAG", "a topic, which becomes a tag of the phone; inbox without it"),
      .flag("ios", "the phone has ntfy's app for iOS"),
      .flag("json", "print one JSON object"),
    ].map(\.withoutVariable)
  static let operands = ["subscribe"]

  /// What the app has to be told.
  private struct Reader: Encodable {
    let user: String
    let password: String
    let registration: String
    let links: [String]
  }

  static func run(_ arguments: Arguments) async throws {
    guard arguments.operands == ["subscribe"] else {
      throw CommandLineError.usage("usage: ntfy subscribe --user NAME --server URL [--topic TAG]")
    }
    let user = try arguments.required("user")
    let server = try address(arguments)
    let tags = arguments.list("topic")
    let inbox = arguments.flag("ios") ? NtfyInbox(at: server.address) : nil
    let topics = inbox.map { [$0.topic] } ?? (tags.isEmpty ? ["inbox"] : tags)
    let links = topics.map { topic in
      "ntfy://\(server.place)/\(topic)" + (server.isSecure ? "" : "?secure=false")
    }
    let folder = try arguments.dataFolder()
    let running = await ControlSocket.server(in: folder)
    let users = try DataFolderAdmin(data: folder, database: arguments.database())
    let (registration, token) = try await users.addReader(
      named: "ntfy", of: user, tags: tags.filter { $0 != "inbox" },
      inbox: inbox, addingGuest: running?.isDemo ?? false)
    let reader = Reader(user: user, password: token, registration: registration, links: links)
    guard !arguments.flag("json") else { return Terminal.print(TerminalText(json: reader)) }
    if let inbox {
      Terminal.print("Server: \(server.address)")
      Terminal.print("Topic: \(inbox.topic)")
    }
    // The app for iOS opens no links.
    for link in links where inbox == nil {
      if let code = QRCode(link), let width = Terminal.width,
        width >= code.width + 2 * QRCode.quietZone
      {
        Terminal.print(TerminalText(code))
      }
      Terminal.print("\(link)")
    }
    Terminal.print("User name: \(user)")
    Terminal.print("Password: \(token)")
    Terminal.printError(
      "the password is shown once; 'richpush user devices \(user) --end \(registration)' ends it")
  }

  /// The host of the URL, with its port if it names one.
  private static func address(
    _ arguments: Arguments
  ) throws(CommandLineError) -> (address: String, place: String, isSecure: Bool) {
    let text = try arguments.required("server")
    // The app allows no path.
    guard
      let match = text.wholeMatch(
        of: /(https?):\/\/([A-Za-z0-9.-]+|\[[0-9A-Fa-f:]+\])(:[0-9]{1,5})?\/?/)
    else {
      throw .usage("--server must be a URL without a path, such as https://ntfy.example.org")
    }
    let place = String(match.2) + (match.3.map(String.init) ?? "")
    return ("\(match.1)://\(place)", place, match.1 == "https")
  }
}
