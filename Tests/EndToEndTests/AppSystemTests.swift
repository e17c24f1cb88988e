import Foundation
import Testing

/// The recipients' app in real browsers, which are offline, against servers that are no demonstrations: the files of `App`.
@Suite(.timeLimit(.minutes(30))) struct AppSystemTests {
  @Test(arguments: [
    ["pairing", "install", "demonstration", "inbox", "settings", "worker"], ["access", "away"],
  ])
  func `a phone with Chromium is paired, receives, shows, answers and forgets`(
    parts: [String]
  ) async throws {
    try await Self.check("chromium", "/usr/bin/chromium", parts)
  }

  @Test func `Firefox gets pushes from its push service`() async throws {
    try await Self.check("firefox", "/usr/bin/firefox-esr")
  }

  @Test func `WebKit shows it on a screen of a phone's size, also without the server`()
    async throws
  {
    try await Self.check("webkit", "/usr/bin/WebKitWebDriver")
  }

  /// Runs the checks of a browser whose names have `only` in them.
  static func check(
    _ browser: String, _ program: String, _ parts: [String] = [], only: String = ""
  ) async throws {
    try #require(
      FileManager.default.isExecutableFile(atPath: program), "make test-system installs \(program)")
    let script = Package.root.appending(path: "Tests/EndToEndTests/App/app_\(browser).py").path
    let programs = try Package.program("richpush").deletingLastPathComponent().path
    let scratch = try Scratch()
    let result = try await Tool.run(
      "python", [script, programs] + parts,
      environment: ["HOME": scratch.folder.path, "ONLY": only])
    let output = result.output.joined(separator: "\n")
    #expect(result.exitCode == 0, "\(output)\n\(result.errors)")
  }
}

/// Web Push to a real browser, over a crash of the server.
@Suite(.serialized, .timeLimit(.minutes(30))) struct AppCrashSoakTests {
  @Test(arguments: 1...Soak.amount(short: 1, long: 10))
  func `a browser gets the push after a crash, and shows it`(run: Int) async throws {
    try await AppSystemTests.check("firefox", "/usr/bin/firefox-esr", only: "after_a_crash")
  }
}
