import Delivery
import FoundationEssentials

/// `richpush push`: checks push services and manages the outbox.
enum PushCommand: Command {
  static let name = "push"
  static let summary = "checks push services; lists, replays and cancels pushes"
  static let help = """
      richpush push check --push apns        checks key, clock, topic and address; sends to no device
                                             lists devices in a store that no service sends to
      richpush push list --state failed      the newest pushes: job, notification, lane, user, state
      richpush push replay [JOB]             sends a failed push again, or all of them
      richpush push cancel JOB               cancels a push that has not been sent

    The services' settings come from the environment; docs/PUSH.md lists them. list, replay and
    cancel work while a server is running. Root acts as the owner of the folder --data.
    """
  static let options: [Option] = [
    .data, .database,
    .value("push", "LIST", "the services to check", default: "embedded"),
    .value("push-contact", "ADDRESS", "check: the contact of webpush"),
    .value("state", "STATE", "queued, sent, failed, expired or cancelled"),
    .value("limit", "NUMBER", "how many pushes to list", default: "50"),
  ]
  static let operands = ["check|list|replay|cancel", "[JOB]"]

  static func run(_ arguments: Arguments) async throws {
    let job = try arguments.subject.map { text in
      guard let job = Int(text) else {
        throw CommandLineError.usage("JOB is a number from push list, not '\(text)'")
      }
      return job
    }
    let outbox = { try OutboxAdmin(data: arguments.dataFolder(), database: arguments.database()) }
    switch (arguments.operands[0], job) {
    case ("check", nil): try await check(arguments)
    case ("list", nil):
      let state = try arguments.string("state", among: OutboxAdmin.states)
      let limit = try arguments.integer("limit") ?? 50
      let head = ["JOB", "NOTIFICATION", "LANE", "USER", "STATE", "ATTEMPTS", "REASON"]
      Terminal.print(Table.text(try await [head] + outbox().list(state: state, limit: limit)))
    case ("replay", _):
      Terminal.print("\(try await outbox().replay(job)) due again")
      try await arguments.notifyServer()
    case ("cancel", let job?):
      try await outbox().cancel(job)
      Terminal.print("cancelled \(job)")
    default: throw CommandLineError.usage("usage: push check, list, replay [JOB] or cancel JOB")
    }
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
