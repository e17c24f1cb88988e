import FoundationEssentials
import RichPushAPI
import RichPushClient

/// `richpush status`: how a server is, on one page.
enum StatusCommand: Command {
  static let name = "status"
  static let summary = "shows how a server is, and what needs attention; the exit code is 1 then"
  static let help = """
    Shows, for admins, what needs attention and what to do; below that version, users, devices,
    queues of the push services, disks, certificates, access tokens that end soon, and the last
    errors of the log since the server's start. Of several nodes, the one that answers.

    Examples:
      richpush status --server https://push.example
      RICHPUSH_PASSWORD=… richpush status --json | jq -r '.attention[].text'

    The exit code is 0 if nothing needs attention, and 1 if something does. The console shows the
    same to admins. 'richpush health' asks only whether the server responds, and needs no password.
    An admin without a password, and a program, pass an access token as RICHPUSH_PASSWORD:
    'richpush token add watch --user NAME --status' makes it on the server's machine.
    """

  static let options: [Option] =
    [.flag("json", "print one JSON object, for programs")] + Account.options(user: "admin")

  static func run(_ arguments: Arguments) async throws {
    let report = try await Account(arguments).client.status()
    if arguments.flag("json") {
      Terminal.print(TerminalText(json: report))
    } else {
      for rows in [[server(report)], attention(report), facts(report), errors(report)]
      where !rows.isEmpty {
        Terminal.print(Table.text(rows))
      }
    }
    let count = report.attention.count
    guard count > 0 else { return }
    throw CommandLineError.failed(
      "\(count) \(count == 1 ? "thing needs" : "things need") attention",
      exitCode: ExitCode.failure)
  }

  private static func server(_ report: StatusReport) -> [String] {
    let server = report.server
    let lead = server.hasLead ? "" : ", without the lead"
    return [
      "richpush \(server.version) at \(server.node) since \(Optional(server.started).cell)\(lead)"
    ]
  }

  private static func attention(_ report: StatusReport) -> [[String]] {
    report.attention.isEmpty
      ? [["Nothing needs attention."]] : report.attention.map { [$0.level.rawValue, $0.text] }
  }

  private static func facts(_ report: StatusReport) -> [[String]] {
    var rows = report.records.map(facts) ?? []
    rows += report.disks.map {
      [
        "disk",
        "\(size($0.free)) of \(size($0.total)) left at \($0.path) "
          + "(\($0.folders.joined(separator: ", ")))",
      ]
    }
    rows += report.caches.map { [$0.name, "\(size($0.size)), at most \(size($0.limit))"] }
    rows += report.certificates.map {
      ["certificate", "\($0.file) until \(Optional($0.expires).cell)"]
    }
    return rows
  }

  private static func facts(_ records: StatusReport.Records) -> [[String]] {
    let users = records.users
    let all = users.device + users.publisher + users.admin
    var rows = [
      [
        "users",
        "\(all): \(users.device) device, \(users.publisher) publisher, \(users.admin) admin",
      ]
    ]
    rows += records.devices.map {
      ["devices", "\($0.count) \($0.platform), by \($0.service ?? "no push service")"]
    }
    rows += records.lanes.map {
      let waiting = $0.oldestWaiting.map { ", the oldest since \(Optional($0).cell)" } ?? ""
      return ["pushes", "\($0.queued) wait for \($0.name), which is \($0.state)\(waiting)"]
    }
    rows.append([
      "notifications",
      "\(records.scheduled) scheduled, \(records.awaitingApproval) awaiting approval",
    ])
    rows += records.accessTokens.map {
      [
        $0.isWebhook ? "webhook" : "token",
        "\($0.name) of \($0.user) until \(Optional($0.expires).cell)",
      ]
    }
    return rows + [["database", size(records.databaseSize)]]
  }

  private static func errors(_ report: StatusReport) -> [[String]] {
    report.errors.map {
      let count = $0.count > 1 ? " (\($0.count) times)" : ""
      return [Optional($0.time).cell, $0.level, "\($0.area): \($0.text)\(count)"]
    }
  }

  private static func size(_ bytes: Int) -> String {
    bytes < 1_000_000_000
      ? Table.size(of: bytes) : "\(Table.decimal(Double(bytes) / 1e9)) GB"
  }
}
