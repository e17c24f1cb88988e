import Foundation
import Testing

/// Which folders commands use as stores, and that they change nothing else.
@Suite(.timeLimit(.minutes(3))) struct StoreLocationTests {
  private let scratch: Scratch
  private var folder: String { scratch.folder.path }

  init() throws { scratch = try Scratch() }

  /// Runs the program with a folder as the current one.
  private func run(
    _ words: [String], in folder: String, environment: [String: String] = [:], input: String = ""
  ) async throws -> Child.Result {
    try await Child.run(
      "/usr/bin/env", ["-C", folder, Package.program("richpush").path] + words,
      environment: environment, input: input)
  }

  /// Every file below a folder with all that is known of it, but for when it was read.
  private func facts(of folder: String) async throws -> [String] {
    let form = "%P %y %i %m %u %g %n %s %T@ %C@ %l\\n"
    let found = try await Child.run("/usr/bin/find", [folder, "-printf", form])
    #expect(found.exitCode == 0)
    return found.output.sorted()
  }

  /// Every command that opens a store, without saying which.
  private static let commands = [
    ["user", "add", "alice"], ["user", "password", "alice"], ["user", "list"],
    ["user", "devices", "alice"], ["user", "pair", "alice"], ["user", "pairings", "alice"],
    ["user", "waiting"], ["user", "approve", "alice"], ["user", "remove", "alice"],
    ["user", "export", "alice"], ["user", "erase", "alice", "--yes"],
    ["token", "add", "ci", "--user", "alice"], ["token", "list"],
    ["token", "remove", "ci", "--user", "alice"],
    ["ntfy", "subscribe", "--user", "alice", "--server", "http://127.0.0.1:1"], ["key", "list"],
    ["key", "rotate"],
    ["key", "rotate", "--tls"], ["key", "remove", "1"],
    ["key", "vapid"], ["store", "check"], ["store", "check", "--repair"],
    ["store", "backup", "copy"], ["push", "list"], ["push", "replay"], ["push", "cancel", "1"],
  ]

  @Test func `nothing is made or changed where var is something else, as it is in the root folder`()
    async throws
  {
    for name in ["lib", "log", "tmp", "mail/alice"] { try scratch.makeFolder("root/var/" + name) }
    try scratch.drop(Array("mail".utf8), as: "root/var/mail/alice/1")
    #expect(chmod("\(folder)/root/var/tmp", 0o1777) == 0)
    let links = [("lib/run", "../log"), ("blobs", "/etc"), ("renditions", "../../root")]
    for (name, target) in links {
      #expect(symlink(target, "\(folder)/root/var/\(name)") == 0)
    }
    let backup = try await backup()
    let before = try await facts(of: folder + "/root")
    let serving = [
      ["serve", "--listen", "127.0.0.1:0"], ["serve", "--demo", "--listen", "127.0.0.1:0"],
      ["store", "restore", backup],
      ["store", "migrate", "--from", "var", "--to", "postgres://richpush@127.0.0.1:1/none"],
    ]
    for words in Self.commands + serving {
      let result = try await run(words, in: folder + "/root", input: "a good secret\n")
      #expect([1, 64].contains(result.exitCode), "\(words) \(result)")
      #expect(!result.errors.isEmpty && result.output.isEmpty, "\(words) \(result)")
      for (flags, environment) in [
        (["--data", "var"], [:]), ([], ["RICHPUSH_DATA": folder + "/root/var"]),
      ] where !words.contains("--from") {
        let result = try await run(
          words + flags, in: folder + "/root", environment: environment, input: "a good secret\n")
        #expect(result.exitCode == 1, "\(words) \(result)")
        #expect(result.errors.contains("not empty"), "\(words) \(result)")
      }
    }
    let check = try await run(["push", "check"], in: folder + "/root")
    #expect(check.exitCode == 0 && check.output.count == 1, "\(check)")
    #expect(try await facts(of: folder + "/root") == before)
  }

  @Test func `without a folder, commands say what to pass, and make nothing`() async throws {
    try scratch.makeFolder("empty")
    let before = try await facts(of: folder + "/empty")
    for words in Self.commands + [["store", "restore", try await backup()]] {
      let result = try await run(words, in: folder + "/empty", input: "a good secret\n")
      #expect(result.exitCode == 64 && result.errors.contains("pass --data FOLDER"), "\(result)")
    }
    for words in Self.commands where words[1] != "add" {
      for name in [".", "new"] {
        let result = try await run(words + ["--data", name], in: folder + "/empty")
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.errors.contains("there is no store"), "\(result)")
      }
    }
    #expect(try await facts(of: folder + "/empty") == before)
  }

  @Test func `commands find the store in var, or what a variable or a flag names`() async throws {
    for (name, data) in [("anna", "here/var"), ("bert", "second"), ("carl", "third")] {
      try scratch.makeFolder("here")
      let added = try await run(
        ["user", "add", name, "--data", data], in: folder, input: "a good secret\n")
      #expect(added.exitCode == 0, "\(added)")
    }
    let variable = ["RICHPUSH_DATA": folder + "/second"]
    for (flags, environment, name) in [
      ([], [:], "anna"), ([], variable, "bert"), (["--data", "../third"], variable, "carl"),
    ] {
      let list = try await run(
        ["user", "list"] + flags, in: folder + "/here", environment: environment)
      #expect(list.output == ["\(name)\tdevice\t1"] && list.exitCode == 0, "\(list)")
    }
  }

  @Test func `a server without a folder makes var, and a link may lead to an empty folder`()
    async throws
  {
    for name in ["here", "there", "disk/lost+found"] { try scratch.makeFolder(name) }
    #expect(symlink("../disk", "\(folder)/there/var") == 0)
    for (place, data) in [("here", "here/var"), ("there", "disk")] {
      let words = ["-C", "\(folder)/\(place)", try Package.program("richpush").path]
      let server = try Child("/usr/bin/env", words + ["serve", "--listen", "127.0.0.1:0"])
      var lines = server.lines.makeAsyncIterator()
      #expect(await lines.next()?.contains("listening on") == true, "\(server.errors)")
      server.send(SIGTERM)
      #expect(await server.exitCode() == 0)
      let files = try FileManager.default.contentsOfDirectory(atPath: "\(folder)/\(data)")
      #expect(files.contains("node") && files.contains("richpush.db"), "\(files)")
    }
  }

  /// Whether strace is installed and may trace.
  private static func canTrace() async -> Bool {
    let result = try? await Child.run("/usr/bin/strace", ["-o", "/dev/null", "/bin/true"])
    return result?.exitCode == 0
  }

  @Test(
    .enabled("needs strace, and the right to trace processes") { await canTrace() },
    arguments: [1, 2, 3, 4, 5, 100, 259, 260])
  func `a server that is killed while it makes a store can be started again`(
    number: Int
  ) async throws {
    let data = folder + "/var"
    let server = [
      try Package.program("richpush").path, "serve", "--listen", "127.0.0.1:0", "--data", data,
    ]
    let killed = try await Child.run(
      "/usr/bin/strace",
      ["-f", "-o", "/dev/null", "-e", "trace=mkdir"]
        + ["-e", "inject=mkdir:signal=KILL:when=\(number)"] + server)
    #expect(killed.exitCode == -SIGKILL && killed.output.isEmpty, "\(killed)")
    let added = try await run(
      ["user", "add", "alice", "--data", data], in: folder, input: "a good secret\n")
    #expect(added.exitCode == 0, "\(added)")
    let check = try await run(["store", "check", "--data", data], in: folder)
    #expect(check.exitCode == 0, "\(check)")
  }

  /// A backup of a store with one user.
  private func backup() async throws -> String {
    let (data, backup) = (folder + "/whole", folder + "/backup")
    let added = try await run(
      ["user", "add", "alice", "--data", data], in: folder, input: "a good secret\n")
    #expect(added.exitCode == 0, "\(added)")
    let made = try await run(["store", "backup", backup, "--data", data], in: folder)
    #expect(made.exitCode == 0, "\(made)")
    return backup
  }
}
