import Foundation
import RichPushClient
import Testing
import Waiting

/// What another user of the machine reads of a running server's data.
@Suite(.timeLimit(.minutes(5))) struct LocalUserSystemTests {
  /// Such as root's home, from where root has started a command that changes to the owner of the data folder.
  @Test(.enabled(if: getuid() == 0, "only root may change users"))
  func `commands start programs in a folder that their user may not enter`() async throws {
    let scratch = try Scratch()
    let (closed, plugins) = try (scratch.makeFolder("closed"), scratch.makeFolder("plugins"))
    chmod(closed.path, 0o700)
    chown(plugins.path, 65_534, 65_534)
    let compiler = try scratch.drop(
      Array("#!/bin/sh\necho compiled\n".utf8), as: "bin/swiftc", executable: true)
    let richpush = try Package.program("richpush").path
    func run(_ words: String...) async throws -> Child.Result {
      try await Child.run(
        "/bin/sh",
        ["-c", "cd \"$0\" && exec \"$@\"", closed.path, "/usr/bin/setpriv", "--reuid", "65534"]
          + ["--regid", "65534", "--clear-groups", richpush] + words
          + ["--plugins", plugins.path],
        environment: ["PATH": compiler.deletingLastPathComponent().path + ":/usr/bin:/bin"])
    }
    let new = try await run("plugin", "new", "card", "--language", "swift")
    #expect(new.exitCode == 0 && new.output.first == "compiled", "\(new)")
    let list = try await run("plugin", "list", "--server", "http://127.0.0.1:9")
    #expect(list.exitCode == 0 && list.output.contains { $0.hasPrefix("card ") }, "\(list)")
  }

  @Test func `every file of the data folder is the server's alone, the drop folder's are not`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo"]) { scratch in
      // As an earlier version left it.
      let data = try scratch.makeFolder("var")
      #expect(chmod(data.path, 0o755) == 0)
    } to: { server in
      let alice = server.client("alice")
      let id = try await alice.create(.logo(to: "alice")).id
      _ = try await alice.media(id, options: MediaOptions(width: 77))
      let root = server.scratch.folder.path
      let picture = try Package.bytes("assets/img/logo.png")
      let upload = try RawConnection(port: server.port).exchange(
        "PUT /api/assets/img/mine.png HTTP/1.1\r\nContent-Length: \(picture.count)\r\n"
          + "Authorization: Basic YWxpY2U6YWxpY2U=\r\n", body: picture)
      #expect((200..<300).contains(upload.status))
      // Meanwhile plugins write to their folders.
      try await eventually("all assets are prepared") {
        let counts = try await alice.assetCounts()
        return counts.preparing == 0 && counts.ready == Scratch.samples.count + 1
      }
      let backup = try await Child.run(
        "richpush", ["store", "backup", root + "/backup", "--data", root + "/var"])
      #expect(backup.exitCode == 0, "\(backup.errors)")

      let secrets = try ["var", "backup"].flatMap { try files(below: root + "/" + $0) }
      for name in ["richpush.db", "richpush.db-wal", "richpush.db-shm", "lock"] {
        #expect(secrets.contains { $0.path == "\(root)/var/\(name)" }, "\(name)")
      }
      #expect(secrets.contains { $0.path.contains("/var/renditions/") })
      #expect(secrets.contains { $0.path.contains("/backup/blobs/") })
      for (path, mode) in secrets {
        // A plugin that is running has links to blobs in its folder.
        let isBlob = path.contains("/blobs/") || path.contains("/scratch/")
        #expect(mode == (isBlob ? 0o444 : 0o600), "\(path)")
      }
      for folder in ["blobs", "renditions", "tmp"] {
        #expect(try mode(root + "/var/" + folder) == 0o700)
      }
      #expect(try [mode(root + "/var"), mode(root + "/backup")] == [0o711, 0o711])
      #expect(try mode(root + "/var/scratch") == 0o711)
      let status = try String(
        contentsOfFile: "/proc/\(server.processIdentifier)/status", encoding: .utf8)
      #expect(status.contains("\nUmask:\t0077\n"))
      #expect(try mode(root + "/assets/img/mine.png") == 0o644)
      guard getuid() == 0 else { return }
      let stranger = try await Child.run(
        "/usr/bin/setpriv",
        ["--reuid", "65534", "--regid", "65534", "--clear-groups", "/bin/sh", "-c", Self.attempts]
          + ["sh", root + "/assets/img/mine.png"] + secrets.map(\.path))
      #expect(stranger.output == [root + "/assets/img/mine.png"])
    }
  }

  @Test(.enabled(if: getuid() == 0, "the owner is another user"))
  func `a command that root runs on another user's folder leaves only files of that user`()
    async throws
  {
    try await RunningServer.lend(flags: [], unprivileged: true) { server in
      let data = server.scratch.folder.path + "/var"
      func run(_ words: String..., input: String = "") async throws -> Child.Result {
        let result = try await Child.run(
          "richpush", words + ["--data", data], input: input + "\n")
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(words): \(result)")
        return result
      }
      let secret = "a good secret"
      _ = try await run("user", "add", "alice", "--role", "publisher", input: secret)
      _ = try await run("key", "rotate")
      _ = try await run("store", "check", "--repair")
      _ = try await run("push", "list")
      #expect(try await run("user", "list").output == ["alice\tpublisher\t1"])
      let others = try await Child.run("/usr/bin/find", [data, "!", "-user", "65534"])
      #expect(others.exitCode == 0 && others.output.isEmpty, "\(others)")
      try await server.restart(by: SIGTERM)
      #expect(
        try await server.client("alice", password: secret).inbox().notifications.isEmpty)
    }
  }

  /// Names each file that could be read.
  private static let attempts =
    "for file; do cat \"$file\" > /dev/null 2>&1 && echo \"$file\"; done"

  private func files(below folder: String) throws -> [(path: String, mode: Int)] {
    try FileManager.default.subpathsOfDirectory(atPath: folder).compactMap { path in
      let path = folder + "/" + path
      // One of `tmp` may be gone by now.
      let facts = try? FileManager.default.attributesOfItem(atPath: path)
      guard let facts, facts[.type] as? FileAttributeType == .typeRegular,
        let mode = facts[.posixPermissions] as? NSNumber
      else { return nil }
      return (path, mode.intValue)
    }
  }

  private func mode(_ path: String) throws -> Int {
    let mode = try FileManager.default.attributesOfItem(atPath: path)[.posixPermissions]
    return try #require((mode as? NSNumber)?.intValue)
  }
}
