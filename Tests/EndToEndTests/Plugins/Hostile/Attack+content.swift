import Foundation
import Testing

extension Attack {
  /// On what is in files.
  static let onContent = [
    Attack("reading the server's data: database, files beside it", .landlock(1), .users) { ground in
      let ways = ["read", "read-openat2", "read-link", "read-symlink", "read-through-server"]
      let victim = try ground.victim("secret", ground.canary)
      let database = ground.data.appending(path: "richpush.db").path
      return try await seen(ground.canary, by: ways, [victim, pid(ground)], ground)
        + seen("SQLite format 3", by: ways, [database, pid(ground)], ground)
    },
    Attack("reading another type's asset", .landlock(1), .users) { ground in
      let blob = try blob(of: .neighbour, ground)
      return try await seen(ground.canary, by: ["read", "read-link"], [blob], ground)
    },
    Attack("reading another type's scratch folder", .landlock(1), .users) { ground in
      try await peeked(at: .neighbour, ground)
    },
    Attack("reading the scratch folder of another call to the same type", .landlock(1)) { ground in
      try await peeked(at: .attack, ground)
    },
    Attack("reading /etc/shadow", .landlock(1), .users, .rights) { ground in
      try await seen("root:", by: ["read", "read-openat2"], ["/etc/shadow"], ground)
    },
    Attack("reading private keys in /etc/ssl", .landlock(1), .users) { ground in
      guard getuid() == 0 else { return nil }
      let folder = "/etc/ssl/richpush-\(UUID())"
      let file = folder + "/key.pem"
      try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: false)
      defer { try? FileManager.default.removeItem(atPath: folder) }
      try ground.canary.write(toFile: file, atomically: false, encoding: .utf8)
      chmod(file, 0o600)
      chmod(folder, 0o700)
      for path in [file, folder] { chown(path, ground.mode.user, ground.mode.user) }
      return try await seen(ground.canary, by: ["read"], [file], ground)
    },
    Attack(
      "truncating the server's files: truncate, O_TRUNC of what is opened to read, access mode 3, openat2, io_uring",
      .landlock(3), .filter, .users
    ) { ground in
      let names = ["truncate", "open-trunc", "open-3-trunc", "openat2-trunc", "io-uring"]
      // Landlock always keeps a plugin from opening what it may not read, and never from what it may.
      let readable = ground.program.deletingLastPathComponent()
      return try await touched(names, ground)
        + touched(names, in: readable, ground).map { "readable \($0)" }
    },
    Attack("writing, replacing, removing the server's files", .landlock(1), .users) { ground in
      try await touched(
        [
          "open-write-trunc", "creat", "overwrite", "append", "unlink", "rename", "replace",
          "link-write",
        ], ground)
    },
    Attack("leaving files in the plugin's, the drop or the data folder", .landlock(1), .users) {
      ground in
      try await left(
        in: ["plugins/attack", "assets/attack", "var"].map { ground.folder.path + "/" + $0 }, ground
      )
    },
    Attack("learning the names of the server's files: inotify", .filter, .users) { ground in
      let folder = ground.data.appending(path: "victims").path
      _ = try ground.victim("first")
      let answer = try await ground.attackAndWait(["watch"], [folder]) { _ in
        _ = try ground.victim(ground.canary)
      }
      return answer.text.contains(ground.canary) ? ["watch"] : []
    },
    Attack("leaving files in /tmp, /var/tmp and /dev/shm", .landlock(1)) { ground in
      try await left(in: ["/tmp", "/var/tmp", "/dev/shm"], ground)
    },
  ]

  static func pid(_ ground: HostileGround) -> String { "\(ground.server.processIdentifier)" }

  /// Which of the attacks had something in their answer that they should not know.
  static func seen(
    _ secret: String, by names: [String], _ words: [String], _ ground: HostileGround
  ) async throws -> [String] {
    var hits: [String] = []
    for name in names {
      let answer = try await ground.attack([name], words)
      #expect(answer.status == 200, "\(name) was not done: \(answer.text)")
      if answer.text.contains(secret) { hits.append(name) }
      note(hits, answer)
    }
    return hits
  }

  private static func peeked(
    at type: HostileGround.RichType, _ ground: HostileGround
  ) async throws -> [String] {
    var hits: [String] = []
    try await ground.attackAndWait(["hold"], [ground.canary], as: type) { folder in
      let note = folder.appending(path: "note").path
      hits = try await seen(ground.canary, by: ["read"], [note], ground)
    }
    return hits
  }

  private static func left(in folders: [String], _ ground: HostileGround) async throws -> [String] {
    let token = "attack\(UUID().uuidString.prefix(8))"
    var hits: [String] = []
    for folder in folders {
      try await ground.attack(["leave"], [folder, token])
      for name in try FileManager.default.contentsOfDirectory(atPath: folder)
      where name.hasPrefix(token) {
        hits.append("\(folder)/\(name)")
        try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
      }
    }
    return hits
  }
}
