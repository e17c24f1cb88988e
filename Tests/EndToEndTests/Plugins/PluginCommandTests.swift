import Foundation
import PluginTester
import PluginHost
import RichPushClient
import Testing

/// What an author has: `richpush plugin new`, `run`, `check` and `list`, and the examples.
@Suite(.timeLimit(.minutes(5))) struct PluginCommandTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  private static var languages: [String] {
    ["sh", "python", "perl", "php", "swift"]
  }

  @Test(arguments: languages)
  func `makes a plugin that works, passes its own test and stands every check`(
    language: String
  ) async throws {
    let plugins = scratch.folder.path
    let path = "PATH"
    let made = try await Child.run(
      "richpush", ["plugin", "new", "card", "--language", language, "--plugins", plugins],
      environment: [path: ProcessInfo.processInfo.environment[path] ?? ""])
    #expect(made.exitCode == 0, "\(made.errors)")
    let test = try await Child.run("/bin/sh", ["\(plugins)/card/test.sh"])
    #expect(test.output.count == 3 && test.output.allSatisfy { $0.hasPrefix("ok: ") }, "\(test)")
    #expect(test.exitCode == 0)
    try await expectChecked("\(plugins)/card")
    let again = try await Child.run(
      "richpush", ["plugin", "new", "card", "--language", language, "--plugins", plugins])
    #expect(again.exitCode == 1)
  }

  @Test func `makes a plugin whose content is filled in, which works and stands every check`()
    async throws
  {
    let plugins = scratch.folder.path
    let made = try await Child.run(
      "richpush", ["plugin", "new", "voucher", "--form", "--plugins", plugins])
    #expect(made.exitCode == 0, "\(made.errors)")
    let test = try await Child.run("/bin/sh", ["\(plugins)/voucher/test.sh"])
    #expect(test.output.count == 3 && test.output.allSatisfy { $0.hasPrefix("ok: ") }, "\(test)")
    try await expectChecked("\(plugins)/voucher")
    let other = try await Child.run(
      "richpush", ["plugin", "new", "other", "--form", "--language", "perl", "--plugins", plugins])
    #expect(other.exitCode == 64 && other.errors.contains("python"), "\(other.errors)")
  }

  @Test func `says where a form is wrong, and which sample it does not take`() async throws {
    let plugins = scratch.folder.path
    _ = try await Child.run("richpush", ["plugin", "new", "card", "--form", "--plugins", plugins])
    let sample = try await Child.run(
      "richpush",
      ["plugin", "check", plugins + "/card", "--payload", #"{"title":"x","day":"now"}"#])
    #expect(sample.exitCode == 1)
    let found = sample.output.first { $0.contains("found:") && $0.contains("day must be a day") }
    #expect(found != nil, "\(sample)")
    let manifest = #"{"form": [{"name": "title"}, {"name": "day", "kind": "year"}]}"#
    try scratch.drop(Array(manifest.utf8), as: "card/plugin.json")
    let form = try await Child.run("richpush", ["plugin", "check", plugins + "/card"])
    #expect(form.exitCode == 1)
    #expect(form.output.contains { $0.contains(#""form[1].kind" must be one of text"#) }, "\(form)")
  }

  @Test func `refuses names and languages that there are none of`() async throws {
    for words in [["Card"], ["card", "--language", "cobol"], ["../card"]] {
      let result = try await Child.run(
        "richpush", ["plugin", "new"] + words + ["--plugins", scratch.folder.path])
      #expect(result.exitCode == 64, "\(words): \(result)")
    }
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder.path).isEmpty)
  }

  @Test(arguments: ["countdown", "coupon", "place", "poll", "rating", "swatch", "ticket"])
  func `has examples that stand every check`(name: String) async throws {
    let folder = scratch.folder.appending(path: name)
    try FileManager.default.copyItem(
      at: Package.root.appending(path: "plugins/examples/\(name)"), to: folder)
    let source = folder.appending(path: "\(name).c")
    if FileManager.default.fileExists(atPath: source.path) {
      let compiled = try await Child.run(
        "/usr/bin/cc",
        [
          "-O2", "-Wall", "-Wextra", "-Werror", "-o", folder.appending(path: name).path,
          source.path,
        ]
          + ["-lfcgi"])
      try #require(compiled.exitCode == 0, "\(compiled.errors)")
    }
    try await expectChecked(folder.path)
  }

  @Test(arguments: ["img", "sound", "video", "url"])
  func `ships plugins that stand every check`(name: String) async throws {
    try scratch.dropSamples()
    if name == "video" { try await dropFilm() }
    try await expectChecked(
      Package.root.appending(path: "plugins/\(name)").path,
      ["--assets", scratch.folder.path + "/assets"])
  }

  @Test func `passes over what is no file, or too large for a server, among the samples`()
    async throws
  {
    try scratch.drop(
      Array("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nfine'\n".utf8), as: "plugins/card",
      executable: true)
    let samples = try scratch.makeFolder("assets/card").path
    mkfifo(samples + "/pipe.png", 0o644)
    mkfifo(samples + "/pipe.payload", 0o644)
    symlink("pipe.png", samples + "/link.png")
    for name in ["sparse.png", "sparse.payload"] {
      let sparse = open("\(samples)/\(name)", O_WRONLY | O_CREAT, 0o644)
      ftruncate(sparse, 5 << 30)
      close(sparse)
    }
    try scratch.drop(Array("A card".utf8), as: "assets/card/good.txt")
    try await expectChecked(
      scratch.folder.path + "/plugins/card", ["--assets", scratch.folder.path + "/assets"])
    let run = try await Child.run(
      "richpush",
      ["plugin", "run", scratch.folder.path + "/plugins/card", "--asset", samples + "/pipe.png"])
    #expect(run.exitCode == 1 && run.errors.contains("pipe.png cannot be read"))
  }

  @Test func `says what is wrong with a bad plugin, why it matters and how to fix it`()
    async throws
  {
    try scratch.drop(
      Array(
        "#!/bin/sh\necho started\necho 'Content-Type: image/png'; echo; echo $$; echo x >&2\n".utf8),
      as: "bad", executable: true)
    let file = scratch.folder.appending(path: "bad").path
    let result = try await Child.run("richpush", ["plugin", "check", file, "--payload", "x"])
    #expect(result.exitCode == 1)
    let text = result.output.joined(separator: "\n")
    for sentence in ["writes nothing before its header", "answers every sample"] {
      #expect(
        result.output.contains { $0.hasPrefix("not ok") && $0.hasSuffix(sentence) }, "\(text)")
    }
    #expect(text.contains("found: \"x\": it begins with \"started\""), "\(text)")
    #expect(text.contains("why:   One stray byte") && text.contains("fix:   Write messages"))
  }

  @Test func `checks at least twenty things, each with why and how to fix it`() {
    #expect(Check.all.count >= 20)
    #expect(Set(Check.all.map(\.name)).count == Check.all.count)
    for check in Check.all { #expect(check.why.hasSuffix(".") && check.fix.hasSuffix(".")) }
  }

  @Test func `shows exactly what goes to a plugin and what comes back`() async throws {
    try scratch.drop(
      Array(
        "#!/bin/sh\necho careful >&2\nprintf 'Content-Type: text/plain\\nX-Odd: 1\\n\\n%s' \"$RICH_ASSET_TYPE\"\n"
          .utf8), as: "plugins/show", executable: true)
    let asset = Package.root.appending(path: "assets/img/logo.png").path
    let result = try await Child.run(
      "richpush",
      ["plugin", "run", "show", "--asset", asset, "--width", "320", "--plugins"]
        + [scratch.folder.appending(path: "plugins").path])
    #expect(result.exitCode == 0, "\(result.errors)")
    for line in [
      "> RICH_VERB=render", "> RICH_PAYLOAD=logo.png", "> RICH_ASSET_TYPE=image/png",
      "> RICH_WIDTH=320", "> (standard input: 0 bytes)", "< Content-Type: text/plain", "< X-Odd: 1",
      "< (content: 9 bytes)", "! careful",
      "= the caller gets 200 text/plain, 9 bytes, which is kept", "image/png",
    ] { #expect(result.output.contains(line), "\(line) is not in \(result.output)") }
    try scratch.drop(Array("#!/bin/sh\nexit 3\n".utf8), as: "plugins/fail", executable: true)
    let failed = try await Child.run(
      "richpush",
      ["plugin", "run", "fail", "--plugins", scratch.folder.appending(path: "plugins").path])
    #expect(failed.exitCode == 70)
    #expect(failed.errors.contains("502"))
    for (status, exitCode) in [("422 No", Int32(65)), ("503 Busy", 75), ("404 Not", 65)] {
      let script = "#!/bin/sh\nprintf 'Status: \(status)\\nContent-Type: text/plain\\n\\nno'\n"
      try scratch.drop(Array(script.utf8), as: "plugins/refuse", executable: true)
      let refused = try await Child.run(
        "richpush",
        ["plugin", "run", "refuse", "--plugins", scratch.folder.appending(path: "plugins").path])
      #expect(refused.exitCode == exitCode, "\(status)")
    }
  }

  @Test func `lists the plugins' state in the server that runs`() async throws {
    try await RunningServer.lend(
      flags: [],
      prepare: { scratch in
        try scratch.drop(
          Array("#!/bin/sh\nexit 3\n".utf8), as: "plugins/broken", executable: true)
        try scratch.drop(Array("x".utf8), as: "plugins/lame")
        for (name, role) in [("root", "admin"), ("shop", "publisher")] {
          let added = try await Child.run(
            "richpush",
            ["user", "add", name, "--role", role, "--data"]
              + [scratch.folder.appending(path: "var").path], input: "a good secret\n")
          try #require(added.exitCode == 0, "\(added.errors)")
        }
      },
      to: { server in
        let list = { (user: String) in
          try await Child.run(
            "richpush",
            ["plugin", "list", "--server", server.endpoint.absoluteString, "--user", user]
              + ["--plugins", server.scratch.folder.path + "/plugins"],
            environment: ["RICHPUSH_PASSWORD": "a good secret"])
        }
        let shop = RichPushClient(
          endpoint: server.endpoint, user: "shop", password: "a good secret")
        _ = try? await shop.create(
          NewNotification("m", richType: "img", payload: "logo.png", to: .users(["shop"])))
        _ = try? await shop.create(
          NewNotification("m", richType: "broken", payload: "x", to: .users(["shop"])))
        let told = try await list("root")
        let text = told.output.joined(separator: "\n")
        #expect(told.exitCode == 0)
        #expect(text.contains("LAST FAILURE") && text.contains("exited with status 3"), "\(text)")
        #expect(text.contains("is not executable (chmod +x)"))
        #expect(
          told.output.contains { $0.hasPrefix("img ") && $0.contains("idle of 2") }, "\(text)")
        #expect(told.output.contains { $0.hasPrefix("sandbox: standard") })
        await #expect(throws: RichPushError.self) { try await shop.plugins() }
        let refused = try await list("shop")
        #expect(
          refused.output[0]
            == "Listing the folder only; statistics need an admin account (--user).")
        #expect(refused.output.contains { $0.hasPrefix("img ") })
      })
  }

  @Test(arguments: ["standard", "off"])
  func `does not say of a server that is not there how it shuts plugins in`(
    level: String
  ) async throws {
    let list = try await Child.run(
      "richpush",
      ["plugin", "list", "--server", "http://127.0.0.1:9", "--sandbox", level]
        + ["--plugins", Package.root.appending(path: "plugins").path])
    #expect(list.exitCode == 0 && list.output.contains { $0.hasPrefix("img ") }, "\(list)")
    let sandbox = list.output.filter { $0.hasPrefix("sandbox: ") }
    let beginning = "sandbox: not known without a server; \(level) would be"
    #expect(sandbox.first?.hasPrefix(beginning) == true, "\(sandbox)")
    #expect(
      sandbox.contains { $0.hasPrefix("sandbox: The sandbox is off:") } == (level == "off"))
  }

  @Test func `tries a plugin as strictly isolated as in a server`() async throws {
    try scratch.drop(
      Array(
        "#!/bin/sh\nprintf 'Content-Type: text/plain\\nCache-Control: no-store\\n\\n'; ls /proc | grep -c '^[0-9]'\n"
          .utf8), as: "plugins/neighbours", executable: true)
    let result = try await Child.run(
      "richpush",
      ["plugin", "run", "neighbours", "--sandbox", "strict", "--plugins"]
        + [scratch.folder.appending(path: "plugins").path])
    #expect(result.exitCode == 0, "\(result)")
    let count = try #require(result.output.last { Int($0) != nil }.flatMap { Int($0) })
    #expect(count < 8, "it sees \(count) processes")
  }

  private func dropFilm() async throws {
    try FileManager.default.createDirectory(
      at: scratch.folder.appending(path: "assets/video"), withIntermediateDirectories: true)
    let source = ["-v", "error", "-f", "lavfi", "-i", "testsrc2=s=64x48:r=10:d=1"]
    let film = ["-pix_fmt", "yuv420p", scratch.folder.appending(path: "assets/video/a.mp4").path]
    let made = try await Child.run("/usr/bin/ffmpeg", source + film)
    try #require(made.exitCode == 0, "\(made.errors)")
  }

  private func expectChecked(_ path: String, _ flags: [String] = []) async throws {
    let result = try await Child.run("richpush", ["plugin", "check", path] + flags)
    let text = result.output.joined(separator: "\n")
    #expect(result.exitCode == 0, "\(text)\n\(result.errors)")
    #expect(
      result.output.filter { $0.hasPrefix("ok ") && !$0.contains("# SKIP") }.count >= 15, "\(text)")
  }
}
