extension Attack {
  /// On the limits: what they count is kept where it is not easily found.
  static let byHiding = [
    Attack("memory, files and sockets of threads whose process has ended its first one", .launcher)
    { ground in
      try await held(
        [
          "memory-without-leader", "memory-in-turns", "files-without-leader",
          "sockets-without-leader",
        ], ground)
    },
    Attack("threads with open files of their own: clone, close_range", .filter) { ground in
      try await held(["thread-with-own-files", "unsharing-thread"], ground)
    },
    Attack(
      "files without a name that nobody has open: in mappings, on the way between sockets",
      .launcher
    ) { ground in
      try await held(["files-in-mappings", "files-in-flight"], ground)
    },
    Attack("files in folders that cannot be listed, or are nested too deep", .launcher) { ground in
      try await held(["unlisted-folder", "deep-folder"], ground)
    },
    Attack("pages in pipes: vmsplice", .filter) { ground in
      try await held(["pages-in-pipes"], ground)
    },
  ]

  /// Which of the attacks held far more than a plugin may for two seconds, which they say.
  private static func held(_ names: [String], _ ground: HostileGround) async throws -> [String] {
    var hits: [String] = []
    for name in names {
      let answer = try await ground.attack([name])
      if answer.text.contains("held ") { hits.append(name) }
      note(hits, answer)
    }
    return hits
  }
}
