import Foundation
import RichPushClient
import Testing

/// Thousands of files, brought in every way there is, while the server is killed again and again.
@Suite(.timeLimit(.minutes(60))) struct FolderSoakTests {
  private static let files = Soak.amount(short: 80, long: 10_000)
  private static let kills = Soak.amount(short: 2, long: 10)

  @Test func `the catalogue equals the folder, whatever way files come and servers die`()
    async throws
  {
    try await RunningServer.lend { server in
      let crowd = try await FileCrowd(count: Self.files, in: server.scratch)
      let killer = Task {
        for round in 0..<Self.kills {
          // Spread over the work: each kill waits until that much of the crowd has come.
          while crowd.arrived < Self.files * round / Self.kills, !Task.isCancelled {
            try await Task.sleep(for: .milliseconds(5))
          }
          try await server.restart(by: SIGKILL)
        }
      }
      try await crowd.come()
      try await killer.value
      try await expectEqual(server, crowd)
      let check = try await Child.run(
        "richpush", ["store", "check", "--data", server.scratch.folder.path + "/var"])
      #expect(check.exitCode == 0, "\(check.output.suffix(5)) \(check.errors)")
      let left = try FileManager.default.contentsOfDirectory(
        atPath: server.scratch.folder.path + "/var/tmp")
      #expect(left.filter { !$0.contains("plugin") && !$0.contains("worker") }.isEmpty, "\(left)")
    }
  }

  /// Waits for as long as the catalogue still moves; then it must be what the folder is.
  private func expectEqual(_ server: RunningServer, _ crowd: FileCrowd) async throws {
    let client = server.client("alice")
    let clock = ContinuousClock()
    var (last, since) = ([String](), clock.now)
    let expected = try await crowd.expected()
    while true {
      let assets = try await client.assets()
      let shown = assets.map {
        "\($0.richType)/\($0.name) \($0.state.rawValue) \($0.sha256 ?? "-")"
      }
      let wrong = assets.filter { expected["\($0.richType)/\($0.name)"]?.admits($0) != true }
      if wrong.isEmpty, assets.count == expected.count { return }
      if shown != last { (last, since) = (shown, clock.now) }
      guard clock.now - since < .seconds(60) else {
        let missing = Set(expected.keys).subtracting(assets.map { "\($0.richType)/\($0.name)" })
        Issue.record("wrong: \(wrong.prefix(5)), missing: \(missing.sorted().prefix(5))")
        return
      }
      try await Task.sleep(for: .milliseconds(500))
    }
  }
}
