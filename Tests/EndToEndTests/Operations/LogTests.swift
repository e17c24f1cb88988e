import Foundation
import Testing
import Waiting

/// The log on standard error.
@Suite(.timeLimit(.minutes(1))) struct LogTests {
  private func start(_ flags: [String], through wrapper: [String] = []) async throws -> String {
    var log = ""
    try await RunningServer.lend(flags: ["--demo"] + flags, through: wrapper) { server in
      try await eventually("it logs") { server.log.contains("sandbox") }
      try await server.expectHealthy()
      log = server.log
    }
    return log
  }

  @Test func `each line has a time and a level`() async throws {
    let lines = try await start([]).split(separator: "\n")
    for line in lines {
      #expect(
        line.contains(
          #/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z (error|warning|notice|info) [a-z]/#),
        "\(line)")
    }
    #expect(lines.contains { $0.contains(" info sandbox: img: ") })
  }

  @Test func `less important lines are left out, and JSON is an object on each line`()
    async throws
  {
    let lines = try await start(["--log-level", "notice", "--log-format", "json"])
      .split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines {
      let object = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any]
      #expect(object?["area"] is String && object?["message"] is String)
      #expect(["error", "warning", "notice"].contains(object?["level"] as? String))
    }
  }

  @Test func `in the journal a line begins with its priority`() async throws {
    // The shell tells the server which stream its standard error is, as systemd does.
    let script = #"export JOURNAL_STREAM=$(stat -L -c '%d:%i' /dev/stderr); exec "$0" "$@""#
    let lines = try await start([], through: ["/bin/sh", "-c", script]).split(separator: "\n")
    #expect(!lines.isEmpty)
    for line in lines { #expect(line.contains(#/^<[3-6]>[a-z]/#), "\(line)") }
  }
}
