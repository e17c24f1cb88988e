import FoundationEssentials
import Primitives
import RichPushAPI
import Synchronization

/// The last errors and warnings of the log, in memory.
final class RecentErrors: Sendable {
  private let kept = Mutex<[StatusReport.LogLine]>([])
  private let now: @Sendable () -> Date
  private static let limit = 50
  /// The longest text, in characters.
  private static let length = 1000

  init(now: @escaping @Sendable () -> Date = { Date() }) { self.now = now }

  /// The lines, newest first.
  var lines: [StatusReport.LogLine] { kept.withLock { $0.reversed() } }

  /// A log that keeps what is written to it, and passes it on.
  func recording(_ log: Log) -> Log {
    Log { [self] entry in
      keep(entry)
      log(
        entry.level, entry.area, entry.text, request: entry.request,
        notification: entry.notification)
    }
  }

  private func keep(_ entry: LogEntry) {
    guard entry.level >= .warning else { return }
    let line = StatusReport.LogLine(
      time: now(), level: entry.level.name, area: entry.area,
      text: String(entry.text.printable.prefix(Self.length)))
    kept.withLock { kept in
      if kept.count == Self.limit { kept.removeFirst() }
      kept.append(line)
    }
  }
}
