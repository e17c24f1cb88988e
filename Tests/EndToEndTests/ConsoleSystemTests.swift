import Foundation
import Testing

/// The console in Debian's Chromium: Console/console.py, which one browser runs from beginning to end.
@Suite(.timeLimit(.minutes(30))) struct ConsoleSystemTests {
  @Test func `people upload, compose, send, follow and withdraw, by mouse and keyboard`()
    async throws
  {
    try await RunningServer.lend(flags: [
      "--demo", "--compat", "webhooks", "--approve-above", "200",
      // A minute in which hardly any check runs.
      "--quiet-hours", "03:33-03:34",
    ]) { scratch in
      let manifest = "plugins/video/plugin.json"
      try scratch.drop(Package.bytes(manifest), as: manifest)
    } to: { server in
      try await Self.check(server)
      #expect(!server.log.contains("There is no view"), "\(server.log)")
    }
  }

  @Test func `pages to which --cors-origin opens the API cannot use a session either`() async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--cors-origin", "*"]) { server in
      try await Self.check(server, only: "requests_that_a_foreign_page_forges")
    }
  }

  /// Runs the checks whose names begin with `only`.
  private static func check(_ server: RunningServer, only: String = "") async throws {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium"),
      "make test-system installs chromium")
    let result = try await Tool.run(
      "python",
      [
        Package.root.appending(path: "Tests/EndToEndTests/Console/console.py").path,
        server.endpoint.absoluteString, try Package.program("richpush").path,
        server.scratch.folder.path + "/assets", Package.root.path + "/assets",
      ],
      environment: ["HOME": server.scratch.folder.path, "ONLY": only])
    let output = result.output.joined(separator: "\n")
    #expect(result.exitCode == 0, "\(output)\n\(result.errors)")
  }
}
