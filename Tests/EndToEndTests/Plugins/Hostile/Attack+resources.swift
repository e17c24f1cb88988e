import Foundation

extension Attack {
  /// On memory, disk and what is shared by the whole machine.
  static let onResources = [
    Attack("2 GiB of shared memory and memfds", .launcher, .filter) { ground in
      // What is in no mapping is in nobody's statistics but the machine's.
      try await overfull(["shared-memory", "private-file"], ground)
        + overfull(["memfd"], ground) { _ in Measurements.sharedMemory }
        + succeeded("memfd-secret", [], ground)
    },
    Attack("2 GiB of shared memory that is no longer mapped", .filter) { ground in
      try await overfull(["shared-dontneed", "shared-unmapped"], ground) { _ in
        Measurements.sharedMemory
      }
    },
    Attack("the same by /dev/zero", .landlock(1)) { ground in
      try await overfull(["zero-device"], ground) { _ in Measurements.sharedMemory }
    },
    Attack("2 GiB of page tables", .launcher) { ground in
      try await overfull(["page-tables"], ground) { _ in Measurements.pageTables }
    },
    Attack("sockets with full queues", .launcher) { ground in
      let answer = try await ground.attack(["socket-queues"])
      note(["\(answer.status)"], answer)
      return answer.status == 502 ? [] : ["socket-queues"]
    },
    Attack("filling /dev/shm, /tmp and /var/tmp", .landlock(1)) { ground in
      let token = "attack\(UUID().uuidString.prefix(8))"
      var hits: [String] = []
      for folder in ["/dev/shm", "/tmp", "/var/tmp"] {
        try await ground.attack(["elsewhere"], [folder, token])
        var bytes = 0
        for name in try FileManager.default.contentsOfDirectory(atPath: folder)
        where name.hasPrefix(token) {
          bytes += FileFacts.size("\(folder)/\(name)")
          try FileManager.default.removeItem(atPath: "\(folder)/\(name)")
        }
        if bytes > mostDisk { hits.append("\(folder): \(bytes >> 20) MiB") }
      }
      return hits
    },
    Attack("four processes filling their memory at once", .launcher) { ground in
      try await overfull(["four-at-once"], ground)
    },
    Attack("IPC that stays: shmget, semget, msgget, mq_open", .filter) { ground in
      let words = ["\(Int32.random(in: 1...Int32.max))", "/richpush-\(UUID())"]
      try await ground.attack(["shmget", "semget", "msgget", "mq-open"], words)
      let left = try await ground.run("look", words)
      _ = try await ground.run("clean-up", words)
      return left.isEmpty ? [] : [left]
    },
    Attack("IPC of others: shmat, shmctl, semop, semctl, msgsnd", .filter) { ground in
      let ids = try await ground.run("make-foreign", []).split(separator: " ").map(String.init)
      let answer = try await ground.attack(["foreign-ipc"], ids)
      let changes = try await ground.run("look-at-foreign", ids)
      note([changes], answer)
      return changes.isEmpty ? [] : [changes]
    },
    Attack("filling the disk, also with files that have no name", .launcher, .filter) { ground in
      try await overfull(
        ["flood-disk", "nameless", "hidden", "allocated"], beyond: mostDisk, ground
      ) { Measurements.disk(of: $0, ground.data) }
    },
    Attack("a million empty files", .launcher) { ground in
      let peak = try await peak(of: "flood-names", exceeding: mostFiles, ground) { _ in
        Measurements.files(in: ground.data)
      }
      return peak > mostFiles ? ["\(peak) files"] : []
    },
    Attack("a gigabyte of answer or of complaints", .launcher) { ground in
      let before = ground.server.log.utf8.count
      let memory = ProcessFacts(ground.server.processIdentifier)?.memory ?? 0
      let answer = try await ground.attack(["flood-output"], ["answer"])
      try await ground.attack(["flood-output"], ["errors"])
      let growth = (ProcessFacts(ground.server.processIdentifier)?.memory ?? 0) - memory
      var hits = [502, 504].contains(answer.status) ? [] : ["answered \(answer.status)"]
      if ground.server.log.utf8.count - before > 1 << 20 { hits.append("log") }
      if growth > 64 << 10 { hits.append("memory: \(growth) KiB") }
      return hits
    },
  ]

