import Foundation
import Testing

/// The button of `subscribe.js` on another site, in Debian's Chromium: subscribe_button.py.
@Suite(.timeLimit(.minutes(30))) struct SubscribeButtonSystemTests {
  @Test func `a site's visitors sign up and end it, and its worker shows what is sent`()
    async throws
  {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/chromium"),
      "make test-system installs chromium")
    let site = try ReservedPort()
    let flags = [
      "--demo", "--push", "embedded,webpush", "--subjects", "news=News", "--sign-up", "open",
      "--cors-origin", "http://127.0.0.1:\(site.number)",
    ]
    try await RunningServer.lend(flags: flags) { server in
      let file = { (path: String) in Package.root.appending(path: path).path }
      let result = try await Tool.run(
        "python",
        [
          file("Tests/EndToEndTests/Push/subscribe_button.py"), server.endpoint.absoluteString,
          "\(site.number)", file("Sources/WebApp/Files/richpush-worker.js"),
        ],
        environment: ["HOME": server.scratch.folder.path])
      #expect(result.exitCode == 0, "\(result.output.joined(separator: "\n"))\n\(result.errors)")
    }
  }
}
