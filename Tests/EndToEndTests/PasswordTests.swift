import Foundation
import RichPushClient
import Testing

/// How the commands learn a password, and who else does.
@Suite(.timeLimit(.minutes(5))) struct PasswordTests {
  private static let secret = "correct horse"

  /// A server without `--demo` that knows the publisher `shop`.
  private static func lend(to body: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.lend(
      flags: [],
      prepare: { scratch in
        let added = try await Child.run(
          "richpush",
          ["user", "add", "shop", "--role", "publisher", "--data", scratch.folder.path + "/var"],
          input: secret + "\n")
        try #require(added.exitCode == 0, "\(added.errors)")
      }, to: body)
  }

  @Test func `a password comes from the environment or from standard input, without a warning`()
    async throws
  {
    try await Self.lend { server in
      let words = ["asset", "list", "--user", "shop", "--server", server.endpoint.absoluteString]
      let fromVariable = try await Child.run(
        "richpush", words, environment: ["RICHPUSH_PASSWORD": Self.secret])
      #expect(fromVariable.exitCode == 0 && fromVariable.errors.isEmpty, "\(fromVariable.errors)")
      let piped = try await Child.run(
        "richpush", words + ["--password", "-"], input: Self.secret + "\n")
      #expect(piped.exitCode == 0 && piped.errors.isEmpty, "\(piped.errors)")
      let nothing = try await Child.run("richpush", words + ["--password", "-"], input: "")
      #expect(nothing.exitCode == 64 && nothing.errors.contains("standard input"))
      let dash = try await Child.run(
        "richpush", words, environment: ["RICHPUSH_PASSWORD": "-"], input: Self.secret + "\n")
      #expect(dash.exitCode == 77, "\(dash.errors)")
    }
  }

  @Test func `a password on the command line works, with a warning that does not repeat it`()
    async throws
  {
    try await Self.lend { server in
      let account = ["--user", "shop", "--server", server.endpoint.absoluteString]
      for flag in [["--password", Self.secret], ["--password=" + Self.secret]] {
        let result = try await Child.run("richpush", ["asset", "list"] + account + flag)
        #expect(result.exitCode == 0)
        #expect(result.errors.contains("RICHPUSH_PASSWORD"), "\(result.errors)")
        #expect(!result.errors.contains(Self.secret))
      }
    }
  }

  @Test func `a password is asked for once, however many assets are named`() async throws {
    try await Self.lend { server in
      let account = ["--user", "shop", "--server", server.endpoint.absoluteString]
      let shown = try await Child.run(
        "richpush",
        ["asset", "show", "img/logo.png", "img/beach.jpg", "--password", "-"] + account,
        input: Self.secret + "\n")
      #expect(shown.exitCode == 0, "\(shown.errors)")
    }
  }

  @Test(arguments: ["http://shop:hidden@127.0.0.1:1", "http://shop@127.0.0.1:1"])
  func `a password in the server's address is refused and not repeated`(
    address: String
  ) async throws {
    let result = try await Child.run("richpush", ["asset", "list", "--server", address])
    #expect(result.exitCode == 64)
    #expect(result.errors.contains("RICHPUSH_PASSWORD") && !result.errors.contains("hidden"))
  }
}
