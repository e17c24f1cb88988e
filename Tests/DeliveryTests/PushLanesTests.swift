import Foundation
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import Synchronization
import TestSupport
import Testing

@testable import Delivery

@Suite(.timeLimit(.minutes(1))) struct PushLanesTests {
  /// A push service that records what it is given.
  private final class Recorder: PushProvider {
    private let pushes = Mutex<[OutgoingPush]>([])
    private let outcome: PushOutcome

    init(_ outcome: PushOutcome = .delivered(reference: "r")) { self.outcome = outcome }

    let name = "apns"
    let capacity = 4
    let limitsSilentPushes = false
    var sent: [OutgoingPush] { pushes.withLock { $0 } }

    func send(_ push: OutgoingPush) async -> PushOutcome {
      pushes.withLock { $0.append(push) }
      return outcome
    }
  }

  @Test func `sends what is in the outbox at the start, and what is added later`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    let service = Recorder()
    let lanes = PushLanes([service], store: delivery.store, log: delivery.log.log)
    try await delivery.publish(delivery.draft())
    lanes.start()
    try await eventually("the first is sent") { service.sent.count == 1 }
    try await delivery.publish(delivery.draft())
    try await eventually("the second is sent, without a poll") { service.sent.count == 2 }
    try await eventually("both are settled") {
      try await delivery.store.outbox.jobs(in: .sent, limit: 9).map(\.reference) == ["r", "r"]
    }
    try await eventually("both are counted") {
      lanes.status.map(\.name) == ["apns"] && lanes.status.first?.status.delivered == 2
    }
    await lanes.stop()
    try await delivery.publish(delivery.draft())
    #expect(service.sent.count == 2)
  }

  @Test(
    arguments: [
      (.delivered(reference: "r"), .sent), (.rejected(reason: "No."), .failed),
      (.deadToken(since: nil, reason: "Gone."), .failed),
    ] as [(PushOutcome, JobState)])
  func `records the outcome of a push`(outcome: PushOutcome, state: JobState) async throws {
    let delivery = try await DeliveryFixture()
    let device = try await delivery.register("AA", of: "alice")
    let lanes = PushLanes([Recorder(outcome)], store: delivery.store, log: delivery.log.log)
    lanes.start()
    try await delivery.publish(delivery.draft())
    try await eventually("it is settled") {
      try await delivery.store.outbox.jobs(in: nil, limit: 9).map(\.state) == [state]
    }
    await lanes.stop()
    let registrations = try await delivery.store.accounts.registrations(
      ofUser: delivery.id("alice"))
    if case .deadToken = outcome {
      #expect(registrations.isEmpty)
    } else {
      #expect(registrations.map(\.id) == [device])
    }
  }

  @Test func `a push that cannot be sent now waits until it is due`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft())
    let queue = StoredPushQueue(store: delivery.store)
    func exchange(_ settlements: [Settlement]) async throws -> [PushJob] {
      let now = delivery.clock.now()
      return try await queue.settleAndLease(
        settlements, lane: "apns", limit: 9, now: now, until: now + 100)
    }
    let job = try #require(try await exchange([]).first)
    #expect(job.attempts == 0)
    let later = delivery.clock.now() + 50
    let released = Settlement(job: job.id, outcome: .released(until: later, reason: "Paused."))
    #expect(try await exchange([released]).isEmpty)
    #expect(try await queue.nextDue(lane: "apns") == later)
    delivery.clock.advance(by: 50)
    #expect(try await exchange([]).map(\.attempts) == [0], "a pause is no attempt")
    let again = Settlement(job: job.id, outcome: .retry(at: later + 50, reason: "Down."))
    #expect(try await exchange([again]).isEmpty)
    delivery.clock.advance(by: 50)
    #expect(try await exchange([]).map(\.attempts) == [1])
    #expect(try await exchange([Settlement(job: job.id, outcome: .expired)]).isEmpty)
    #expect(try await delivery.store.outbox.jobs(in: nil, limit: 9).map(\.state) == [.expired])
  }

  @Test func `an operator lists, replays and cancels pushes beside the server`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft())
    try await delivery.publish(delivery.draft())
    let queue = StoredPushQueue(store: delivery.store)
    let job = try #require(try await delivery.lease().first)
    _ = try await queue.settleAndLease(
      [Settlement(job: job.id, outcome: .rejected(reason: "No."))], lane: "apns", limit: 0,
      now: delivery.clock.now(), until: delivery.clock.now())
    let admin = try OutboxAdmin(data: delivery.scratch.path + "/data")
    #expect(try await admin.list(state: nil, limit: 9).count == 2)
    let failed = try await admin.list(state: "failed", limit: 9)
    #expect(failed.map { $0.dropFirst() } == [["0", "apns", "alice", "failed", "1", "No."]])
    #expect(try await admin.replay(nil) == 1)
    #expect(try await admin.list(state: "failed", limit: 9).isEmpty)
    await #expect(throws: OperatorError.self) { _ = try await admin.replay(job.id) }
    try await admin.cancel(job.id)
    await #expect(throws: OperatorError.self) { try await admin.cancel(job.id) }
    #expect(try await admin.list(state: "cancelled", limit: 9).map(\.[0]) == ["\(job.id)"])
  }
}
