import Foundation
import StandIns
import Store
import Synchronization
import TestSupport
import Testing
import Waiting

@testable import Origin

/// What is wrong, as the log, the metrics and the operator's page have it.
@Suite(.timeLimit(.minutes(1))) struct ConditionsTests {
  @Test func `each is logged when it begins and when it ends, and keeps its beginning`() {
    let (log, clock) = (LogLines(), ManualClock())
    let conditions = Conditions(log: log.log, now: { clock.date })
    conditions.set(.diskLow, nil)
    #expect(log.all.isEmpty && conditions.all.isEmpty)
    let begin = clock.date
    conditions.set(.diskLow, "9 MB are free")
    clock.advance(by: .seconds(60))
    conditions.set(.diskLow, "8 MB are free")
    conditions.set(.databaseLocked, "sqlite3 has it")
    #expect(log.all == ["9 MB are free", "sqlite3 has it"])
    #expect(conditions.all.map(\.sentence) == ["8 MB are free", "sqlite3 has it"])
    #expect(conditions.all.map(\.since) == [begin, clock.date])
    #expect(conditions.has(.diskLow) && !conditions.has(.diskFull))
    conditions.set(.diskLow, nil)
    conditions.set(.diskLow, nil)
    #expect(log.all.count == 3 && log.contain("space again"))
    #expect(conditions.all.map(\.code) == [.databaseLocked])
  }

  @Test func `each has a metric, and an alert in the rules`() async throws {
    let rules = try String(
      contentsOf: URL(filePath: #filePath).appending(
        path: "../../../packaging/monitoring/richpush.rules.yml"
      ).standardized, encoding: .utf8)
    try await TestServer.test { server in
      let page = try await server.execute("GET", "/metrics").text
      for code in Condition.Code.allCases {
        #expect(page.contains("\nrichpush_condition{code=\"\(code.rawValue)\"} "), "\(code)")
        #expect(rules.contains("richpush_condition{code=\"\(code.rawValue)\"} == 1"), "\(code)")
      }
      server.origin.routes.conditions.set(.diskFull, "full")
      let full = try await server.execute("GET", "/metrics").text
      #expect(full.contains("\nrichpush_condition{code=\"disk.full\"} 1\n"))
    }
  }
}

/// A wall clock that is set.
@Suite(.timeLimit(.minutes(1))) struct ClockMonitorTests {
  /// A monitor with a steady clock, and a wall clock that is so far ahead of it.
  private final class Clocks: Sendable {
    let (log, steady, wall) = (LogLines(), ManualClock(), ManualClock())
    let scratch: Scratch
    let monitor: ClockMonitor
    let conditions: Conditions

    init() throws {
      scratch = try Scratch()
      let conditions = Conditions(log: log.log, now: { [steady] in steady.date })
      monitor = ClockMonitor(
        store: try scratch.store(), conditions: conditions, clock: steady,
        now: { [wall] in wall.date })
      self.conditions = conditions
    }

    /// Lets time pass, of which the wall clock shows `shown` seconds.
    func pass(_ seconds: Double, shown: Double) {
      steady.advance(by: .seconds(seconds))
      wall.advance(by: .seconds(shown))
      monitor.check()
    }
  }

  @Test func `is noticed in both directions, with what follows, and forgotten after an hour`()
    throws
  {
    let clocks = try Clocks()
    // Corrections by the usual programs, and a machine that was suspended.
    for (seconds, shown) in [(1.0, 1.0005), (1, 0.9995), (1, 3), (1, 0), (86_400, 86_400)] {
      clocks.pass(seconds, shown: shown)
    }
    #expect(clocks.monitor.jumps == 0 && clocks.log.all.isEmpty, "\(clocks.log.all)")
    clocks.pass(1, shown: 1 - 7500)
    #expect(clocks.monitor.jumps == 1)
    #expect(clocks.log.contain("the clock was set back by 2 h 5 min: what is scheduled"))
    #expect(clocks.log.contain("timedatectl"))
    #expect(clocks.conditions.has(.clockJumped))
    clocks.pass(1, shown: 31)
    #expect(clocks.monitor.jumps == 2 && clocks.log.all.count == 2)
    #expect(clocks.log.contain("the clock was set forward by 30 s: what was scheduled"))
    clocks.pass(3599, shown: 3599)
    #expect(clocks.conditions.has(.clockJumped))
    clocks.pass(1, shown: 1)
    #expect(!clocks.conditions.has(.clockJumped) && clocks.monitor.jumps == 2)
  }

  @Test func `a database in the data folder has no clock of its own`() async throws {
    let clocks = try Clocks()
    await clocks.monitor.compare()
    #expect(clocks.monitor.databaseAhead == nil && clocks.conditions.all.isEmpty)
  }
}

/// A machine whose clock is not that of the PostgreSQL server.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(2)))
struct DatabaseClockSystemTests {
  @Test func `is noticed, and that it is right again`() async throws {
    let (database, scratch, steady) = (try PostgresServer(), try Scratch(), ManualClock())
    let log = LogLines()
    let ahead = Mutex(0.0)
    let store = try Store(
      folder: scratch.path + "/data", database: database.url,
      now: { Date() + ahead.withLock { $0 } })
    let conditions = Conditions(log: log.log)
    let monitor = ClockMonitor(store: store, conditions: conditions, clock: steady)
    await monitor.compare()
    #expect(monitor.databaseAhead.map { abs($0) < 5 } == true && conditions.all.isEmpty)
    ahead.withLock { $0 = 3600 }
    await monitor.compare()
    #expect(conditions.all.isEmpty, "it has just been compared")
    steady.advance(by: .seconds(60))
    await monitor.compare()
    #expect(monitor.databaseAhead.map { abs($0 + 3600) < 5 } == true)
    #expect(log.contain(" ahead of that of the PostgreSQL server"), "\(log.all)")
    #expect(conditions.all.map(\.code) == [.clockDiffers])
    ahead.withLock { $0 = 0 }
    steady.advance(by: .seconds(60))
    await monitor.compare()
    #expect(conditions.all.isEmpty && log.contain("agree again"))
  }
}
