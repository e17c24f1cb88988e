import Foundation
import RichPushClient
import StandIns
import Synchronization
import Testing
import Waiting

/// What a content team plans, on a server that is killed meanwhile.
@Suite(.timeLimit(.minutes(10))) struct PlanKillSystemTests {
  private static let readers = (10..<50).map { "reader\($0)" }
  private static let perMinute = 15
  private static let start = Date(timeIntervalSince1970: 1_900_000_000)

  /// What publishers were told is done.
  private final class Progress: Sendable {
    private let state = Mutex(Acknowledged())
    var acknowledged: Acknowledged { state.withLock { $0 } }

    func add(_ change: (inout Acknowledged) -> Void) {
      state.withLock {
        change(&$0)
        $0.steps += 1
      }
    }
  }

  private struct Acknowledged {
    var steps = 0
    var imported: Int?
    var segments: Set<String> = []
    var drafts: Set<String> = []
    var notifications: Set<Int> = []
  }

  @Test(arguments: PostgresServer.isInstalled ? [false, true] : [false])
  func `nothing is lost and nothing done twice`(onPostgres: Bool) async throws {
    let database = onPostgres ? try PostgresServer() : nil
    let clock = try await ServerClock(Self.start.ISO8601Format())
    let phones = try StandIn("hub", environment: clock.environment)
    try await RunningServer.lend(
      flags: (database.map { ["--database", $0.url] } ?? [])
        + ["--demo", "--push", "webhook", "--approve-above", "30", "--most-a-day", "20"],
      environment: clock.environment(pushingTo: phones)
    ) { server in
      for name in Self.readers {
        _ = try await server.client(name).register(handle: String(name.suffix(2)))
      }
      let progress = Progress()
      let rounds = 0..<4
      // It is killed after each second step, whatever it does then.
      async let planned: Void = plan(rounds, on: server, progress)
      for kill in 1...8 {
        try await eventually("\(2 * kill) steps are acknowledged") {
          progress.acknowledged.steps >= 2 * kill
        }
        try await server.restart(by: SIGKILL)
      }
      try await planned
      // Each minute some more get it, also when it is killed in between.
      for minute in 1...4 {
        try clock.set(Self.start + Double(120 * minute))
        if minute % 2 == 0 { try await server.restart(by: SIGKILL) }
      }
      let known = progress.acknowledged
      let shop = server.client("shop")
      for id in known.notifications {
        try await eventually("all of \(id) has gone") {
          try await shop.details(id).counts.map { $0.queued == 0 && $0.sent == 40 } == true
        }
      }
      let delivered = try phones.tell(["do": "delivered"])["pushes"] as? [[String]] ?? []
      // A push whose result was lost comes again, with its id.
      let woken = Dictionary(
        delivered.map { ($0[0], $0[1] + ($0[2].firstMatch(of: /Round \d/)?.output ?? "")) }
      ) { first, _ in first }
      #expect(woken.count == rounds.count * Self.readers.count)
      #expect(Set(woken.values).count == woken.count)

      #expect(known.imported == rounds.last)
      for name in Self.readers {
        #expect(try await shop.attributes(of: name) == ["plan": "\(rounds.count - 1)"])
      }
      #expect(Set(try await shop.segments().segments.map(\.name)).isSuperset(of: known.segments))
      let drafts = try await shop.drafts().drafts.map(\.name)
      #expect(Set(drafts).isSuperset(of: known.drafts))
      #expect(try await shop.sent().notifications.count == rounds.count)
    }
  }

  /// Does all of it, each step until it is acknowledged.
  private func plan(
    _ rounds: Range<Int>, on server: RunningServer, _ progress: Progress
  ) async throws {
    let (shop, mia) = (server.client("shop"), server.client("mia"))
    func step<Value: Sendable>(
      _ body: () async throws -> Value, then note: (inout Acknowledged, Value) -> Void
    ) async throws {
      let value = try await insistently(body)
      progress.add { note(&$0, value) }
    }
    for round in rounds {
      let (plan, name) = ("\(round)", "plan-\(round)")
      let table = (["username,plan"] + Self.readers.map { "\($0),\(plan)" }).joined(separator: "\n")
      try await step {
        try await shop.importAttributes(csv: Data(table.utf8))
      } then: { known, report in
        if report.refused == 0 { known.imported = round }
      }
      var segment = Segment()
      segment.attributes = ["plan": plan]
      try await step { [segment] in
        try await shop.saveSegment(name, segment)
      } then: { known, saved in
        known.segments.insert(saved.name)
      }
      try await step {
        let draft = NewDraft(.object(["message": .string("Half of it")]), name: name)
        return try await mia.addDraft(draft).name
      } then: { known, name in
        known.drafts.insert(name)
      }
      var new = NewNotification.logo(to: "nobody", "Round \(round)")
      (new.audience, new.perMinute, new.idempotencyKey) = (.segment(name), Self.perMinute, name)
      try await step { [new] in
        try await shop.create(new).id
      } then: { known, id in
        known.notifications.insert(id)
      }
      let id = progress.acknowledged.notifications.max() ?? 0
      try await step {
        let approval = try await mia.details(id).approval
        guard approval?.state == .awaiting, let version = approval?.version else { return }
        try await mia.decide(id, .approving(version: version))
      } then: { _, _ in
      }
    }
  }

  /// Repeats what a server did not answer.
  private func insistently<Value: Sendable>(
    _ body: () async throws -> Value
  ) async throws -> Value {
    while true {
      do { return try await body() } catch let error as RichPushError where error.status != nil {
        throw error
      } catch { await Task.yield() }
    }
  }
}
