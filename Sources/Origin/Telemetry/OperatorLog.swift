import FoundationEssentials
import Glibc
package import Primitives
import RichPushAPI

/// Writes the operator's log to standard error: one system call per entry, so that lines do not mix.
package struct OperatorLog: Sendable {
  /// How an entry is written.
  package enum Format: String, Sendable, CaseIterable {
    /// `2026-11-25T18:40:00.123Z warning push: apns: …`
    case text
    /// An object of JSON on each line.
    case json
  }

  private let level: LogEntry.Level
  private let format: Format
  /// Whether the journal receives the lines: it knows the time, and reads the level from a prefix.
  private let isJournal: Bool

  /// The names of the levels, the most important first.
  package static let levels = LogEntry.Level.allCases.map(\.name)

  /// A log of the entries that are at least as important as `level`, one of ``levels``.
  package init(level: String, format: Format, environment: [String: String]) {
    self.level = LogEntry.Level.allCases.first { $0.name == level } ?? .info
    self.format = format
    isJournal = environment["JOURNAL_STREAM"].map { $0 == Self.standardErrorStream } ?? false
  }

  /// The log, for the parts of the server.
  package var log: Log {
    Log { [self] entry in
      guard entry.level >= level else { return }
      var line = line(of: entry, at: Date()) + "\n"
      line.withUTF8 { bytes in _ = write(STDERR_FILENO, bytes.baseAddress, bytes.count) }
    }
  }

  /// Logs an error of the command itself.
  package func report(_ text: String) { log(.error, "config", text) }

  /// The line of an entry, without its end.
  func line(of entry: LogEntry, at time: Date) -> String {
    let prefix = isJournal ? "<\(entry.level.rawValue)>" : ""
    let stamp = time.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
    if format == .json { return prefix + Self.json(entry, stamp) }
    let beginning = isJournal ? prefix : "\(stamp) \(entry.level.name) "
    let id = entry.request.map { " (request \($0))" } ?? ""
    let hasNotification =
      entry.notification.map { entry.text.contains("notification \($0)") } ?? true
    let notification = hasNotification ? "" : " (notification \(entry.notification ?? ""))"
    let omitted = entry.omitted > 0 ? " (\(entry.omitted) more left out)" : ""
    return beginning + ("\(entry.area): \(entry.text)" + id + notification + omitted).printable
  }

  private static func json(_ entry: LogEntry, _ stamp: String) -> String {
    struct Line: Encodable {
      let time, level, area, message: String
      let request, notification: String?
      let omitted: Int?
    }
    let line = Line(
      time: stamp, level: entry.level.name, area: entry.area, message: entry.text,
      request: entry.request, notification: entry.notification,
      omitted: entry.omitted > 0 ? entry.omitted : nil)
    return JSONCoding.text(line).printableJSON
  }

  /// The device and the inode of standard error, as in `JOURNAL_STREAM` (systemd.exec(5)).
  private static var standardErrorStream: String? {
    var status = stat()
    return fstat(STDERR_FILENO, &status) == 0 ? "\(status.st_dev):\(status.st_ino)" : nil
  }
}
