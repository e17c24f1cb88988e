import FoundationEssentials
import Push
import Store

/// The outbox of a data folder, for the command line; it works beside a running server.
package struct PushDesk: Sendable {
  private let outbox: Outbox

  /// Opens the data folder.
  package init(data: String) throws {
    outbox = try Store(folder: data, access: .guest).outbox
  }

  /// One push to one device, as a person looks at it.
  package struct Line: Sendable {
    /// The job's number.
    package let job: Int
    /// The notification's id, the lane, the user, the state, the attempts and the reason.
    package let cells: [String]
  }

  /// The newest jobs, of one state when it is named.
  ///
  /// - Throws: `PushDeskError` for a state that does not exist.
  package func list(state name: String?, limit: Int) throws -> [Line] {
    let state = try name.map { name in
      guard let state = JobState(rawValue: name) else {
        let names = JobState.allCases.map(\.rawValue).joined(separator: ", ")
        throw PushDeskError("a state is one of \(names), not \(name.quoted)")
      }
      return state
    }
    return try outbox.jobs(in: state, limit: limit).map { job in
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
    guard let job else { return try await outbox.replayAll() }
    guard try await outbox.replay(job: job) else {
      throw PushDeskError("there is no dead letter \(job)")
    }
    return 1
  }

  /// Calls a push off that has not been sent.
  package func cancel(_ job: Int) async throws {
    guard try await outbox.cancel(job: job) else {
      throw PushDeskError("there is no waiting push \(job)")
    }
  }

  /// Speaks to each service and says what is right and wrong; reaches no device.
  package static func check(
    _ list: String, environment: [String: String]
  ) async -> [(service: String, isGood: Bool, sentence: String)] {
    await PushCheck.run(list, environment: environment).map { ($0.service, $0.isGood, $0.sentence) }
  }
}

/// Why the outbox could not be read or changed.
package struct PushDeskError: Error {
  /// A sentence for the person at the keyboard.
  package let reason: String

  init(_ reason: String) { self.reason = reason }
}
