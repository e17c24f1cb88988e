import FoundationEssentials
import Primitives
import RichPushAPI
import Synchronization

/// The last errors and warnings of the log, in memory; equal ones are one with their number.
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
      log.write(entry)
    }
  }

  private func keep(_ entry: LogEntry) {
    guard entry.level >= .warning else { return }
    let text = String(entry.text.printable.prefix(Self.length))
    kept.withLock { kept in
      var count = 1 + entry.omitted
      if let same = kept.firstIndex(where: { $0.area == entry.area && $0.text == text }) {
        count += kept.remove(at: same).count
      } else if kept.count == Self.limit {
        kept.removeFirst()
      }
      kept.append(
        StatusReport.LogLine(
          time: now(), level: entry.level.name, area: entry.area, text: text, count: count))
    }
  }
}
