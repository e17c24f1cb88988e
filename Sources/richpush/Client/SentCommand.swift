import FoundationEssentials
import RichPushAPI
import RichPushClient

/// `richpush sent`: what was sent, and what became of it.
enum SentCommand: Command {
  static let name = "sent"
  static let summary = "lists what you have sent, who has fetched it, and which pushes failed"
  static let help = """
      richpush sent list                            what you have sent, newest first, with counts
      richpush sent list --all --user admin         what everybody has sent
      richpush sent receipts 7                      how far number 7 has come with each recipient
      richpush sent receipts 7 --state queued       those whom nothing has reached
      richpush sent receipts 7 --recipient alice    only alice
      richpush sent deliveries 7 --state failed     pushes that failed, and why
      richpush sent interactions 7                  buttons that were pressed, and replies
      richpush sent statistics 7                    when, on which platforms, and why it did not come
      richpush sent weeks --weeks 4                 what you have sent in the last four weeks
      richpush sent export > sent.csv               all that you have sent, as a table
      richpush sent export 7 > receipts.csv         all receipts of number 7

    Receipts have the states queued, sent, displayed, fetched, opened and read; deliveries, the pushes through push
    services, the states queued, sent, failed, expired and cancelled. --json prints one JSON object
    per line. An export has everything, as comma-separated values or, with --json, as lines of JSON.
    """
  static let options: [Option] =
    [
      .flag("all", "list, weeks, export: of all senders, for admins"),
      .value("state", "STATE", "receipts, deliveries, export: only those in this state"),
      .value("recipient", "NAME", "receipts, export: only the one of this user"),
      .value("lane", "NAME", "deliveries: only those of this push service"),
      .value("segment", "NAME", "statistics: only of recipients who belong to this segment now"),
      .value("limit", "NUMBER", "how many to list", default: "50"),
      .value("weeks", "NUMBER", "weeks: how many, up to the present one", default: "12"),
      .value("zone", "NAME", "weeks: the time zone in which they begin", default: "UTC"),
      .flag("json", "print one JSON object per line, for programs"),
    ] + Account.options(user: "publisher")
  static let operands = ["list|receipts|deliveries|interactions|statistics|weeks|export", "[ID]"]

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    let limit = try arguments.integer("limit") ?? 50
    let state = arguments.string("state")
    switch (arguments.operands[0], arguments.subject) {
    case ("list", nil):
      let client = try Account(arguments).client
      let entries = try await pages(limit) { size, next in
        let page = try await client.sent(limit: size, before: next, ofAll: arguments.flag("all"))
        return (page.notifications, page.next)
      }
      report.list(
        ["ID", "STATE", "USERS", "QUEUED", "SENT", "FAILED", "FETCHED", "READ", "MESSAGE"], entries)
    case ("receipts", let text?):
      let id = try arguments.notificationID(text)
      let client = try Account(arguments).client
      let receipts = try await pages(limit) { size, next in
        let page = try await client.receipts(
          of: id, state: state, user: arguments.string("recipient"), after: next, limit: size)
        return (page.receipts, page.next)
      }
      report.list(["USER", "STATE", "SENT", "FETCHED", "READ", "DEVICES"], receipts)
    case ("deliveries", let text?):
      let id = try arguments.notificationID(text)
      let client = try Account(arguments).client
      let deliveries = try await pages(limit) { size, next in
        let page = try await client.deliveries(
          of: id, state: state, lane: arguments.string("lane"), after: next, limit: size)
        return (page.deliveries, page.next)
      }
      report.list(["JOB", "LANE", "USER", "STATE", "ATTEMPTS", "REASON"], deliveries)
    case ("interactions", let text?):
      let id = try arguments.notificationID(text)
      let client = try Account(arguments).client
      let interactions = try await pages(limit) { size, next in
        let page = try await client.interactions(of: id, after: next, limit: size)
        return (page.interactions, page.next)
      }
      report.list(["TIME", "USER", "DEVICE", "EVENT", "ACTION", "TEXT"], interactions)
    case ("statistics", let text?):
      let id = try arguments.notificationID(text)
      let found = try await Account(arguments).client.statistics(
        of: id, segment: arguments.string("segment"))
      report.show(found, Table.text(of: found))
    case ("weeks", nil):
      let found = try await Account(arguments).client.weeks(
        arguments.integer("weeks"), zone: arguments.string("zone"), ofAll: arguments.flag("all"))
      report.list(
        ["WEEK", "NOTIFICATIONS", "WITHDRAWN", "USERS", "FETCHED", "DISPLAYED", "OPENED", "READ"],
        found.weeks)
    case ("export", let text):
      try await export(text.map { try arguments.notificationID($0) }, arguments)
    default:
      throw CommandLineError.usage(
        "usage: sent list, receipts ID, deliveries ID, interactions ID, statistics ID, weeks or export [ID]"
      )
    }
  }

  /// Prints everything that was sent, or all receipts of a notification.
  private static func export(_ id: Int?, _ arguments: Arguments) async throws {
    let client = try Account(arguments).client
    let isJSON = arguments.flag("json")
    guard let id else {
      return try await export(isJSON: isJSON) { next in
        let page = try await client.sent(limit: 500, before: next, ofAll: arguments.flag("all"))
        return (page.notifications, page.next)
      }
    }
    try await export(isJSON: isJSON) { next in
      let page = try await client.receipts(
        of: id, state: arguments.string("state"), user: arguments.string("recipient"),
        after: next, limit: 500)
      return (page.receipts, page.next)
    }
  }

  private static func export<Row: ExportRow>(
    isJSON: Bool, _ page: (_ next: Int?) async throws -> ([Row], Int?)
  ) async throws {
    let format = isJSON ? ExportFormat.json : .csv
    Terminal.write(table: format.head(of: Row.self))
    var (next, count) = (Int?.none, 0)
    repeat {
      let rows: [Row]
      (rows, next) = try await page(next)
      for row in rows where isJSON { Terminal.print(TerminalText(json: row)) }
      if !isJSON { Terminal.write(table: rows.flatMap { format.line($0) }) }
      count += rows.count
      if next != nil { Terminal.showProgress("\(count) exported") }
    } while next != nil
    if count > 500 { Terminal.printError("\(count) exported") }
  }
}

