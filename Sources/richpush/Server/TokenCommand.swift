import FoundationEssentials
import Origin
import RichPushAPI

/// `richpush token`: manages the access tokens of publishers.
enum TokenCommand: Command {
  static let name = "token"
  static let summary =
    "adds, lists and removes access tokens, with which programs send for a publisher"
  static let help = """
      richpush token add ci --user shop --to news --expires 90d
      richpush token add watch --user admin --status --audit
      richpush token list --user shop
      richpush token remove ci --user shop     the token stops working at once

    add prints the token, which is not shown again. A program sends it as 'Authorization: Bearer
    rpt_…', or as the password of the user. It can send notifications, change and withdraw them, and
    list what the user has sent; with --receipts also read who has fetched them and what was
    answered, with --assets also upload assets. With --to, it can send only to those, and a
    notification that names no recipient is for all of them: tags such as news, users such as
    username:alice, or one expression. With --status and --audit, an admin's token reads what
    'richpush status' and 'richpush audit' show, which take it as RICHPUSH_PASSWORD, and does
    nothing else. A new password of the user leaves the tokens as they are. When the command ends, a
    running server has applied the change. Root acts as the owner of the folder --data.
    """
  static let options: [Option] =
    [.data, .database]
    + [
      Option.value("user", "NAME", "the publisher whose token it is; list: of all without it"),
      .list("to", "TAG", "add: a recipient that is allowed; everybody without it"),
      .flag("receipts", "add: it can read receipts, deliveries and answers"),
      .flag("assets", "add: it can list, upload, change and remove assets"),
      .flag("status", "add: it can read how the server is, and send nothing"),
      .flag("audit", "add: it can read the audit log, and send nothing"),
      .value("expires", "WHEN", "add: when it ends: 12h or 90d from now, or a time"),
      .value("rate", "NUMBER", "add: the most notifications a minute"),
      .flag("json", "add, list: print one JSON object per line"),
    ].map(\.withoutVariable)
  static let operands = ["add|list|remove", "[NAME|ID]"]

  static func run(_ arguments: Arguments) async throws {
    // Opened after the arguments are checked.
    let tokens = {
      try DataFolderAdmin(data: arguments.dataFolder(), database: arguments.database())
    }
    let report = Report(isJSON: arguments.flag("json"))
    switch (arguments.operands[0], arguments.subject) {
    case ("add", let name?):
      let new = try token(named: name, arguments)
      let tokens = try tokens()
      let running = await ControlSocket.server(in: try arguments.required("data"))
      let issued = try await tokens.addAccessToken(new, addingGuest: running?.isDemo ?? false)
      guard !arguments.flag("json") else { return Terminal.print(TerminalText(json: issued)) }
      Terminal.print("\(issued.token)")
      Terminal.printError(
        "this is shown once; 'richpush token remove \(name) --user \(issued.accessToken.user)' ends it"
      )
    case ("list", nil):
      report.list(
        AccessTokenList.Token.heads,
        try await tokens().accessTokens(of: arguments.string("user")))
    case ("remove", let token?):
      let user = try arguments.required("user")
      try await tokens().removeAccessToken(token, of: user)
      Terminal.print("removed \(token) of \(user)")
      try await arguments.notifyServer()
    default:
      throw CommandLineError.usage(
        "usage: token list, token add NAME --user NAME, or token remove NAME --user NAME")
    }
  }

  private static func token(
    named name: String, _ arguments: Arguments
  ) throws(CommandLineError) -> NewAccessToken {
    let to = arguments.list("to")
    var new = NewAccessToken(
      name, to: to.isEmpty ? nil : .anyTag(to), expires: try arguments.time("expires"))
    new.user = try arguments.required("user")
    (new.receipts, new.assets) = (arguments.flag("receipts"), arguments.flag("assets"))
    (new.status, new.audit) = (arguments.flag("status"), arguments.flag("audit"))
    new.rate = try arguments.integer("rate")
    return new
  }
}

extension AccessTokenList.Token: Reported {
  static let heads = [
    "ID", "NAME", "USER", "ALSO", "A MINUTE", "MADE", "UNTIL", "LAST USED", "FROM", "SENDS TO",
  ]

  var cells: [String] {
    let also = [
      receipts ? "receipts" : nil, assets ? "assets" : nil, status ? "status" : nil,
      audit ? "audit" : nil,
    ].compactMap(\.self)
    let recipients = status || audit ? "nobody" : to?.joined(separator: ", ") ?? "everybody"
    return [
      "\(id)", name, user, also.isEmpty ? "-" : also.joined(separator: ", "),
      rate.map { "\($0)" } ?? "-", Optional(created).cell,
      expires.map { $0 <= Date() ? "has expired" : Optional($0).cell } ?? "-", used.cell,
      address ?? "-", recipients,
    ]
  }
}
