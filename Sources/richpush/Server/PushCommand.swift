import Delivery
import FoundationEssentials

/// `richpush push`: checks push services and manages the outbox.
enum PushCommand: Command {
  static let name = "push"
  static let summary = "checks push services; manages pushes, pauses and ended registrations"
  static let help = """
      richpush push check --push apns        checks key, clock, topic and address; sends to no device
                                             lists devices in a store that no service sends to
      richpush push list --state failed      the services that are paused, and why; then the newest
                                             pushes: job, notification, lane, user, state
      richpush push replay [JOB]             sends a failed push again, or all of them
      richpush push cancel JOB               cancels a push that has not been sent
      richpush push resume --lane apns       ends the pause of a service that refused all pushes, and
                                             sends those pushes again; without --lane of all services
      richpush push restore --lane apns --since 3d
                                             brings back the registrations that it has ended since
      richpush push silent --days 90         the registrations of devices not heard of for 90 days
      richpush push silent --days 90 --end   ends them; push restore --lane silence brings them back

    The services' settings come from the environment; docs/PUSH.md lists them. All but check work
    while a server is running. Root acts as the owner of the folder --data. A registration that has
    ended is kept for 30 days.
    """
  static let options: [Option] = [
    .data, .database,
    .value("push", "LIST", "the services to check", default: "embedded"),
    .value("push-contact", "ADDRESS", "check: the contact of webpush"),
    .value("state", "STATE", "queued, sent, failed, expired or cancelled"),
    .value("limit", "NUMBER", "how many pushes to list", default: "50"),
    .value("lane", "NAME", "resume, restore: the service, as push list names it"),
    .value("since", "TIME", "restore: how long ago: 90s, 30m, 12h or 7d, or 2026-12-31T23:00:00Z"),
    .value("days", "NUMBER", "silent: for how many days"),
    .flag("end", "silent: end the registrations"),
  ]
  static let operands = ["check|list|replay|cancel|resume|restore|silent", "[JOB]"]

  static func run(_ arguments: Arguments) async throws {
    let job = try arguments.subject.map { text in
      guard let job = Int(text) else {
        throw CommandLineError.usage("JOB must be a number from push list, not '\(text)'")
      }
      return job
    }
    let outbox = { try OutboxAdmin(data: arguments.dataFolder(), database: arguments.database()) }
    switch (arguments.operands[0], job) {
    case ("check", nil): try await check(arguments)
    case ("list", nil):
      let state = try arguments.string("state", among: OutboxAdmin.states)
      let limit = try arguments.integer("limit") ?? 50
      for sentence in try await outbox().pauses() { Terminal.print("\(sentence)") }
      let head = ["JOB", "NOTIFICATION", "LANE", "USER", "STATE", "ATTEMPTS", "REASON"]
      Terminal.print(Table.text(try await [head] + outbox().list(state: state, limit: limit)))
    case ("replay", _):
      Terminal.print("\(try await outbox().replay(job)) due again")
      try await arguments.notifyServer()
    case ("cancel", let job?):
      try await outbox().cancel(job)
      Terminal.print("cancelled \(job)")
    case ("resume", nil):
      Terminal.print("\(try await outbox().resume(lane: arguments.string("lane"))) due again")
      try await arguments.notifyServer()
    case ("restore", nil):
      guard let lane = arguments.string("lane"), let since = try arguments.pastTime("since") else {
        throw CommandLineError.usage("restore needs --lane and --since")
      }
      Terminal.print("restored \(try await outbox().restore(lane: lane, since: since))")
    case ("silent", nil):
      guard let days = try arguments.integer("days"), (1...10_000).contains(days) else {
        throw CommandLineError.usage("silent needs --days, a number from 1 to 10000")
      }
      try await silent(Date(timeIntervalSinceNow: -Double(days) * 86_400), arguments, outbox())
    default:
      throw CommandLineError.usage(
        "usage: push check, list, replay [JOB], cancel JOB, resume, restore or silent")
    }
  }

  private static func silent(
    _ time: Date, _ arguments: Arguments, _ outbox: OutboxAdmin
  ) async throws {
    guard !arguments.flag("end") else {
      return Terminal.print("ended \(try await outbox.endSilent(since: time))")
    }
    let head = ["USER", "REGISTRATION", "NAME", "PLATFORM", "LAST CONTACT"]
    Terminal.print(Table.text(try await [head] + outbox.silent(since: time)))
  }

  private static func check(_ arguments: Arguments) async throws {
    let services = try arguments.required("push")
    try CommandLineError.usage { try OutboxAdmin.validate(services) }
    let findings = await OutboxAdmin.check(
      services, environment: ProcessInfo.processInfo.environment,
      contact: arguments.string("push-contact"))
    for finding in findings {
      Terminal.print("\(finding.isGood ? "good" : "bad ") \(finding.service): \(finding.sentence)")
    }
    // The services can be checked on a machine without a store.
    if arguments.string("data") != nil {
      let sentences = try await OutboxAdmin.devicesWithoutLane(
        services, data: arguments.dataFolder(), database: arguments.database())
      for sentence in sentences { Terminal.print("note devices: \(sentence)") }
    }
    if findings.contains(where: { !$0.isGood }) {
      throw CommandLineError.failed("some checks failed")
    }
  }
}
