import Foundation
import RichPushClient
import Testing

/// `richpush serve --sandbox LEVEL` against the real programs.
@Suite(.timeLimit(.minutes(2))) struct SandboxLevelTests {
  @Test func `says once how plugins are isolated`() async throws {
    try await RunningServer.lend { server in
      let lines = server.log.split(separator: "\n").filter { $0.contains("sandbox") }
      #expect(lines.count { $0.contains("sandbox: standard") } == 1, "\(server.log)")
    }
  }

  @Test func `strictly, makes pictures and runs a plugin as before`() async throws {
    try await RunningServer.lend(
      flags: ["--demo", "--sandbox", "strict"],
      prepare: { scratch in
        try scratch.drop(
          Array(
            "#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\n'; ls /proc | grep -c '^[0-9]'\n".utf8
          ),
          as: "plugins/neighbours", executable: true)
      },
      to: { server in
        try await server.expectHealthy()
        let alice = server.client("alice")
        let made = try await alice.create(
          NewNotification("m", richType: "neighbours", payload: "x", to: .users(["alice"])))
        let text = String(decoding: try await alice.media(made.id).bytes, as: UTF8.self)
        let count = try #require(Int(text.trimmingCharacters(in: .newlines)))
        #expect(count < 8, "it sees \(count) processes")
      })
  }

  @Test(
    arguments: HostileMode.standard.filter { mode in
      // Root's processes cannot be limited: a server of root's whose plugins are root does not start.
      mode.impediment == nil && mode.landlock > 0 && mode.plugins != .root
    })
  func `strictly, runs plugins whatever the version of Landlock`(mode: HostileMode) async throws {
    try await mode.lend(
      flags: ["--demo", "--sandbox", "strict"],
      prepare: { scratch in
        try scratch.drop(
          Array("#!/bin/sh\nprintf 'Content-Type: text/plain\n\nfine'\n".utf8),
          as: "plugins/fine", executable: true)
      },
      to: { server in
        #expect(server.log.contains("sandbox: strict, complete on this kernel"), "\(server.log)")
        let alice = server.client("alice")
        let made = try await alice.create(
          NewNotification("m", richType: "fine", payload: "x", to: .users(["alice"])))
        let text = String(decoding: try await alice.media(made.id).bytes, as: UTF8.self)
        #expect(text == "fine", "\(server.log)")
      })
  }

  @Test func `refuses to start strictly where bubblewrap does not work`() async throws {
    let scratch = try Scratch()
    // The same machine, but for /usr/bin/bwrap, which is nothing there.
    let result = try await Child.run(
      "/usr/bin/bwrap",
      ["--dev-bind", "/", "/", "--ro-bind", "/dev/null", "/usr/bin/bwrap", "--"]
        + [try Package.program("richpush").path, "serve", "--demo", "--sandbox", "strict"]
        + ["--listen", "127.0.0.1:0", "--data", scratch.folder.path + "/var"]
        + ["--plugins", scratch.folder.path, "--assets", scratch.folder.path + "/assets"])
    #expect(result.exitCode == 1)
    #expect(result.output.isEmpty)
    #expect(result.errors.contains("--sandbox strict: bubblewrap does not work here"), "\(result)")
  }
}