  /// `memoryMiB` of the manifest and a quarter of it, and 64 MiB for what goes on while it is ended.
  private static let mostMemory = (512 + 128 + 64) << 20
  /// The same of the 144 MiB that a scratch folder may hold; and as much again for a slow disk.
  private static let mostDisk = 2 * (144 + 36 + 64) << 20
  private static let mostFiles = 200_000

  /// Which of the attacks held more memory than a plugin may, or more of something else.
  private static func overfull(
    _ names: [String], beyond most: Int = mostMemory, _ ground: HostileGround,
    _ measure: ([ProcessFacts]) -> Int = Measurements.memory
  ) async throws -> [String] {
    var hits: [String] = []
    for name in names {
      let peak = try await peak(of: name, exceeding: most, ground, measure)
      if peak > most { hits.append("\(name): \(peak >> 20) MiB") }
    }
    return hits
  }

  /// The most that is seen while the attack goes on, where it is more than so much in none of three attempts: a
  /// busy machine may hold up the launcher itself for some milliseconds, in which 100 MiB are filled.
  private static func peak(
    of name: String, exceeding most: Int, _ ground: HostileGround,
    _ measure: ([ProcessFacts]) -> Int
  ) async throws -> Int {
    var peak = Int.max
    for _ in 0..<3 where peak > most {
      peak = min(peak, try await self.peak(of: name, ground, measure))
    }
    return peak
  }

  /// The most that is seen while the attack goes on once.
  private static func peak(
    of name: String, _ ground: HostileGround, _ measure: ([ProcessFacts]) -> Int
  ) async throws -> Int {
    let before = measure([])
    var peak = 0
    let answer = try await ground.attack([name]) {
      peak = max(peak, measure(ground.launched) - before)
    }
    note(["\(peak)"], answer)
    return peak
  }
}

/// What a family of processes uses, in bytes.
enum Measurements {
  /// Memory of its own, and shared memory that it has mapped.
  static func memory(of family: [ProcessFacts]) -> Int {
    family.reduce(0) { sum, process in
      sum + process.memory << 10 + value("RssShmem:", in: "/proc/\(process.pid)/status")
    }
  }

  /// The shared memory of the whole machine.
  static var sharedMemory: Int { value("Shmem:", in: "/proc/meminfo") }

  /// The page tables of the whole machine.
  static var pageTables: Int { value("PageTables:", in: "/proc/meminfo") }

  /// All threads of this machine.
  static var tasks: Int {
    let text = (try? Data(contentsOf: URL(filePath: "/proc/loadavg"))) ?? Data()
    let counts = String(decoding: text, as: UTF8.self).split(separator: " ").dropFirst(3).first
    return counts?.split(separator: "/").last.flatMap { Int($0) } ?? 0
  }

  private static func value(_ name: String, in file: String) -> Int {
    let text = (try? Data(contentsOf: URL(filePath: file))) ?? Data()
    let line = String(decoding: text, as: UTF8.self).split(separator: "\n")
      .first { $0.hasPrefix(name) }
    let words = line?.split(whereSeparator: \.isWhitespace) ?? []
    return (words.dropFirst().first.flatMap { Int($0) } ?? 0) << 10
  }

  /// The files below a folder, and those without a name that the processes have open.
  static func disk(of family: [ProcessFacts], _ folder: URL) -> Int {
    var sum = 0
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    while let file = files?.nextObject() as? URL { sum += size(file.path) }
    for process in family {
      let place = "/proc/\(process.pid)/fd"
      for name in (try? FileManager.default.contentsOfDirectory(atPath: place)) ?? [] {
        sum += size("\(place)/\(name)", unnamed: true)
      }
    }
    return sum
  }

  private static func size(_ path: String, unnamed: Bool = false) -> Int {
    var status = stat()
    guard (unnamed ? stat(path, &status) : lstat(path, &status)) == 0,
      status.st_mode & S_IFMT == S_IFREG, !unnamed || status.st_nlink == 0
    else { return 0 }
    return Int(status.st_blocks) * 512
  }

  /// How many files there are below a folder.
  static func files(in folder: URL) -> Int {
    let files = FileManager.default.enumerator(at: folder, includingPropertiesForKeys: nil)
    var count = 0
    while files?.nextObject() != nil { count += 1 }
    return count
  }
}
