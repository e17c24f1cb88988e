import RichPushAPI
import RichPushClient

/// `richpush outbox`: the push services and their queues, from anywhere.
enum OutboxCommand: Command {
  static let name = "outbox"
  static let summary = "shows a server's push services; lists, replays and cancels its pushes"
  static let help = """
      richpush outbox lanes                   each push service: state, queue, oldest waiting push
      richpush outbox list --state failed     the newest pushes that were given up, and why
      richpush outbox replay 12               sends a failed push again
      richpush outbox replay --lane apns      sends all failed pushes again; without --lane of all
      richpush outbox cancel 12               cancels a push that has not been sent
      richpush outbox resume --lane apns      ends the pause of a push service that refused all pushes
      richpush outbox restore --lane apns --since 2026-12-31T23:00:00Z
                                              brings back the registrations that it has ended since

    For admins, by the server's API. 'richpush push' does the same on the server's machine, without
    a password. --json prints one JSON object per line.
    """
  static let options: [Option] =
    [
      .value("state", "STATE", "list: queued, sent, failed, expired or cancelled"),
      .value("lane", "NAME", "list, replay, resume, restore: only this service"),
      .value(
        "since", "TIME", "restore: how long ago: 90s, 30m, 12h or 7d, or 2026-12-31T23:00:00Z"),
      .value("limit", "NUMBER", "list: how many pushes", default: "50"),
      .flag("json", "print one JSON object per line, for programs"),
    ] + Account.options(user: "admin")
  static let operands = ["lanes|list|replay|cancel|resume|restore", "[JOB]"]

  static func run(_ arguments: Arguments) async throws {
    let report = Report(isJSON: arguments.flag("json"))
    let job = try arguments.subject.map { text in
      guard let job = Int(text) else {
        throw CommandLineError.usage("JOB must be a number from outbox list, not '\(text)'")
      }
      return job
    }
    let (state, lane) = (arguments.string("state"), arguments.string("lane"))
    let limit = try arguments.integer("limit") ?? 50
    let client = { () throws(CommandLineError) in try Account(arguments).client }
    switch (arguments.operands[0], job) {
    case ("lanes", nil):
      report.list(
        ["LANE", "STATE", "QUEUED", "OLDEST", "SENT", "FAILED", "REASON"],
        try await client().lanes().lanes)
    case ("list", nil):
      let client = try client()
      let jobs = try await pages(limit) { size, next in
        let page = try await client.outbox(state: state, lane: lane, after: next, limit: size)
        return (page.jobs, page.next)
      }
      report.list(
        ["JOB", "NOTIFICATION", "LANE", "USER", "STATE", "ATTEMPTS", "REASON"], jobs)
    case ("replay", let job?):
      try await client().replay(job)
      report.note("1 due again")
    case ("replay", nil):
      report.note("\(try await client().replayAll(lane: lane)) due again")
    case ("cancel", let job?):
      try await client().cancelPush(job)
      report.note("cancelled \(job)")
    case ("resume", nil):
      report.note("\(try await client().resume(lane: lane)) due again")
    case ("restore", nil):
      guard let lane, let since = try arguments.pastTime("since") else {
        throw CommandLineError.usage("restore needs --lane and --since")
      }
      let number = try await client().restoreRegistrations(endedBy: lane, since: since)
      report.note("restored \(number)")
    default:
      throw CommandLineError.usage(
        "usage: outbox lanes, list, replay [JOB], cancel JOB, resume or restore")
    }
  }
}

extension LaneReport.Lane: Reported {
  var cells: [String] {
    [
      name, state, "\(queued)", oldestWaiting.cell, "\(sent)", "\(failed)",
      (reason ?? "") + (until.map { " until \(Optional($0).cell)" } ?? ""),
    ]
  }
}

extension OutboxPage.Job: Reported {
  var cells: [String] {
    [
      "\(id)", notification.map(String.init) ?? "-", lane, user ?? "-", state, "\(attempts)",
      reason ?? "",
    ]
  }
}
