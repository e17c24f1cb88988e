import RichPushAPI
import RichPushClient

/// `richpush audit`: who did what on a server.
enum AuditCommand: Command {
  static let name = "audit"
  static let summary = "lists who signed in, sent and changed what, for admins"
  static let help = """
      richpush audit                                  the last 50 entries, the newest first
      richpush audit --since 1d --action user.        changes of users within a day
      richpush audit --of alice                       what alice did, and what was done to her or something of hers
      richpush audit --of 17                          the same of a user who was removed
      richpush audit --json --limit 1000000 > audit.jsonl

    Users, devices, tokens, keys, webhooks, assets, segments, push services, what was sent, settings,
    and failed sign-ins; docs/OPERATIONS.md lists the actions. It has no content, and users by their
    numbers: names are looked up when it is listed.

    TO is what it was done to, and whose that is. DETAIL is a word about how, such as the new role.
    COUNT is how many people or things it concerns; of a failed sign-in, how often within a minute. BY
    is who did it: a user, the server, a Unix user by a command, or the drop folder. WITH is what was
    shown: a password, a session, an access token with its number, the provider of single sign-on.
    FROM is the client's address.

    An action is such as notification.sent; what --action begins with is enough. RICHPUSH_PASSWORD can
    also be an access token of an admin that 'richpush token add NAME --user NAME --audit' has made.
    """
  static let options: [Option] =
    [
      .value("of", "NAME", "only of this user: a name or number"),
      .value("action", "CODE", "only actions that begin with this, such as user."),
      .value("since", "TIME", "how long ago at most: 90s, 30m, 12h or 7d, or 2026-12-31T23:00:00Z"),
      .value("until", "TIME", "how long ago at least, in the same format"),
      .value("limit", "NUMBER", "how many to list", default: "50"),
      .flag("json", "print one JSON object per line, for programs"),
    ] + Account.options(user: "admin")

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    let (since, until) = (try arguments.pastTime("since"), try arguments.pastTime("until"))
    var rest = try arguments.integer("limit") ?? 50
    let client = try Account(arguments).client
    var (next, isFirst) = (Int?.none, true)
    // A page at a time: there may be a million.
    repeat {
      let page = try await client.audit(
        user: arguments.string("of"), action: arguments.string("action"), since: since,
        until: until, before: next, limit: min(rest, 500))
      if report.isJSON || isFirst || !page.entries.isEmpty {
        report.list(
          ["NUMBER", "TIME", "ACTION", "TO", "DETAIL", "COUNT", "BY", "WITH", "FROM"], page.entries)
      }
      (rest, next, isFirst) = (rest - page.entries.count, page.next, false)
    } while next != nil && rest > 0
  }
}

extension AuditPage.Entry: Reported {
  var cells: [String] {
    [
      "\(number)", Optional(time).cell, action, object?.words ?? "-", detail ?? "-", "\(count)",
      actor.words, actor.credentialWords ?? "-", actor.address ?? "-",
    ]
  }
}
