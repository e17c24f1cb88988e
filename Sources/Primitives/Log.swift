/// A message for the operator.
package struct LogEntry: Sendable {
  /// How important it is; the numbers are syslog's (RFC 5424, section 6.2.1).
  package enum Level: Int, Sendable, CaseIterable, Comparable {
    /// Something is lost or does not work.
    case error = 3
    /// Something needs attention, or will soon.
    case warning = 4
    /// The operator should know, but need not act.
    case notice = 5
    /// What happens in normal operation.
    case info = 6

    /// The name in the log and of `--log-level`.
    package var name: String { "\(self)" }

    package static func < (first: Level, second: Level) -> Bool { first.rawValue > second.rawValue }
  }

  /// How important it is.
  package let level: Level
  /// The part of the server, such as `push`.
  package let area: String
  /// One line; it may begin with the area.
  package let text: String
  /// The ID of the request that it is about.
  package let request: String?
  /// The ID of the notification that it is about.
  package let notification: String?
  /// How many entries like it were left out since the last one (``Log/limited(clock:)``).
  package var omitted = 0

  package init(
    level: Level, area: String, text: String, request: String? = nil, notification: String? = nil
  ) {
    (self.level, self.area, self.text) = (level, area, text)
    (self.request, self.notification) = (request, notification)
  }
}

/// The operator's log, as the parts of the server see it.
package struct Log: Sendable {
  private let sink: @Sendable (LogEntry) -> Void

  /// A log that passes each entry to `sink`.
  package init(_ sink: @escaping @Sendable (LogEntry) -> Void) { self.sink = sink }

  /// Discards everything.
  package static let silent = Log { _ in }

  /// Writes an entry.
  package func callAsFunction(
    _ level: LogEntry.Level, _ area: String, _ text: String, request: String? = nil,
    notification: String? = nil
  ) {
    write(
      LogEntry(
        level: level, area: area, text: text, request: request, notification: notification))
  }

  /// Writes an entry as it is.
  package func write(_ entry: LogEntry) { sink(entry) }
}
