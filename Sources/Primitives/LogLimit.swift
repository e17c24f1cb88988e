import Synchronization

extension Log {
  /// This log for what anybody can cause: of what is important, it gets each text once in a minute, and at most
  /// 100 texts, with the number that was left out.
  package func limited(clock: any SteadyClock = ContinuousClock()) -> Log {
    let limit = LogLimit(clock: clock)
    return Log { entry in
      guard let omitted = limit.omitted(before: entry) else { return }
      var entry = entry
      entry.omitted = omitted
      write(entry)
    }
  }
}

private final class LogLimit: Sendable {
  private struct Line {
    /// When it was written.
    let time: ContinuousClock.Instant
    /// How often it was left out since.
    var omitted = 0
  }

  private static let period = Duration.seconds(60)
  private static let capacity = 100
  /// What all texts count as while there are too many.
  private static let others = ""

  private let clock: any SteadyClock
  private let lines = Mutex<[String: Line]>([:])

  init(clock: any SteadyClock) { self.clock = clock }

  /// How many entries like this one were left out; nil if this one is to be left out, too.
  func omitted(before entry: LogEntry) -> Int? {
    guard entry.level >= .notice else { return 0 }
    let now = clock.now
    var key = "\(entry.area) \(entry.text)"
    return lines.withLock { lines in
      if lines[key] == nil, lines.count >= Self.capacity {
        lines = lines.filter { now - $0.value.time < Self.period }
        if lines.count >= Self.capacity { key = Self.others }
      }
      if let line = lines[key], now - line.time < Self.period {
        lines[key]?.omitted += 1
        return nil
      }
      defer { lines[key] = Line(time: now) }
      return lines[key]?.omitted ?? 0
    }
  }
}
