import Synchronization

/// Lets so many passwords be hashed at a time as there are processors, those of addresses that have
/// failed lately one at a time and after the others, and no more wait than can be done soon.
final class HashGate: Sendable {
  private struct Line {
    var trusted: [CheckedContinuation<Void, Never>] = []
    var suspects: [CheckedContinuation<Void, Never>] = []
    var running = 0
    var isSuspectRunning = false
    /// What a hash took lately.
    var cost = Duration.milliseconds(50)

    /// Begins what may run now.
    mutating func takeNext(_ lanes: Int) -> CheckedContinuation<Void, Never>? {
      guard running < lanes else { return nil }
      if !trusted.isEmpty {
        running += 1
        return trusted.removeFirst()
      }
      guard !isSuspectRunning, !suspects.isEmpty else { return nil }
      running += 1
      isSuspectRunning = true
      return suspects.removeFirst()
    }
  }

  private let line = Mutex(Line())
  private let lanes: Int
  /// Whoever would wait longer is told to come back.
  private static let longestWait = Duration.seconds(20)

  init(lanes: Int) { self.lanes = max(1, lanes) }

  /// How many wait.
  var waiting: Int { line.withLock { $0.trusted.count + $0.suspects.count } }

  /// Waits for a turn, which ``leave(isSuspect:after:)`` ends.
  ///
  /// - Returns: nil when it is there; after how many seconds to try again when too many wait.
  func enter(isSuspect: Bool) async -> Int? {
    let wait = line.withLock { line in
      let ahead = isSuspect ? line.trusted.count + line.suspects.count * lanes : line.trusted.count
      return line.cost * (ahead / lanes)
    }
    guard wait < Self.longestWait else { return Int(wait / .seconds(1)) }
    await withCheckedContinuation { turn in
      let next = line.withLock { line in
        if isSuspect { line.suspects.append(turn) } else { line.trusted.append(turn) }
        return line.takeNext(lanes)
      }
      next?.resume()
    }
    return nil
  }

  /// Ends a turn that took so long.
  func leave(isSuspect: Bool, after time: Duration) {
    let next = line.withLock { line in
      line.running -= 1
      if isSuspect { line.isSuspectRunning = false }
      line.cost = (line.cost * 7 + time) / 8
      return line.takeNext(lanes)
    }
    next?.resume()
  }
}
