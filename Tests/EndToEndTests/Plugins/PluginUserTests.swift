import Foundation
import RichPushClient
import Testing

/// The users that plugins and the server run as.
@Suite(.timeLimit(.minutes(2))) struct PluginUserTests {
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
      #expect((62_000...62_255).contains(id))
      #expect(first == [String(id), String(id)], "no other group")
      #expect(try await asks(type, on: server) == first)
      users.insert(first[0])
    }
    #expect(users.count == 2)
    #expect(server.log.contains("sandbox: who: user ID 62"), "\(server.log)")
    let scratch = server.scratch.folder.appending(path: "var/scratch")
    let left = try await Child.run(
      "/usr/bin/find", [scratch.path, "-mindepth", "3", "-not", "-path", "*/in*"])
    #expect(left.output.isEmpty)
  }

  @Test(.enabled(if: isRoot, "only root may change users"))
  func `a server of root's gives each rich type a user of its own`() async throws {
    try await RunningServer.lend(prepare: { try Self.install($0) }) { server in
      try await Self.expectOwnUsers(on: server)
      try await server.expectHealthy()
      let list = try await Child.run(
        try Package.program("richpush").path,
        ["plugin", "list", "--server", server.endpoint.absoluteString])
      #expect(list.output.contains { $0.hasPrefix("who: user ID 62") }, "\(list)")
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

  @Test(arguments: ["data", "assets"])
  func `refuses to start where plugins could read what is the server's`(what: String) async throws {
    let scratch = try Scratch()
    try scratch.drop(Package.bytes("plugins/img/plugin.json"), as: "plugins/img/plugin.json")
    try scratch.drop([], as: "plugins/img/inner/x")
    try scratch.drop([], as: "elsewhere/x")
    let folders = ["data", "assets"].flatMap { name in
      ["--\(name)", scratch.folder.path + (name == what ? "/plugins/img/inner" : "/elsewhere")]
    }
    let result = try await Child.run(
      try Package.program("richpush").path,
      ["serve", "--demo", "--listen", "127.0.0.1:0", "--plugins", scratch.folder.path + "/plugins"]
        + folders)
    #expect(result.exitCode == 1)
    #expect(result.errors.contains("plugins may read"), "\(result)")
    #expect(result.errors.contains("/plugins/img/inner lies there"), "\(result)")
  }
}
