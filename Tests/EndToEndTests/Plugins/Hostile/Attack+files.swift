import Foundation
import Testing

extension Attack {
  /// On what a file is but for its content.
  static let onFiles = [
    Attack(
      "chmod of the server's files: chmod, fchmod, fchmodat, fchmodat2, ACLs", .filter, .users
    ) { ground in
      try await touched(
        ["chmod", "fchmod", "fchmodat", "fchmodat2", "chmod-place", "chmod-32bit", "acl"], ground)
        + own(["chmod", "fchmod", "fchmodat2", "chmod-place"], ground) + database(["chmod"], ground)
    },
    Attack("chown", .filter, .users) { ground in
      try await touched(["chown", "lchown", "fchown", "fchownat"], ground)
    },
    Attack("extended attributes", .filter, .users) { ground in
      let removals = ["removexattr", "lremovexattr", "fremovexattr", "removexattrat"]
      for name in removals { _ = try await ground.run("setxattr", [ground.victim(name)]) }
      return try await touched(
        ["setxattr", "lsetxattr", "fsetxattr", "setxattrat"] + removals, ground)
        + own(["setxattr", "fsetxattr"], ground)
    },
    Attack("file times", .filter, .users) { ground in
      try await touched(["utimensat", "futimens", "futimesat", "utime", "utimes"], ground)
        + own(["utimensat", "futimens"], ground)
    },
    Attack("file flags (chattr) and leases on a lent asset", .filter, .users) { ground in
      try await own(["setflags", "fssetxattr", "file-setattr", "setversion"], ground)
        + lease(ground)
    },
    Attack("mode, attributes, times and flags of a lent asset", .filter, .users) { ground in
      let blob = try blob(of: .attack, ground)
      let before = FileFacts(blob, hasContent: false)
      let time = modified(blob)
      let attributes = try await ground.run("look-at", [blob])
      try await ground.attack(["chmod-lent"])
      let now = try await ground.run("look-at", [blob])
      return FileFacts(blob, hasContent: false) == before && modified(blob) == time
        && attributes == now
        ? [] : ["chmod-lent"]
    },
    Attack("making setuid and setgid files", .filter) { ground in
      var effects: [String] = []
      try await ground.attackAndWait(["setuid-files"]) { folder in
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        effects = names.filter { FileFacts.isPrivileged(folder.appending(path: $0).path) }
      }
      return effects
    },
  ]

  /// Which of the attacks did anything to files of the server's, each to one of its own.
  static func touched(
    _ names: [String], in folder: URL? = nil, _ ground: HostileGround
  ) async throws -> [String] {
    let folder = folder ?? ground.data.appending(path: "victims")
    let victims = try names.map { name in
      let path = folder.appending(path: name).path
      return try FileManager.default.fileExists(atPath: path)
        ? path : ground.victim(name, in: folder)
    }
    let before = victims.map { FileFacts($0) }
    let answer = try await ground.attack(
      names, [folder.appending(path: "%").path, "\(ground.server.processIdentifier)"])
    let hits = zip(names, zip(victims, before)).filter { FileFacts($1.0) != $1.1 }.map(\.0)
    note(hits, answer)
    return hits
  }

  /// Which of them did anything to the plugin's own program, which belongs to the server's user.
  private static func own(_ names: [String], _ ground: HostileGround) async throws -> [String] {
    var hits: [String] = []
    for name in names {
      // Not the program: while it runs, it is busy.
      let file = ground.program.deletingLastPathComponent().appending(path: "plugin.json").path
      let before = FileFacts(file)
      try await ground.attack([name], [file])
      if FileFacts(file) != before { hits.append("own \(name)") }
      chmod(file, 0o644)
    }
    return hits
  }

  private static func database(_ names: [String], _ ground: HostileGround) async throws -> [String]
  {
    let file = ground.data.appending(path: "richpush.db").path
    let before = FileFacts(file, hasContent: false)
    try await ground.attack(names, [file])
    defer { chmod(file, 0o600) }
    return FileFacts(file, hasContent: false) == before ? [] : ["database"]
  }

  /// While a plugin has a lease on its asset, whoever opens the blob waits for up to 45 seconds.
  private static func lease(_ ground: HostileGround) async throws -> [String] {
    let blob = try blob(of: .attack, ground)
    var isHeld = false
    try await ground.attackAndWait(["lease"]) { _ in
      let file = open(blob, O_RDONLY | O_NONBLOCK)
      isHeld = file < 0 && errno == EWOULDBLOCK
      close(file)
    }
    return isHeld ? ["lease"] : []
  }

  /// The file in which the server keeps a type's asset.
  static func blob(of type: HostileGround.RichType, _ ground: HostileGround) throws -> String {
    let content = Data("\(type.rawValue) \(ground.canary)".utf8)
    // Elsewhere in the data folder it may be too, for as long as a plugin has it.
    let blobs = ground.data.appending(path: "blobs")
    let files = FileManager.default.enumerator(at: blobs, includingPropertiesForKeys: nil)
    let blob = files?.lazy.compactMap { $0 as? URL }.first {
      (try? Data(contentsOf: $0)) == content
    }
    return try #require(blob, "there is no blob of \(type)").path
  }

  private static func modified(_ path: String) -> [Int] {
    var status = stat()
    stat(path, &status)
    return [status.st_mtim.tv_sec, status.st_mtim.tv_nsec]
  }

  /// For whoever wants to know what a plugin was told.
  static func note(_ hits: [String], _ answer: RawConnection.Answer) {
    guard AttackTable.isTold else { return }
    print(hits, answer.status, answer.text.prefix(2000))
  }
}
