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
import Waiting

@testable import Delivery

@Suite(.timeLimit(.minutes(1))) struct PushLanesTests {
  /// A push service that records what it is given.
  private final class Recorder: PushProvider {
    private let pushes = Mutex<[OutgoingPush]>([])
    private let outcome: PushOutcome

    init(_ outcome: PushOutcome = .delivered(reference: "r")) { self.outcome = outcome }

    let name = "apns"
    let settings = ""
    let capacity = 4
    let traits = PushTraits.withoutBudget
    var sent: [OutgoingPush] { pushes.withLock { $0 } }

    func payload(of message: PushMessage) -> PayloadTemplate { APNsProvider.payload(of: message) }

    func send(_ push: OutgoingPush) async -> PushOutcome {
      pushes.withLock { $0.append(push) }
      return outcome
    }
  }

  @Test func `what waits for the end of quiet hours is sent when they are taken away`() async throws
  {
    let delivery = try await DeliveryFixture()
    let device = try await delivery.register("AA", of: "alice")
    let minute = Int(delivery.clock.date.timeIntervalSince1970) / 60 % 1440
    let alice = try await delivery.id("alice")
    _ = try await delivery.store.accounts.changeSettings(of: device, user: alice) {
      $0.quietPeriod = QuietPeriod(from: minute, until: (minute + 1439) % 1440)
    }
    for importance in ["high", "urgent"] {
      try await delivery.publish(delivery.draft(#","importance":"\#(importance)""#))
    }
    let service = Recorder()
    let lanes = PushLanes(
      [service], store: delivery.store, payloads: delivery.payloads, log: delivery.log.log)
    lanes.start()
    try await eventually("the urgent one is sent") {
      try await delivery.store.outbox.deliveries(of: 1).map(\.state) == [.sent]
    }
    #expect(service.sent.map(\.message?.id) == [1])
    let waiting = try await delivery.store.outbox.deliveries(of: 0)
    #expect(waiting.map(\.state) == [.queued] && waiting.map(\.attempts) == [0])
    #expect(lanes.paused == [])
    _ = try await delivery.store.accounts.changeSettings(of: device, user: alice) {
      $0.quietPeriod = nil
    }
    try await eventually("the other one is sent") { service.sent.map(\.message?.id) == [1, 0] }
    await lanes.stop()
  }

  @Test func `sends what is in the outbox at the start, and what is added later`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    let service = Recorder()
    let lanes = PushLanes(
      [service], store: delivery.store, payloads: delivery.payloads,
      log: delivery.log.log)
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
      (.deadToken(since: nil, reason: "Gone."), .queued),
    ] as [(PushOutcome, JobState)])
  func `records the outcome of a push`(outcome: PushOutcome, state: JobState) async throws {
    let delivery = try await DeliveryFixture()
    let device = try await delivery.register("AA", of: "alice")
    let lanes = PushLanes(
      [Recorder(outcome)], store: delivery.store, payloads: delivery.payloads,
      log: delivery.log.log)
    lanes.start()
    try await delivery.publish(delivery.draft())
    try await eventually("it is settled") {
      let jobs = try await delivery.store.outbox.jobs(in: nil, limit: 9)
      return jobs.map(\.state) == [state]
        && (state == .queued ? jobs.map(\.reason) == ["Gone."] : jobs.map(\.attempts) == [1])
    }
    await lanes.stop()
    // A service that has accepted nothing is not believed.
    let registrations = try await delivery.store.accounts.registrations(
      ofUser: delivery.id("alice"))
    #expect(registrations.map(\.id) == [device])
    #expect(registrations.allSatisfy { $0.ended == nil })
  }

  /// A push service that knows some devices only.
  private final class Registry: PushProvider {
    private let known: Mutex<Set<String>>
    private let calls = Mutex(0)

    init(_ known: Set<String>) { self.known = Mutex(known) }

    let name = "apns"
    let settings = "production"
    let capacity = 30
    let traits = PushTraits.withoutBudget
    var count: Int { calls.withLock { $0 } }

    func learn(_ devices: Set<String>) { known.withLock { $0 = devices } }

    func payload(of message: PushMessage) -> PayloadTemplate { APNsProvider.payload(of: message) }

    func send(_ push: OutgoingPush) async -> PushOutcome {
      calls.withLock { $0 += 1 }
      guard case .device(let handle, _) = push.target, known.withLock({ $0.contains(handle) })
      else { return .deadToken(since: nil, reason: "400 BadDeviceToken") }
      return .delivered(reference: nil)
    }
  }

  private func registerMany(
    _ count: Int, in delivery: DeliveryFixture
  ) async throws -> [String] {
    _ = try await delivery.store.accounts.setMaxDevices(of: "alice", to: count)
    let handles = (0..<count).map { "AB" + String(1000 + $0) }
    for handle in handles { try await delivery.register(handle, of: "alice") }
    return handles
  }

  private func current(_ delivery: DeliveryFixture) async throws -> Set<String> {
    let all = try await delivery.store.accounts.registrations(ofUser: delivery.id("alice"))
    return Set(all.filter { $0.ended == nil }.map(\.handle))
  }

  @Test func `a service that refuses all devices pauses its lane, and resuming sends them all`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    let handles = try await registerMany(120, in: delivery)
    let service = Registry([])
    let lanes = PushLanes(
      [service], store: delivery.store, payloads: delivery.payloads,
      log: delivery.log.log)
    lanes.start()
    try await delivery.publish(delivery.draft())
    try await eventually("the lane is paused") { lanes.status.first?.status.pauseReason != nil }
    #expect(service.count == 120)
    #expect(try await current(delivery).count == 120)
    #expect(try await delivery.store.outbox.jobs(in: .queued, limit: 999).count == 120)
    #expect(delivery.log.all.contains { $0.contains("apns: paused. The service has refused") })
    let admin = try OutboxAdmin(data: delivery.scratch.path + "/data")
    #expect(try await admin.pauses().count == 1)
    service.learn(Set(handles.dropFirst(7)))
    #expect(try await admin.resume(lane: "apns") > 0)
    lanes.wake()
    try await eventually("all others are sent") {
      try await delivery.store.outbox.jobs(in: .sent, limit: 999).count == 113
    }
    #expect(lanes.status.first?.status.pauseReason == nil)
    // The last refusal counts with the next accepted push.
    try await delivery.publish(delivery.draft())
    try await eventually("the dead ones have ended") {
      try await current(delivery) == Set(handles.dropFirst(7))
    }
    await lanes.stop()
    #expect(delivery.log.all.contains { $0.contains("ended, because the service does not know") })
  }

  @Test(arguments: [2, 5]) func `devices that are dead among others end at once`(
    every: Int
  ) async throws {
    let delivery = try await DeliveryFixture()
    let handles = try await registerMany(200, in: delivery)
    let living = Set(handles.enumerated().filter { $0.offset % every > 0 }.map(\.element))
    let lanes = PushLanes(
      [Registry(living)], store: delivery.store, payloads: delivery.payloads,
      log: delivery.log.log)
    lanes.start()
    try await delivery.publish(delivery.draft())
    try await eventually("the living ones have their push") {
      try await delivery.store.outbox.jobs(in: .sent, limit: 999).count == living.count
    }
    try await eventually("the dead ones have ended") { try await current(delivery) == living }
    await lanes.stop()
  }

  @Test func `a push that cannot be sent now waits until it is due`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft())
    let queue = StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
    func exchange(_ settlements: [Settlement]) async throws -> [PushJob] {
      let now = delivery.clock.date
      return try await queue.settleAndLease(
        settlements, lane: PushLane("apns"), limit: 9, now: now,
        until: now + 100
      ).jobs
    }
    let job = try #require(try await exchange([]).first)
    #expect(job.attempts == 0)
    let later = delivery.clock.date + 50
    let released = Settlement(job: job.id, outcome: .released(until: later, reason: "Paused."))
    #expect(try await exchange([released]).isEmpty)
    #expect(try await queue.nextDue(lane: "apns") == later)
    delivery.clock.advance(by: .seconds(50))
    #expect(try await exchange([]).map(\.attempts) == [0], "a pause is no attempt")
    let again = Settlement(job: job.id, outcome: .retry(at: later + 50, reason: "Down."))
    #expect(try await exchange([again]).isEmpty)
    delivery.clock.advance(by: .seconds(50))
    #expect(try await exchange([]).map(\.attempts) == [1])
    #expect(try await exchange([Settlement(job: job.id, outcome: .expired)]).isEmpty)
    #expect(try await delivery.store.outbox.jobs(in: nil, limit: 9).map(\.state) == [.expired])
  }

  @Test func `an operator lists, replays and cancels pushes beside the server`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft())
    try await delivery.publish(delivery.draft())
    let queue = StoredPushQueue(store: delivery.store, payloads: delivery.payloads)
    let job = try #require(try await delivery.lease().first)
    _ = try await queue.settleAndLease(
      [Settlement(job: job.id, outcome: .rejected(reason: "No."))],
      lane: PushLane("apns"), limit: 0, now: delivery.clock.date,
      until: delivery.clock.date)
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
