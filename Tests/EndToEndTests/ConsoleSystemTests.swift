import Foundation
import Testing

/// The console in Debian's Chromium: Console/console.py, which one browser runs from beginning to end.
@Suite(.timeLimit(.minutes(4))) struct ConsoleSystemTests {
  @Test func `people upload, compose, send, follow and withdraw, by mouse and keyboard`()
    async throws
  {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium"),
      "make test-system installs chromium")
    try await RunningServer.lend { server in
      // RICHPUSH_SCREENSHOTS=docs/console makes the pictures of docs/CONSOLE.md.
      let pictures = ProcessInfo.processInfo.environment["RICHPUSH_SCREENSHOTS"]
      let result = try await Tool.run(
        "python",
        [
          Package.root.appending(path: "Tests/EndToEndTests/Console/console.py").path,
          server.endpoint.absoluteString, try Package.program("richpush").path,
          server.scratch.folder.path + "/assets", Package.root.path + "/assets",
        ] + (pictures.map { [Package.root.appending(path: $0).path] } ?? []),
        environment: ["HOME": server.scratch.folder.path])
      let output = result.output.joined(separator: "\n")
      #expect(result.exitCode == 0, "\(output)\n\(result.errors)")
    }
  }
}
