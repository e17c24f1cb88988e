import Foundation
import Testing

/// The page `/push/` and its worker in Debian's Chromium: push_page.py.
@Suite(.timeLimit(.minutes(5))) struct ChromiumPushSystemTests {
  @Test func `pushes are shown with title, texts and buttons, and a click leads where it should`()
    async throws
  {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium"),
      "make test-system installs chromium")
    let flags = ["--demo", "--push", "embedded,webpush", "--push-page"]
    try await RunningServer.lend(flags: flags) { server in
      let result = try await Tool.run(
        "python",
        [
          Package.root.appending(path: "Tests/EndToEndTests/Push/push_page.py").path,
          server.endpoint.absoluteString,
        ],
        environment: ["HOME": server.scratch.folder.path], limit: .seconds(250))
      let output = result.output.joined(separator: "\n")
      #expect(result.exitCode == 0, "\(output)\n\(result.errors)")
    }
  }
}
