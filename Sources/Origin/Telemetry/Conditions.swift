package import FoundationEssentials
import Primitives
import Synchronization

/// Something that is wrong with the machine or what the server needs, about which an operator must do something.
package struct Condition: Sendable, Equatable {
  /// What is wrong: the label `code` of the metric `richpush_condition`, and a code of `GET /api/status`.
  package enum Code: String, Sendable, CaseIterable {
    /// A disk will be full soon.
    case diskLow = "disk.low"
    /// Nothing new is taken, since a disk is full.
    case diskFull = "disk.full"
    /// The wall clock was set.
    case clockJumped = "clock.jumped"
    /// The clocks of this machine and of the PostgreSQL server differ.
    case clockDiffers = "clock.differs"
    /// Nobody can sign in at the provider of OpenID Connect.
    case providerUnusable = "provider.unusable"
    /// Another process or session keeps the database from being changed.
    case databaseLocked = "database.locked"
    /// The database does not respond.
    case databaseAway = "database.away"
    /// The disk of the PostgreSQL server is full.
    case databaseFull = "database.full"
    /// The database has not what was written to it.
    case databaseDamaged = "database.damaged"
  }

  /// What is wrong.
  package let code: Code
  /// When that was noticed.
  package let since: Date
  /// What is wrong and what to do, for an operator.
  package let sentence: String
  /// What it is about: the folder on a disk, the process with the lock, or the provider; nil if there is only one.
  var name: String?
  /// By how many seconds a clock was set forward, or is ahead.
  var count: Int?
  /// What another program has said about it.
  var reason: String?
}

/// What is wrong now; the log has each when it begins and when it ends.
package final class Conditions: Sendable {
  private let current = Mutex<[Condition.Code: Condition]>([:])
  private let log: Log
  private let now: @Sendable () -> Date

  /// Nothing is wrong.
  init(log: Log, now: @escaping @Sendable () -> Date = { Date() }) {
    (self.log, self.now) = (log, now)
  }

  /// All that is wrong, the most serious last.
  package var all: [Condition] {
    let current = current.withLock { $0 }
    return Condition.Code.allCases.compactMap { current[$0] }
  }

  /// Whether something is wrong.
  func has(_ code: Condition.Code) -> Bool { current.withLock { $0[code] != nil } }

  /// Records what is wrong, or with nil that it is not any more; the sentence may change meanwhile.
  func set(
    _ code: Condition.Code, _ sentence: String?, name: String? = nil, count: Int? = nil,
    reason: String? = nil
  ) {
    let time = now()
    let before = current.withLock { current in
      let before = current[code]
      current[code] = sentence.map {
        Condition(
          code: code, since: before?.since ?? time, sentence: $0, name: name, count: count,
          reason: reason)
      }
      return before
    }
    switch (before, sentence) {
    case (nil, let sentence?): log(code.level, code.area, sentence)
    case (_?, nil): log(.notice, code.area, code.end)
    default: break
    }
  }

  /// Records something that has happened, also if it has before.
  func begin(_ code: Condition.Code, _ sentence: String, count: Int? = nil) {
    current.withLock { $0[code] = nil }
    set(code, sentence, count: count)
  }
}

extension Condition.Code {
  /// How serious it is: an error or a warning.
  var level: LogEntry.Level {
    switch self {
    case .diskLow, .clockJumped, .clockDiffers: .warning
    case .diskFull, .providerUnusable, .databaseLocked, .databaseAway, .databaseFull,
      .databaseDamaged:
      .error
    }
  }

  /// The area of its lines in the log.
  var area: String {
    switch self {
    case .diskLow, .diskFull: "disk"
    case .clockJumped, .clockDiffers: "clock"
    case .providerUnusable: "sign-in"
    case .databaseLocked, .databaseAway, .databaseFull, .databaseDamaged: "store"
    }
  }

  /// What the log says when it is over.
  fileprivate var end: String {
    switch self {
    case .diskLow: "the disks have space again"
    case .diskFull: "there is space again: all is taken again"
    case .clockJumped: "the clock has not been set for an hour"
    case .clockDiffers: "the clocks of this machine and of the PostgreSQL server agree again"
    case .providerUnusable: "people can sign in at the provider of OpenID Connect again"
    case .databaseLocked: "the database can be changed again"
    case .databaseAway: "the database responds again"
    case .databaseFull: "the PostgreSQL server has space again"
    case .databaseDamaged: "the database is sound again"
    }
  }
}
