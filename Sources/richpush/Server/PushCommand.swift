import Media
import Foundation
import Delivery

/// `richpush push`: the pushes on their way, and the services that carry them.
enum PushCommand: Command {
  static let name = "push"
  static let summary = "checks push services; lists, replays and cancels pushes"
  static let help = """
      richpush push check --push apns        proves key, clock, topic and address; reaches no device
                                             names the devices in --data that no service sends to
      richpush push list --state failed      the newest pushes: job, notification, lane, user, state
      richpush push replay [JOB]             tries a dead letter again, or all of them
      richpush push cancel JOB               calls a push off that has not been sent

    The services' settings come from the environment, see docs/PUSH.md. list, replay and cancel
    work beside a running server.
    """
  static let options: [Option] = [
    .value("data", "FOLDER", "where the store is kept", default: "var"),
    .value("push", "LIST", "the services to check", default: "embedded"),
    .value("state", "STATE", "queued, sent, failed, expired or cancelled"),
    .value("limit", "NUMBER", "how many pushes to list", default: "50"),
  ]
  static let operands = ["check|list|replay|cancel", "[JOB]"]

  static func run(_ arguments: Arguments) async throws {
    let job = try arguments.operands.dropFirst().first.map { text in
      guard let job = Int(text) else {
        throw CommandLineError.usage("JOB is a number from push list, not '\(text)'")
      }
      return job
    }
    do {
      switch (arguments.operands[0], job) {
      case ("check", nil): try await check(arguments)
      case ("list", nil): try list(arguments)
      case ("replay", _):
        let count = try await OutboxAdmin(data: arguments.required("data")).replay(job)
        Terminal.say("\(count) due again")
      case ("cancel", let job?):
        try await OutboxAdmin(data: arguments.required("data")).cancel(job)
        Terminal.say("cancelled \(job)")
      default: throw CommandLineError.usage("it is push check, list, replay [JOB] or cancel JOB")
      }
    } catch let error as OutboxAdminError {
      throw CommandLineError.failed(error.reason)
    }
  }

  private static func check(_ arguments: Arguments) async throws {
    let list = try arguments.required("push")
    do { try OutboxAdmin.read(list) } catch { throw CommandLineError.usage(error.logDescription) }
    let findings = await OutboxAdmin.check(
      list, environment: ProcessInfo.processInfo.environment)
    for finding in findings {
      Terminal.say("\(finding.isGood ? "good" : "bad ") \(finding.service): \(finding.sentence)")
    }
    for sentence in try OutboxAdmin.devicesWithoutLane(list, data: arguments.required("data")) {
      Terminal.say("note devices: \(sentence)")
    }
    if findings.contains(where: { !$0.isGood }) {
      throw CommandLineError.failed("some checks failed")
    }
  }

  private static func list(_ arguments: Arguments) throws {
    let state = arguments.string("state")
    if let state, !OutboxAdmin.states.contains(state) {
      let states = OutboxAdmin.states.joined(separator: ", ")
      throw CommandLineError.usage("--state is one of \(states), not '\(state)'")
    }
    let limit = try arguments.integer("limit") ?? 50
    let lines = try OutboxAdmin(data: arguments.required("data")).list(state: state, limit: limit)
    let head = ["JOB", "NOTIFICATION", "LANE", "USER", "STATE", "ATTEMPTS", "REASON"]
    Terminal.say(Table.text([head] + lines.map { [String($0.job)] + $0.cells }))
  }
}
