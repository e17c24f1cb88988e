import FoundationEssentials
import Media
import Push
import Store

/// The outbox of a data folder, for the command line; it works beside a running server.
package struct OutboxAdmin: Sendable {
  private let outbox: Outbox

  /// The states that a push can have.
  package static var states: [String] { JobState.allCases.map(\.rawValue) }

  /// Opens the data folder.
  package init(data: String) throws {
    outbox = try Store(folder: data, access: .shared).outbox
  }

  /// One push to one device, for people.
  package struct Line: Sendable {
    /// The job's number.
    package let job: Int
    /// The notification's id, the lane, the user, the state, the attempts and the reason.
    package let cells: [String]
  }

  /// The newest jobs, of one state when one of ``states`` is named.
  package func list(state name: String?, limit: Int) throws -> [Line] {
    try outbox.jobs(in: name.flatMap { JobState(rawValue: $0) }, limit: limit).map { job in
      Line(
        job: job.job,
        cells: [
          job.notificationID.map(String.init) ?? "-", job.lane, job.user ?? "-",
          job.state.rawValue, String(job.attempts), job.reason ?? "",
        ])
    }
  }

  /// Makes one dead letter due again, or all of them, and returns how many.
  package func replay(_ job: Int?) async throws -> Int {
    let count = try await outbox.replay(job)
    if let job, count == 0 { throw OutboxAdminError("there is no dead letter \(job)") }
    return count
  }

  /// Cancels a push that has not been sent.
  package func cancel(_ job: Int) async throws {
    guard try await outbox.cancel(job: job) else {
      throw OutboxAdminError("there is no waiting push \(job)")
    }
  }

  /// Whether a list such as `embedded,apns` names push services.
  ///
  /// - Throws: an error with a sentence when it names none, or what is none.
  package static func read(_ list: String) throws { _ = try PlatformLanes(list) }

  /// The devices of a data folder that no service in the list sends to, a sentence for each platform;
  /// none where there is no data folder yet.
  package static func devicesWithoutLane(_ list: String, data: String) throws -> [String] {
    guard Store.exists(in: data) else { return [] }
    let lanes = try PlatformLanes(list)
    let counts = try UnreachedDevices(lanes: lanes, log: Log { _ in })
      .counts(in: try Store(folder: data, access: .shared))
    return counts.filter { $0.count > 0 }.map { platform, count in
      "\(count) \(count == 1 ? "device is" : "devices are") registered for \(platform). "
        + lanes.gap(of: platform)
    }
  }

  /// Connects to each service and reports what is right and wrong; sends nothing to a device.
  package static func check(
    _ list: String, environment: [String: String]
  ) async -> [(service: String, isGood: Bool, sentence: String)] {
    await PushCheck.run(list, environment: environment).map { ($0.service, $0.isGood, $0.sentence) }
  }
}

/// Why the outbox could not be read or changed.
package struct OutboxAdminError: Error, CustomStringConvertible {
  /// A sentence for the person at the keyboard.
  package let reason: String

  /// The reason: it is made for reading.
  package var description: String { reason }

  init(_ reason: String) { self.reason = reason }
}
