import FoundationEssentials
import Primitives
import Testing

@testable import Origin

@Suite struct OperatorLogTests {
  private static let time = Date(timeIntervalSince1970: 1_764_096_000.25)

  private func line(
    _ entry: LogEntry, _ format: OperatorLog.Format = .text, environment: [String: String] = [:]
  ) -> String {
    OperatorLog(level: "info", format: format, environment: environment)
      .line(of: entry, at: Self.time)
  }

  @Test func `a line has time, level, area and the IDs`() {
    #expect(
      line(LogEntry(level: .error, area: "http", text: "GET /: 500", request: "r1"))
        == "2025-11-25T18:40:00.250Z error http: GET /: 500 (request r1)")
    #expect(
      line(LogEntry(level: .notice, area: "push", text: "pushes wait", notification: "7"))
        == "2025-11-25T18:40:00.250Z notice push: pushes wait (notification 7)")
  }

  @Test func `a control character does not begin another line`() {
    #expect(
      line(LogEntry(level: .info, area: "assets", text: "a\nb\u{1B}\u{202E}"))
        == #"2025-11-25T18:40:00.250Z info assets: a\u{A}b\u{1B}\u{202E}"#)
    #expect(
      line(LogEntry(level: .info, area: "assets", text: "\u{9B}\u{202E}"), .json)
        .contains(#""message":"\u009b\u202e""#))
  }

  @Test func `JSON has a member for each of them`() throws {
    let entry = LogEntry(
      level: .warning, area: "plugin", text: "a \"b\"\n", request: nil, notification: "3")
    #expect(
      line(entry, .json)
        == #"{"area":"plugin","level":"warning","message":"a \"b\"\n","notification":"3","time":"2025-11-25T18:40:00.250Z"}"#
    )
  }

  @Test func `the levels are those of syslog`() {
    #expect(LogEntry.Level.allCases.map(\.rawValue) == [3, 4, 5, 6])
    #expect(LogEntry.Level.error > .warning && LogEntry.Level.notice > .info)
    #expect(OperatorLog.levels == ["error", "warning", "notice", "info"])
  }
}
