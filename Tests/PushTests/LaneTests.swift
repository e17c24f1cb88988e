import Foundation
import RichPushAPI
import Testing
import Primitives
import Waiting

@testable import Push

@Suite(.timeLimit(.minutes(1))) struct LaneTests {
  private let clock = ManualClock()
  private var now: @Sendable () -> Date { { [clock] in clock.date } }

  private func lane(_ provider: ScriptedProvider, _ outbox: MemoryOutbox) -> Lane {
    Lane(provider: provider, outbox: outbox, clock: clock, now: now, random: { 1 }, log: .silent)
  }

  /// Runs the lane while `body` runs, then stops it and waits for its end.
  private func running(
    _ lane: Lane, _ body: @escaping @Sendable () async throws -> Void
  ) async throws {
    try await within {
      let task = Task { await lane.run() }
      try await withTaskCancellationHandler {
        try await body()
        lane.stop()
        await task.value
      } onCancel: {
        task.cancel()
      }
    }
  }

  @Test func `delivers every job once and commits in batches`() async throws {
    let outbox = MemoryOutbox(now: now)
    for number in 0..<500 { outbox.add(.sample(number, to: "D\(number)")) }
    let provider = ScriptedProvider(capacity: 50) { push, _ in .delivered(reference: push.id) }
    let lane = lane(provider, outbox)
    try await running(lane) { try await outbox.settled(500) }
    #expect(Set(provider.sent.map(\.id)).count == 500)
    #expect(provider.sent.count == 500)
    #expect(outbox.commits < 500)
    #expect(lane.status.delivered == 500)
  }

  @Test func `repeats with the same id, later each time`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    let start = clock.date
    let provider = ScriptedProvider { _, call in
      call < 4 ? .retry(after: nil, reason: "busy") : .delivered(reference: nil)
    }
    try await running(lane(provider, outbox)) {
      for count in 1...3 {
        try await outbox.settled(count)
        try await clock.advanceToNext()
      }
      try await outbox.settled(4)
    }
    #expect(Set(provider.sent.map(\.id)).count == 1)
    #expect(clock.date.timeIntervalSince(start) == 1 + 2 + 4)
    #expect(outbox.outcomes == [.delivered(as: .background, reference: nil, note: nil)])
  }

  @Test(
    arguments: [
      (.retry(after: .seconds(77), reason: "busy"), 77),
      (.throttled(after: .seconds(7200), reason: "busy"), 7200),
      (.unavailable(after: .seconds(77), reason: "busy"), 77),
      (.unavailable(after: .seconds(7200), reason: "busy"), 900),
    ] as [(PushOutcome, Double)])
  func `waits as long as the service asks, at most 15 minutes if it is down`(
    _ outcome: PushOutcome, _ seconds: Double
  ) async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    let provider = ScriptedProvider { _, _ in outcome }
    let start = clock.date
    try await running(lane(provider, outbox)) { try await outbox.settled(1) }
    #expect(outbox.history.first?.outcome == .retry(at: start + seconds, reason: "busy"))
  }

  @Test func `gives up after sixteen attempts`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    let provider = ScriptedProvider { _, _ in .retry(after: nil, reason: "no") }
    try await running(lane(provider, outbox)) {
      for count in 1..<16 {
        try await outbox.settled(count)
        while outbox.history.count == count, provider.sent.count == count {
          try await clock.advanceToNext()
        }
      }
      try await outbox.settled(16)
    }
    #expect(outbox.outcomes == [.rejected(reason: "Failed after 16 attempts: no")])
  }

  @Test func `does not send what has expired`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample(expires: clock.date))
    let provider = ScriptedProvider { _, _ in .delivered(reference: nil) }
    try await running(lane(provider, outbox)) { try await outbox.settled(1) }
    #expect(outbox.outcomes == [.expired])
    #expect(provider.sent.isEmpty)
  }

  @Test func `keeps the order of pushes that replace each other`() async throws {
    let outbox = MemoryOutbox(now: now)
    for number in 0..<20 { outbox.add(.sample(number, collapseID: "c")) }
    let provider = ScriptedProvider { _, _ in
      .delivered(reference: nil)
    }
    try await running(lane(provider, outbox)) { try await outbox.settled(20) }
    let ids = provider.sent.map(\.id)
    #expect(ids == ids.sorted())
  }

  @Test func `pauses while a service is down for an hour, and recovers`() async throws {
    let outbox = MemoryOutbox(now: now)
    for number in 0..<20 { outbox.add(.sample(number, to: "D\(number)")) }
    let end = clock.date + 3600
    let provider = ScriptedProvider(capacity: 5) { [clock] _, _ in
      clock.date < end ? .unavailable(after: nil, reason: "500") : .delivered(reference: nil)
    }
    let lane = lane(provider, outbox)
    try await running(lane) {
      while clock.date < end { try await clock.advanceToNext() }
      #expect(provider.sent.count < 60)
      while lane.status.delivered < 20 { try await clock.advanceToNext() }
    }
    #expect(
      outbox.outcomes.allSatisfy { $0 == .delivered(as: .background, reference: nil, note: nil) })
    #expect(lane.status.pausedUntil == nil)
  }

  @Test func `keeps jobs queued without counting attempts while the operator has to act`()
    async throws
  {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    let provider = ScriptedProvider { _, call in
      call <= 40 ? .laneStopped(reason: "The key was revoked.") : .delivered(reference: nil)
    }
    let lane = lane(provider, outbox)
    try await running(lane) {
      try await outbox.settled(1)
      while provider.sent.count < 2 { try await clock.advanceToNext() }
      #expect(lane.status.pausedUntil != nil)
      while provider.sent.count < 41 { try await clock.advanceToNext() }
      try await outbox.settled(41)
    }
    #expect(outbox.outcomes == [.delivered(as: .background, reference: nil, note: nil)])
  }

  @Test func `is not delayed by another lane's outage`() async throws {
    let stuck = MemoryOutbox(now: now)
    let healthy = MemoryOutbox(now: now)
    for number in 0..<50 {
      stuck.add(.sample(number, to: "D\(number)"))
      healthy.add(.sample(number, to: "D\(number)"))
    }
    let (gate, opened) = AsyncStream<Void>.makeStream()
    let dead = ScriptedProvider(name: "dead", capacity: 10) { _, _ in
      for await _ in gate {}
      return .unavailable(after: nil, reason: "silence")
    }
    let alive = ScriptedProvider(name: "alive") { _, _ in .delivered(reference: nil) }
    try await running(lane(dead, stuck)) {
      try await running(lane(alive, healthy)) { try await healthy.settled(50) }
      #expect(stuck.history.isEmpty)
      opened.finish()
    }
  }

  @Test func `offers outcomes again when the outbox fails, and says so once`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    outbox.failSettlements(3)
    let provider = ScriptedProvider { _, _ in .delivered(reference: nil) }
    let (lines, said) = AsyncStream.makeStream(of: String.self)
    let lane = Lane(
      provider: provider, outbox: outbox, clock: clock, now: now, random: { 1 },
      log: Log { said.yield($0.text) })
    try await running(lane) {
      // As often as it takes: the lane may also wait a moment for the push before it commits.
      while outbox.history.isEmpty { try await clock.advanceToNext() }
    }
    said.finish()
    #expect(await lines.reduce(into: 0) { count, _ in count += 1 } == 2)
    #expect(provider.sent.count == 1)
    #expect(outbox.outcomes == [.delivered(as: .background, reference: nil, note: nil)])
  }

  @Test func `offers outcomes again at once although the service asks for a pause`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    outbox.failSettlements(1)
    let start = clock.date
    let provider = ScriptedProvider { _, _ in .unavailable(after: .seconds(600), reason: "busy") }
    try await running(lane(provider, outbox)) {
      while outbox.history.isEmpty { try await clock.advanceToNext() }
    }
    #expect(try #require(outbox.lastCommit) < start + 60)
  }

  @Test func `settles what is under way before it stops`() async throws {
    let outbox = MemoryOutbox(now: now)
    for number in 0..<30 { outbox.add(.sample(number, to: "D\(number)")) }
    let (started, signal) = AsyncStream<Void>.makeStream()
    let (gate, opened) = AsyncStream<Void>.makeStream()
    let provider = ScriptedProvider(capacity: 1) { _, _ in
      signal.yield()
      for await _ in gate {}
      return .delivered(reference: nil)
    }
    let lane = lane(provider, outbox)
    let task = Task { await lane.run() }
    var starts = started.makeAsyncIterator()
    _ = await starts.next()
    lane.stop()
    opened.finish()
    try await within { await task.value }
    #expect(provider.sent.count == 1)
    #expect(outbox.history.count == 1)
  }

  @Test func `cancels what is under way when its task is cancelled`() async throws {
    let outbox = MemoryOutbox(now: now)
    for number in 0..<30 { outbox.add(.sample(number, to: "D\(number)")) }
    let (started, signal) = AsyncStream<Void>.makeStream()
    let (never, _) = AsyncStream<Void>.makeStream()
    let provider = ScriptedProvider(capacity: 2) { _, _ in
      signal.yield()
      for await _ in never {}
      return .unavailable(after: nil, reason: "cancelled")
    }
    let lane = lane(provider, outbox)
    let task = Task { await lane.run() }
    var starts = started.makeAsyncIterator()
    _ = await starts.next()
    _ = await starts.next()
    task.cancel()
    try await within { await task.value }
    #expect(provider.sent.count == 2)
    #expect(outbox.history.count == 2)
  }

  @Test func `does not send a job twice at once when its lease ends too early`() async throws {
    let outbox = MemoryOutbox(now: now)
    outbox.add(.sample())
    let (started, signal) = AsyncStream<Void>.makeStream()
    let (gate, opened) = AsyncStream<Void>.makeStream()
    let provider = ScriptedProvider { _, _ in
      signal.yield()
      for await _ in gate {}
      return .delivered(reference: nil)
    }
    let start = clock.date
    try await running(lane(provider, outbox)) {
      var starts = started.makeAsyncIterator()
      _ = await starts.next()
      while clock.date < start + 600 { try await clock.advanceToNext() }
      opened.finish()
      try await outbox.settled(1)
    }
    #expect(provider.sent.count == 1)
    #expect(outbox.history.count == 1)
  }

  @Test func `keeps silent pushes within three an hour and says so`() async throws {
    let outbox = MemoryOutbox(now: now)
    let messages = (0..<5).map {
      PushMessage($0, NotificationMessage("\($0)"), richType: "img", form: .silent)
    }
    for number in 0..<5 { outbox.add(.sample(number, message: messages[number])) }
    outbox.add(.sample(9))
    // The first four go at once, in any order: the alert among them is to be sent again.
    let provider = ScriptedProvider(limitsSilentPushes: true) { push, call in
      push.text.kind == .alert && call <= 4
        ? .retry(after: nil, reason: "busy") : .delivered(reference: nil)
    }
    let start = clock.date
    try await running(lane(provider, outbox)) {
      try await outbox.settled(6)
      let held = Settlement.Outcome.released(
        until: start + 3600, reason: "Held back: " + SilentPushBudget.reason)
      #expect(outbox.history.contains { $0.outcome == held })
      while provider.sent.count < 6 { try await clock.advanceToNext() }
      try await outbox.settled(9)
    }
    #expect(clock.date >= start + 3600)
    let merged = try #require(PushMessage.merging([messages[4], messages[3]]))
    let sent = provider.sent.filter { $0.text == PayloadTemplate.apple(merged).payload() }
    #expect(sent.map(\.id) == [OutgoingPush.sample(3).id, OutgoingPush.sample(3).id])
    let notes = outbox.outcomes.compactMap {
      if case .delivered(.alert, _, let note?) = $0 { note.prefix(6) } else { nil }
    }
    #expect(notes == ["Sent a", "Merged"])
  }
}
