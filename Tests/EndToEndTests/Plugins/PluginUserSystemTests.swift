import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// The users that plugins and the server run as.
@Suite(.timeLimit(.minutes(2))) struct PluginUserSystemTests {
  private static let isRoot = getuid() == 0
  private static let capabilities = "+setuid,+setgid,+kill"

  /// A plugin that says who it is, in a file it sends, and leaves a folder that nobody may enter.
  private static let who = """
    #!/bin/sh
    id -u > "$TMPDIR/answer"; id -G >> "$TMPDIR/answer"
    mkdir -p "$TMPDIR/a/b/c"; touch "$TMPDIR/a/b/c/d"; chmod 000 "$TMPDIR/a/b"
    printf 'Content-Type: text/plain\\nCache-Control: no-store\\nX-Sendfile: answer\\n\\n'

    """

  private static func install(_ scratch: Scratch) throws {
    for name in ["who", "other"] {
      try scratch.drop(Array(who.utf8), as: "plugins/\(name)", executable: true)
    }
  }

  /// What the plugin says: its user ID and its groups.
  private static func asks(_ type: String, on server: RunningServer) async throws -> [String] {
    let alice = server.client("alice")
    let made = try await alice.create(
      NewNotification("m", richType: type, payload: "x", to: .users(["alice"])))
    let text = String(decoding: try await alice.media(made.id).bytes, as: UTF8.self)
    return text.split(whereSeparator: \.isWhitespace).map(String.init)
  }

  /// Each type answers as a user of its own, again and again, and leaves nothing.
  private static func expectOwnUsers(on server: RunningServer) async throws {
    var users: Set<String> = []
    for type in ["who", "other"] {
      let first = try await asks(type, on: server)
      let id = try #require(first.first.flatMap { Int($0) }, "\(first) \(server.log)")
      #expect((60_706...60_961).contains(id))
      #expect(first == [String(id), String(id)], "no other group")
      #expect(try await asks(type, on: server) == first)
      users.insert(first[0])
    }
    #expect(users.count == 2)
    #expect(server.log.contains("sandbox: who: user ID 60"), "\(server.log)")
    let scratch = server.scratch.folder.appending(path: "var/scratch")
    // The plugins that prepare the samples may still be at work.
    try await eventually("nothing is left") {
      try await Child.run(
        "/usr/bin/find", [scratch.path, "-mindepth", "3", "-not", "-path", "*/in*"]
      ).output.isEmpty
    }
    let open = try await Child.run(
      "/usr/bin/find", [scratch.path, "-maxdepth", "1", "-name", "plugin-*", "-perm", "/0006"])
    #expect(open.output.isEmpty, "other users may list these folders, or write to them")
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `a server of root's gives each rich type a user of its own`() async throws {
    // Root's own groups, such as those of a login, are not the plugins'.
    try await RunningServer.lend(
      through: ["/usr/bin/setpriv", "--groups", "27,33"], prepare: { try Self.install($0) }
    ) { server in
      try await Self.expectOwnUsers(on: server)
      try await server.expectHealthy()
      let list = try await Child.run(
        try Package.program("richpush").path,
        ["plugin", "list", "--server", server.endpoint.absoluteString])
      #expect(list.output.contains { $0.hasPrefix("who: user ID 60") }, "\(list)")
    }
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `changes to the user that it is told, and plugins still have their own`() async throws {
    try await RunningServer.lend(
      flags: ["--demo", "--user", "nobody"], prepare: { try Self.install($0) }
    ) {
      server in
      try await Self.expectOwnUsers(on: server)
      // Of another user's file only the time tells that it is complete.
      try await eventually("the picture is complete") {
        (try? await server.client("bob").create(.logo(to: "bob"))) != nil
      }
      try await server.expectHealthy()
      let status = try String(
        contentsOfFile: "/proc/\(server.processIdentifier)/status", encoding: .utf8)
      #expect(status.contains("Uid:\t65534\t65534\t65534\t65534"))
      #expect(status.contains("CapEff:\t0000000000000000"))
      #expect(status.contains("CapPrm:\t0000000000000000"))
      let children = try String(
        contentsOfFile:
          "/proc/\(server.processIdentifier)/task/\(server.processIdentifier)/children",
        encoding: .utf8)
      for child in children.split(separator: " ") {
        let status = try String(contentsOfFile: "/proc/\(child)/status", encoding: .utf8)
        guard status.contains("Name:\trichpush-exec") else { continue }
        #expect(status.contains("Uid:\t65534\t65534\t65534\t65534"))
        #expect(status.contains("CapEff:\t00000000000000e0"))  // CAP_KILL, CAP_SETGID, CAP_SETUID
      }
    }
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `gives no plugin an ID that an account or a group has`() async throws {
    let etc = try Scratch()
    for (file, line) in [("passwd", "a:x:61200:65534::/:/bin/false"), ("group", "b:x:61201:")] {
      try etc.drop(
        Array(Data(contentsOf: URL(filePath: "/etc/\(file)")) + "\(line)\n".utf8), as: file)
    }
    let mounts = ["passwd", "group"].map { "mount --bind \(etc.folder.path)/\($0) /etc/\($0)" }
    try await RunningServer.lend(
      flags: ["--demo", "--plugin-uids", "61200-61206"],
      through: ["/usr/bin/unshare", "--mount", "/bin/sh", "-c"]
        + [mounts.joined(separator: " && ") + " && exec \"$@\"", "sh"],
      prepare: { try Self.install($0) }
    ) { server in
      let users = server.log.matches(of: #/sandbox: [a-z]+: user ID (\d+)/#).map { $0.1 }
      #expect(users.sorted() == ["61202", "61203", "61204", "61205", "61206"], "\(server.log)")
      let who = try await Self.asks("who", on: server)
      #expect(who == ["61206", "61206"])
    }
  }

  @Test(
    .enabled(if: isRoot, "only root may change users"),
    arguments: [
      ([], true), (["--user", "nobody"], true), (["--plugin-uids", "61200-61210"], true),
      (["--user", "nobody", "--plugin-uids", "61200-61210"], false),
    ] as [([String], Bool)])
  func `removes what a killed server left, and says what it cannot after the IDs have changed`(
    flags: [String], isRemoved: Bool
  ) async throws {
    let owner: uid_t = flags.contains("--user") ? 65_534 : 0
    var left = ""
    try await RunningServer.lend(
      flags: ["--demo"] + flags,
      prepare: { scratch in
        try Self.install(scratch)
        let file = try scratch.drop([1], as: "var/scratch/plugin-left/tmp/inner/file")
        let tmp = file.deletingLastPathComponent().deletingLastPathComponent()
        left = tmp.deletingLastPathComponent().path
        let database = try scratch.drop([], as: "var/richpush.db").path
        for path in [scratch.folder.path + "/var", scratch.folder.path + "/var/scratch", left] {
          chmod(path, 0o711)
          chown(path, owner, owner)
        }
        chown(database, owner, owner)
        _ = try await Child.run("/bin/chown", ["-R", "60706:60706", tmp.path])
        _ = try await Child.run("/bin/chmod", ["-R", "go=", tmp.path])
      },
      to: { server in
        if isRemoved {
          try await eventually("it is removed") { !FileManager.default.fileExists(atPath: left) }
        } else {
          try await eventually("the log names it") {
            server.log.contains("\(left) is left and cannot be removed: remove it as root")
          }
        }
        let user = try #require(try await Self.asks("who", on: server).first.flatMap { Int($0) })
        let range = flags.contains("--plugin-uids") ? 61_200...61_210 : 60_706...60_961
        #expect(range.contains(user))
        // The server owns the folder around it, and may have given the plugin's another name.
        let files = try await Child.run("/usr/bin/find", [left, "-name", "file"])
        #expect(files.output.count == (isRemoved ? 0 : 1))
      })
  }

  @Test(.enabled(if: isRoot, "only root may hand over capabilities"))
  func `an ordinary user with ambient capabilities gives plugins users of their own`() async throws
  {
    let wrapper =
      ["/usr/bin/setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"]
      + ["--inh-caps", Self.capabilities, "--ambient-caps", Self.capabilities]
    try await RunningServer.lend(
      through: wrapper,
      prepare: { scratch in
        try Self.install(scratch)
        _ = try await Child.run("/bin/chown", ["-R", "65534:65534", scratch.folder.path])
      }, to: { server in try await Self.expectOwnUsers(on: server) })
  }

  @Test func `runs plugins as the server's user where others may not enter their folder`()
    async throws
  {
    try await RunningServer.lend(
      prepare: { scratch in
        try Self.install(scratch)
        try FileManager.default.setAttributes(
          [.posixPermissions: 0o700], ofItemAtPath: scratch.folder.path)
      },
      to: { server in
        #expect(try await Self.asks("who", on: server).first == String(geteuid()))
        try await server.expectHealthy()
        #expect(server.log.contains("sandbox: who: the server's user ("), "\(server.log)")
      })
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `plugins keep their users when what starts them is killed`() async throws {
    try await RunningServer.lend(
      flags: ["--demo", "--user", "nobody"], prepare: { try Self.install($0) }
    ) { server in
      let users = try await Self.asks("who", on: server)
      #expect(users.first.flatMap { Int($0) }.map((60_706...60_961).contains) == true)
      var launcher = try Launcher(of: server)
      for isFirst in [false, true] {
        try await launcher.kill(isFirst: isFirst)
        for process in try launcher.supervisors { kill(process, SIGKILL) }
        try await eventually("the plugin answers") {
          (try? await Self.asks("who", on: server)) == users
        }
      }
    }
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `lends an asset to its plugin, and to no other user who knows its path`() async throws {
    let script = """
      #!/bin/sh
      case "$QUERY_STRING" in *now=1*)
        echo "$RICH_ASSET_PATH" > "$TMPDIR/place.new"; mv "$TMPDIR/place.new" "$TMPDIR/place"
        for i in $(seq 1400); do [ -e "$TMPDIR/over" ] && break; sleep 0.02; done ;;
      esac
      printf 'Content-Type: text/plain\\n\\n'; cat "$RICH_ASSET_PATH"

      """
    try await RunningServer.lend(
      prepare: { scratch in
        try scratch.drop(
          Array(#"{"query": ["now"], "limits": {"seconds": 30}}"#.utf8),
          as: "plugins/reader/plugin.json")
        try scratch.drop(Array(script.utf8), as: "plugins/reader/reader", executable: true)
        try scratch.drop(Array("for one".utf8), as: "assets/reader/loan.txt")
      },
      to: { server in
        let alice = server.client("alice")
        let made = try await alice.create(
          NewNotification("m", richType: "reader", payload: "loan.txt", to: .users(["alice"])))
        let connection = try RawConnection(port: server.port)
        connection.ask("GET", "/api/notifications/\(made.id)?now=1")
        let scratch = server.scratch.folder.appending(path: "var/scratch")
        var note: URL?
        try await eventually("the plugin runs") {
          note =
            FileManager.default.enumerator(at: scratch, includingPropertiesForKeys: nil)?.lazy
            .compactMap { $0 as? URL }.first { $0.lastPathComponent == "place" }
          return note != nil
        }
        let place = try #require(note)
        let path = try String(contentsOf: place, encoding: .utf8).trimmingCharacters(in: .newlines)
        #expect(FileManager.default.fileExists(atPath: path))
        let other = try await Child.run(
          "/usr/bin/setpriv",
          ["--reuid", "59732", "--regid", "59732", "--clear-groups", "/bin/cat", path])
        #expect(other.output.isEmpty && other.errors.contains("Permission denied"), "\(other)")
        try Data().write(to: place.deletingLastPathComponent().appending(path: "over"))
        #expect(try connection.answer().text.hasSuffix("for one"))
      })
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `can store what is uploaded to a demonstration as another user`() async throws {
    let scratch = try Scratch()
    let folder = scratch.folder.path
    try scratch.drop(Package.bytes("plugins/img/plugin.json"), as: "plugins/img/plugin.json")
    let server = try Child(
      "richpush",
      ["serve", "--demo", "--user", "nobody", "--listen", "127.0.0.1:0", "--data", folder + "/var"]
        + ["--assets", folder + "/assets", "--plugins", folder + "/plugins"])
    var lines = server.lines.makeAsyncIterator()
    let address = try #require(await lines.next()?.split(separator: " ").last, "\(server.errors)")
    for path in ["img/mine.png", "img/logo.png"] {
      let answer = try await Child.run(
        "/usr/bin/curl",
        ["-s", "-u", "shop:shop", "-w", "%{http_code}", "-o", "/dev/null", "-T"]
          + [Package.root.path + "/assets/img/logo.png", "\(address)/api/assets/\(path)"])
      #expect(answer.output.first?.hasPrefix("2") == true, "\(path): \(answer) \(server.errors)")
    }
    server.send(SIGTERM)
    #expect(await server.exitCode() == 0)
  }

  @Test(arguments: [
    "data", "assets", "key", "certificate", "access log", "push key", "linked data", "linked blobs",
  ])
  func `refuses to start where plugins could read what is the server's`(what: String) async throws {
    let scratch = try Scratch()
    try scratch.drop(Package.bytes("plugins/img/plugin.json"), as: "plugins/img/plugin.json")
    // What root may write, or else a plugin's own folder.
    let readable =
      Self.isRoot
      ? "/opt/richpush-\(UUID())" : try scratch.makeFolder("plugins/img/inner").path
    let files = FileManager.default
    try files.createDirectory(atPath: readable, withIntermediateDirectories: true)
    defer { try? files.removeItem(atPath: readable) }
    let hidden = try scratch.makeFolder("elsewhere").path
    let service = try StandIn("apns")
    func place(_ name: String, isReadable: Bool) throws -> String {
      let path = (isReadable ? readable : hidden) + "/" + name
      try files.copyItem(atPath: "\(service.folder)/\(name)", toPath: path)
      return path
    }
    var data = what == "data" ? readable : hidden + "/var"
    var flags = ["--assets", what == "assets" ? readable : hidden + "/assets"]
    var environment: [String: String] = [:]
    switch what {
    case "key", "certificate":
      flags += ["--tls-key", try place("leaf.key", isReadable: what == "key")]
      flags += ["--tls-certificate", try place("leaf.pem", isReadable: what == "certificate")]
    case "access log": flags += ["--access-log", readable + "/access.log"]
    case "push key":
      flags += ["--push", "embedded,apns"]
      environment = [
        "RICHPUSH_APNS_KEY_FILE": try place("key.p8", isReadable: true),
        "RICHPUSH_APNS_KEY_ID": "ABC123DEFG", "RICHPUSH_APNS_TEAM_ID": "DEF123GHIJ",
        "RICHPUSH_APNS_TOPIC": "com.example.richpush",
      ]
    case "linked data":
      data = hidden + "/link"
      try files.createSymbolicLink(atPath: data, withDestinationPath: readable)
    case "linked blobs":
      // A store, part of which is moved to another disk.
      try files.createDirectory(atPath: data, withIntermediateDirectories: true)
      try Data().write(to: URL(filePath: data + "/richpush.db"))
      #expect(chmod(readable, 0o700) == 0)
      try files.createSymbolicLink(atPath: data + "/blobs", withDestinationPath: readable)
    default: break
    }
    let result = try await Child.run(
      try Package.program("richpush").path,
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--plugins", scratch.folder.path + "/plugins"]
        + ["--data", data] + flags, environment: environment)
    #expect(result.exitCode == 1)
    #expect(result.errors.contains("plugins may read"), "\(result)")
    #expect(result.errors.contains(": move it to another folder"), "\(result)")
  }

  @Test(.enabled(if: isRoot, "only root may write to /opt"))
  func `makes no backup where plugins could read it`() async throws {
    let scratch = try Scratch()
    let backup = "/opt/richpush-\(UUID())"
    defer { try? FileManager.default.removeItem(atPath: backup) }
    let data = scratch.folder.path + "/var"
    let added = try await Child.run(
      "richpush", ["user", "add", "alice", "--data", data], input: "a good secret\n")
    #expect(added.exitCode == 0, "\(added)")
    let result = try await Child.run(
      try Package.program("richpush").path, ["store", "backup", backup, "--data", data])
    #expect(result.exitCode == 1)
    #expect(result.errors.contains("plugins may read /opt"), "\(result)")
    #expect(!FileManager.default.fileExists(atPath: backup))
  }
}
