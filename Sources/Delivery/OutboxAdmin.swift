package import FoundationEssentials
import Media
import Push
import Store
import Primitives

/// Manages the outbox of a data folder for the command line, with or without a running server.
package struct OutboxAdmin: Sendable {
  private let outbox: any Outbox
  private let administration: any Administration

  /// The states that a push can have.
  package static var states: [String] { JobState.allCases.map(\.rawValue) }

  /// Opens the data folder, with the PostgreSQL database at a URL if one is given.
  package init(data: String, database: String? = nil) throws {
    let store = try Store(folder: data, database: database, access: .shared)
    (outbox, administration) = (store.outbox, store.administration)
  }

  /// The newest jobs, only in this state if it is one of ``states``.
  ///
  /// - Returns: for each one its number, the notification's ID, the lane, the user, the state, the number of
  ///   attempts and the reason.
  package func list(state name: String?, limit: Int) async throws -> [[String]] {
    try await outbox.jobs(in: name.flatMap { JobState(rawValue: $0) }, limit: limit).map { job in
      [
        String(job.job), job.notificationID.map(String.init) ?? "-", job.lane, job.user ?? "-",
        job.state.rawValue, String(job.attempts), job.reason ?? "",
      ]
    }
  }

  /// Makes one dead letter due again, or all of them; returns their number.
  package func replay(_ job: Int?) async throws -> Int {
    let count = try await outbox.replay(job)
    if let job, count == 0 { throw OperatorError("there is no dead letter \(job)") }
    return count
  }

  /// Cancels a push that has not been sent.
  package func cancel(_ job: Int) async throws {
    guard try await outbox.cancel(job: job) else {
      throw OperatorError("there is no waiting push \(job)")
    }
  }

  /// A sentence for each lane that is paused until the operator has acted.
  package func pauses() async throws -> [String] {
    try await outbox.pauses().map { pause in
      "\(pause.lane) is paused since \(pause.since.formatted(.iso8601)). \(pause.reason)"
    }
  }

  /// Ends the pause of a lane, or of all; returns how many refused pushes are due again.
  package func resume(lane: String?) async throws -> Int { try await outbox.resume(lane: lane) }

  /// Brings back the registrations that a lane has ended since a time, and returns their number.
  package func restore(lane: String, since: Date) async throws -> Int {
    try await outbox.restoreRegistrations(endedBy: lane, since: since)
  }

  /// The registrations whose devices have been silent since a time: for each one the user, its ID, its name, its
  /// platform and its last contact.
  package func silent(since time: Date) async throws -> [[String]] {
    var (rows, last): ([[String]], String) = ([], "")
    while true {
      let page = try await administration.silentRegistrations(since: time, after: last, limit: 1000)
      rows += page.map { user, device in
        [
          user, device.id, device.name ?? "-", device.platform ?? "-",
          (device.lastContact ?? device.updated).formatted(.iso8601),
        ]
      }
      guard let next = page.last?.registration.id else { return rows }
      last = next
    }
  }

  /// Ends those registrations, and returns their number.
  package func endSilent(since time: Date) async throws -> Int {
    try await administration.endSilentRegistrations(since: time)
  }

  /// Checks a list of push services such as `embedded,apns`.
  ///
  /// - Throws: an error that describes what is invalid.
  package static func validate(_ list: String) throws { _ = try PlatformLanes(list) }

  /// A sentence for each platform with devices that no service in the list reaches; empty if there is no
  /// store in the folder.
  package static func devicesWithoutLane(
    _ list: String, data: String, database: String? = nil
  ) async throws -> [String] {
    guard Store.exists(in: data) else { return [] }
    let lanes = try PlatformLanes(list)
    let counts = try await UnreachedDevices(lanes: lanes, log: .silent)
      .counts(in: try Store(folder: data, database: database, access: .shared))
    return counts.filter { $0.count > 0 }.map { platform, count in
      "\(count) \(count == 1 ? "device is" : "devices are") registered for \(platform). "
        + lanes.gap(of: platform)
    }
  }

  /// Connects to each service and reports problems; sends nothing to devices.
  package static func check(
    _ list: String, environment: [String: String], contact: String? = nil
  ) async -> [(service: String, isGood: Bool, sentence: String)] {
    await PushCheck.run(list, environment: environment, contact: contact).map {
      ($0.service, $0.isGood, $0.sentence)
    }
  }
}