extension SentPage.Entry: Reported {
  var cells: [String] {
    let numbers = [
      counts.recipients, counts.queued, counts.sent, counts.failed, counts.fetched, counts.read,
    ]
    return ["\(id)", state.rawValue] + numbers.map(String.init) + [message.summary]
  }
}

extension RichNotification.Receipt: Reported {
  var cells: [String] {
    let devices = devices.map { "\($0.registration) \($0.state)" }.joined(separator: ", ")
    return [user ?? "-", state, sent.cell, fetched.cell, read.cell, devices]
  }
}

extension RecordedInteraction: Reported {
  var cells: [String] {
    [Optional(time).cell, user, device ?? "-", event.rawValue, action, text ?? ""]
  }
}

extension RichNotification.Delivery: Reported {
  var cells: [String] { ["\(job)", lane, user ?? "-", state, "\(attempts)", reason ?? ""] }
}

extension WeekStatistics.Week: Reported {
  var cells: [String] {
    let numbers = [notifications, withdrawn, recipients, fetched, displayed, opened, read]
    return [Optional(start).cell] + numbers.map(String.init)
  }
}

extension Table {
  /// What became of a notification: with whom, why not, and when.
  fileprivate static func text(of found: NotificationStatistics) -> TerminalText {
    let groups = found.platforms.map { ("platform", $0) } + found.languages.map { ("language", $0) }
    let rows = [("all", "", found.users)] + groups.map { ($0, $1.title, $1.users) }
    let steps = [
      "USERS", "WAITING", "UNREACHABLE", "SENT", "DISPLAYED", "FETCHED", "OPENED", "READ",
      "DISMISSED",
    ]
    var tables = [text([["BY", "OF"] + steps] + rows.map { [$0, $1] + $2.cells })]
    if !found.unreachable.isEmpty {
      tables.append(
        text(
          [["UNREACHABLE", "CAUSE", "REASON"]]
            + found.unreachable.map { ["\($0.users)", $0.cause, $0.reason ?? "-"] }))
    }
    if !found.course.sent.isEmpty {
      tables.append(
        text([["SINCE", "SENT", "DISPLAYED", "FETCHED", "OPENED", "READ"]] + found.course.rows))
    }
    return "\(lines: tables.map(\.text).joined(separator: "\n\n"))"
  }
}

extension NotificationStatistics.Group {
  fileprivate var title: String { names.isEmpty ? "-" : names.joined(separator: " ") }
}

extension Funnel {
  fileprivate var cells: [String] {
    [
      recipients, waiting, unreachable, sent, displayed, fetched, opened, read, dismissed,
    ].map(String.init)
  }
}

extension NotificationStatistics.Course {
  /// The periods in which something happened.
  fileprivate var rows: [[String]] {
    sent.indices.compactMap { period in
      let numbers = [sent, displayed, fetched, opened, read].map { $0[period] }
      if numbers.allSatisfy({ $0 == 0 }) { return nil }
      let time = start.addingTimeInterval(Double(period * length))
      return [Optional(time).cell] + numbers.map(String.init)
    }
  }
}
