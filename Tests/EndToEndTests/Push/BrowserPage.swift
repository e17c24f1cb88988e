import Foundation
import RichPushClient
import StandIns
import Testing

/// The page `/push/` of a real server in Debian's Firefox, headless and offline.
struct BrowserPage {
  let firefox: StandIn

  /// Runs `body` with a server and a browser on its page.
  static func lend(to body: (RunningServer, BrowserPage) async throws -> Void) async throws {
    try #require(
      FileManager.default.isExecutableFile(atPath: "/usr/bin/firefox-esr"),
      "make test-system installs firefox-esr")
    let firefox = try StandIn("firefox")
    try await RunningServer.lend(
      flags: ["--demo", "--push", "embedded,webpush", "--push-page"],
      prepare: { scratch in
        let manifest = "plugins/video/plugin.json"
        try scratch.drop(Package.bytes(manifest), as: manifest)
      }
    ) { server in
      let opened = try firefox.tell(["do": "open", "url": "\(server.endpoint)/push/"])
      #expect(opened["error"] == nil, "\(opened)")
      try await body(server, BrowserPage(firefox: firefox))
      try firefox.tell(["do": "reset"])
    }
  }

  /// The JSON of what a script in the page gives.
  func value(_ script: String) throws -> JSONValue {
    let answer = try firefox.tell(["do": "evaluate", "script": script])
    try #require(answer["error"] == nil, "\(script): \(answer)")
    let json = try JSONSerialization.data(
      withJSONObject: answer["value"] ?? NSNull(), options: .fragmentsAllowed)
    return try JSONDecoder().decode(JSONValue.self, from: json)
  }

  /// What the page says.
  func status() throws -> String {
    try value("document.getElementById('status').textContent").text ?? ""
  }

  /// Fills the form in, and sends it.
  func signIn(_ name: String, _ password: String) throws {
    _ = try value(
      """
      (() => { document.getElementById('name').value = '\(name)';
        document.getElementById('password').value = '\(password)';
        document.querySelector('#sign-in button').click(); })()
      """)
  }
}
