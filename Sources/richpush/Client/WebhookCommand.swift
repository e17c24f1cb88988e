import FoundationEssentials
import Origin
import RichPushAPI
import RichPushClient

/// `richpush webhook`: manages the webhooks of publishers, and tries their templates.
enum WebhookCommand: Command {
  static let name = "webhook"
  static let summary = "adds, lists and removes webhooks, to which programs post events"
  static let help = """
      richpush webhook add alerts --template alertmanager --user shop --to news
      richpush webhook list --user shop
      richpush webhook test alerts FILE --user shop         what an event in FILE would become
      richpush webhook test --template FILE EVENT           the same of a template, without a server
      richpush webhook failed alerts --user shop            deliveries that have failed
      richpush webhook replay alerts 7 --user shop          does again what one of them was for
      richpush webhook remove alerts --user shop

    add prints the address, which is not shown again: a secret. What is posted there becomes a
    notification for those that --to names: tags such as news, users such as username:alice, or one
    expression. The template says how: alertmanager, grafana, github, or a file (docs/API.md). The
    server has to run with --compat webhooks. test sends nothing. --field names a field of the
    event's request, such as X-GitHub-Event:push. --of names the user whose webhooks an admin
    manages. --json prints one JSON object per line.
    """
  static let options: [Option] =
    [
      Option.value("template", "NAME|FILE", "add, test: alertmanager, grafana, github or a file"),
      .list("to", "TAG", "add: a recipient of its notifications"),
      .value("expires", "WHEN", "add: when it ends: 12h or 90d from now, or a time"),
      .value("rate", "NUMBER", "add: the most notifications a minute"),
      .list("field", "NAME:VALUE", "test: a field of the event's request"),
      .value("of", "NAME", "whose webhooks, for admins"),
      .flag("json", "print one JSON object per line, for programs"),
    ].map(\.withoutVariable) + [
      .value("signing-secret", "TEXT", "add: with what its sender signs (X-Hub-Signature-256)")
    ] + Account.options()
  static let operands = ["add|list|test|failed|replay|remove", "[NAME]", "[FILE|ID]"]

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    let last = arguments.operands.count > 2 ? arguments.operands[2] : nil
    switch (arguments.operands[0], arguments.subject, last) {
    case ("add", let name?, nil): try await add(name, arguments)
    case ("list", nil, nil):
      report.list(
        WebhookList.Webhook.heads, try await webhooks(Account(arguments).client, arguments))
    case ("test", let event?, nil):
      let template = try self.template(arguments.required("template"))
      let to = arguments.list("to")
      try test(template, event, at: "test", to: to.isEmpty ? ["a"] : to, arguments)
    case ("test", let name?, let event?):
      let webhook = try await webhook(name, Account(arguments).client, arguments)
      try test(webhook.template, event, at: webhook.name, to: webhook.to, arguments)
    case ("failed", let name?, nil):
      let client = try Account(arguments).client
      let webhook = try await webhook(name, client, arguments)
      report.list(
        ["ID", "FAILED", "REASON"], try await client.failedDeliveries(of: webhook.id).deliveries)
    case ("replay", let name?, let text?):
      guard let id = Int(text) else {
        throw CommandLineError.usage("ID must be a number from webhook failed, not '\(text)'")
      }
      let client = try Account(arguments).client
      let result = try await client.replay(id, of: webhook(name, client, arguments).id)
      let notification = result.notification.map { ": notification \($0)" } ?? ""
      report.show(result, "\(result.done.rawValue)\(notification)")
    case ("remove", let name?, nil):
      let client = try Account(arguments).client
      try await client.removeWebhook(webhook(name, client, arguments).id)
      report.note("removed \(name)")
    default:
      throw CommandLineError.usage(
        "usage: webhook list, add, failed or remove NAME, replay NAME ID, or test NAME FILE")
    }
  }

  private static func add(_ name: String, _ arguments: Arguments) async throws {
    arguments.warnOfSecret(in: "signing-secret")
    let to = arguments.list("to")
    if to.isEmpty { throw CommandLineError.usage("--to is missing") }
    var new = NewWebhook(
      name, template: try template(arguments.required("template")), to: .anyTag(to))
    (new.signingSecret, new.user) = (arguments.string("signing-secret"), arguments.string("of"))
    (new.rate, new.expires) = (try arguments.integer("rate"), try arguments.time("expires"))
    let issued = try await Account(arguments).client.addWebhook(new)
    guard !arguments.flag("json") else { return Terminal.print(TerminalText(json: issued)) }
    let server = try Account.endpoint(arguments).absoluteString
    Terminal.print("\(server.hasSuffix("/") ? String(server.dropLast()) : server)\(issued.path)")
    Terminal.printError("this is shown once; 'richpush webhook remove \(name)' ends it")
  }

  private static func test(
    _ template: JSONValue, _ event: String, at webhook: String, to audience: [String],
    _ arguments: Arguments
  ) throws {
    var fields: [String: String] = [:]
    for field in arguments.list("field") {
      let pair = field.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
      guard pair.count == 2 else {
        throw CommandLineError.usage(
          "--field must be a name and a value such as X-GitHub-Event:push, not '\(field)'")
      }
      fields[String(pair[0])] = String(pair[1].drop { $0 == " " })
    }
    let text = try WebhookPreview.text(
      template, for: content(of: event), fields: fields, at: webhook, to: audience, now: Date())
    Terminal.print("\(text)")
  }

  /// The template in a file, or the name of one that the server has.
  private static func template(_ text: String) throws -> JSONValue {
    guard text.contains(where: { "./".contains($0) }) else { return .string(text) }
    guard let template = JSONValue(try content(of: text)) else {
      throw CommandLineError.failed("\(text) is not JSON in UTF-8")
    }
    return template
  }

  private static func content(of path: String) throws -> Data {
    do { return try Data(contentsOf: URL(filePath: path)) } catch {
      throw CommandLineError.failed("cannot read \(path)", exitCode: ExitCode.notFound)
    }
  }

  private static func webhooks(
    _ client: RichPushClient, _ arguments: Arguments
  ) async throws -> [WebhookList.Webhook] {
    try await client.webhooks(of: arguments.string("of")).webhooks
  }

  /// The webhook with a name or a number.
  private static func webhook(
    _ name: String, _ client: RichPushClient, _ arguments: Arguments
  ) async throws -> WebhookList.Webhook {
    let found = try await webhooks(client, arguments).first {
      $0.name == name || String($0.id) == name
    }
    guard let found else {
      throw CommandLineError.failed("there is no webhook \(name)", exitCode: ExitCode.notFound)
    }
    return found
  }
}

extension WebhookList.Webhook: Reported {
  static let heads = [
    "ID", "NAME", "USER", "TEMPLATE", "SIGNED", "A MINUTE", "MADE", "UNTIL", "LAST USED", "FROM",
    "FAILED", "SENDS TO",
  ]

  var cells: [String] {
    [
      "\(id)", name, user, template.text ?? "own", isSigned ? "yes" : "-",
      rate.map { "\($0)" } ?? "-", Optional(created).cell,
      expires.map { $0 <= Date() ? "has expired" : Optional($0).cell } ?? "-", used.cell,
      address ?? "-", "\(failed)", to.joined(separator: ", "),
    ]
  }
}

extension FailedDeliveryList.Delivery: Reported {
  var cells: [String] { ["\(id)", Optional(failed).cell, reason] }
}
