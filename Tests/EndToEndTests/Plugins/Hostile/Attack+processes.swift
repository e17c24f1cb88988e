import Foundation
import StandIns
import Waiting

extension Attack {
  /// On other processes.
  static let onProcesses = [
    Attack(
      "limits and priorities of the server: prlimit, setpriority, sched_set*, ioprio_set", .filter,
      .users
    ) { ground in
      try await disturbed(
        [
          "prlimit", "setpriority", "setpriority-group", "setaffinity", "setscheduler", "setattr",
          "ioprio", "ioprio-group", "setpriority-user",
        ], ground) + succeeded("setparam", ["\(ground.server.processIdentifier)"], ground)
    },
    Attack("writing to the server's /proc: oom_score_adj, comm, …", .landlock(1), .users) {
      ground in
      try await disturbed(["proc-write"], ground)
    },
    Attack(
      "signals to the server and the launcher: kill, tgkill, sigqueue, pidfd, SIGIO", .landlock(6),
      .users
    ) { ground in
      var hits: [String] = []
      for name in ["kill", "tgkill", "tkill", "killpg", "sigqueue", "pidfd-signal", "sigio"] {
        hits += try await stopped(by: name, ground.server.processIdentifier, ground)
      }
      let launcher = ground.launched.first?.pid ?? 0
      return hits + (try await stopped(by: "kill", launcher, ground)).map { $0 + " the launcher" }
    },
    Attack(
      "memory, environment and open files of the server: /proc, ptrace, process_vm_readv, pidfd_getfd",
      .landlock(1), .users, .namespace, .capabilities
    ) { ground in
      let server = ground.server.processIdentifier
      let place = ProcessState.environment(of: server)
      let words = ["\(server)", "\(place.lowerBound)", "\(place.count)"]
      var hits = try await seen(
        ground.canary,
        by: ["environ", "environ-task", "mem", "vm-readv", "ptrace"], words, ground)
      hits += try await seen("SQLite format 3", by: ["open-files", "take-files"], words, ground)
      for process in ground.launched where process.words.first?.hasSuffix("richpush-exec") == true {
        let answer = try await ground.attack(["environ"], ["\(process.pid)"])
        if answer.text.contains(ground.canary) { hits.append("environ of the launcher") }
      }
      return hits
    },
    Attack("processes that outlive the call: sessions, orphans, forks without end", .launcher) {
      ground in
      var hits: [String] = []
      for name in ["outlive", "hop"] {
        let token = "\(Int.random(in: 100_000_000...999_999_999))"
        try await ground.attack([name], [token])
        if (0..<5).contains(where: { _ in isAlive(token, ground) }) { hits.append(name) }
        try await eventually("they have ended") {
          for facts in ProcessFacts.running(["sleep", token]) { kill(facts.pid, SIGKILL) }
          return !isAlive(token, ground)
        }
      }
      return hits
    },
    Attack("a fork bomb", .launcher, .users, .namespace) { ground in
      // Nothing limits root's processes before they are counted: they would stop this machine for seconds.
      let isRoot = ground.mode.plugins == .root
      let group =
        isRoot ? ProcessGroup(of: ground.server.processIdentifier, most: 2 * mostProcesses) : nil
      defer { group?.remove() }
      if isRoot, group == nil { return nil }
      let before = Measurements.tasks
      var peak = 0
      let answer = try await ground.attack(["bomb"]) {
        peak = max(peak, Measurements.tasks - before)
      }
      note(["\(peak) processes"], answer)
      let isOver = [502, 504].contains(answer.status)
      if !isOver || isAlive("", ground) { return ["bomb"] }
      // How many there are before they are counted depends on the moment; the table tells the worst.
      if isRoot { return ["\(peak) processes, not limited"] }
      return peak > mostProcesses ? ["\(peak) processes"] : []
    },
  ]

  /// 64 are allowed, and 768 threads, until they are counted; the machine has room for 32,768.
  private static let mostProcesses = 1000

  /// Whether something of an attack is left while no plugin is asked anything.
  private static func isAlive(_ token: String, _ ground: HostileGround) -> Bool {
    !ProcessFacts.running(["sleep", token]).isEmpty
      || !ProcessFacts.running([ground.program.path]).isEmpty
  }

  /// Which of the attacks changed how the server runs.
  private static func disturbed(
    _ names: [String], _ ground: HostileGround
  ) async throws -> [String] {
    var hits: [String] = []
    for name in names {
      let server = ground.server.processIdentifier
      let before = ProcessState(server)
      let connection = try? await ground.attack([name], ["\(server)"])
      connection.map { note(hits, $0) }
      if ProcessState(server) == before { continue }
      hits.append(name)
      try await ground.server.restart(by: SIGKILL)
    }
    return hits
  }

  /// Whether a call that leaves nothing to be seen was allowed.
  static func succeeded(
    _ name: String, _ words: [String], _ ground: HostileGround
  ) async throws -> [String] {
    let answer = try await ground.attack([name], words)
    note([], answer)
    return answer.text.contains(": -1 ") ? [] : [name]
  }

  /// Whether the attack stopped the server or the launcher; they go on at once.
  private static func stopped(
    by name: String, _ pid: Int32, _ ground: HostileGround
  ) async throws -> [String] {
    var wasStopped = false
    func look() {
      for facts in ProcessFacts.family(of: ground.server.processIdentifier)
      where ProcessState.isStopped(facts.pid) {
        wasStopped = true
        kill(facts.pid, SIGCONT)
      }
    }
    try await ground.attack([name], ["\(pid)"], while: look)
    look()
    return wasStopped ? [name] : []
  }
}

/// A control group (cgroups(7)) that limits the processes of a server and its plugins.
struct ProcessGroup {
  private let parent: String
  private let folder: String

  /// Moves a process and its descendants into a new group; nil where this machine does not let us.
  init?(of pid: Int32, most: Int) {
    // Version 1, and version 2.
    let parents = ["/sys/fs/cgroup/pids", "/sys/fs/cgroup"]
    guard let parent = parents.first(where: { access($0 + "/cgroup.procs", W_OK) == 0 }) else {
      return nil
    }
    (self.parent, folder) = (parent, "\(parent)/richpush-\(UUID())")
    ProcessGroup.write("+pids", to: parent + "/cgroup.subtree_control")
    let isLimited =
      mkdir(folder, 0o755) == 0 && ProcessGroup.write("\(most)", to: folder + "/pids.max")
    let family = ProcessFacts.family(of: pid)
    guard isLimited,
      family.allSatisfy({ ProcessGroup.write("\($0.pid)", to: folder + "/cgroup.procs") })
    else {
      remove()
      return nil
    }
  }

  /// Lets the processes go on without the limit.
  func remove() {
    let text = try? String(contentsOfFile: folder + "/cgroup.procs", encoding: .utf8)
    for pid in (text ?? "").split(separator: "\n") {
      ProcessGroup.write(String(pid), to: parent + "/cgroup.procs")
    }
    rmdir(folder)
  }

  @discardableResult
  private static func write(_ text: String, to file: String) -> Bool {
    let descriptor = open(file, O_WRONLY | O_CLOEXEC)
    defer { close(descriptor) }
    return descriptor >= 0 && Glibc.write(descriptor, text, text.utf8.count) == text.utf8.count
  }
}

/// How the kernel runs a process: what others may change of it.
struct ProcessState: Equatable {
  private let texts: [String]

  init(_ pid: Int32) {
    let files = [
      "limits", "oom_score_adj", "coredump_filter", "timerslack_ns", "comm", "autogroup",
    ]
    let status = ProcessState.text(pid, "status").split(separator: "\n")
      .filter { $0.hasPrefix("Cpus_allowed") }.joined()
    let numbers = ProcessState.numbers(pid)
    // Priority, niceness, real-time priority and policy (proc_pid_stat(5)).
    let scheduling = [15, 16, 37, 38].map { numbers.count > $0 ? numbers[$0] : "" }.joined(
      separator: " ")
    texts = files.map { ProcessState.text(pid, $0) } + [status, scheduling, ProcessState.disk(pid)]
  }

  /// Whether it has been stopped, or is about to be: the signal waits until the process is next run.
  static func isStopped(_ pid: Int32) -> Bool {
    text(pid, "status").split(separator: "\n").contains { line in
      if line.hasPrefix("State:") { return line.contains("T") }
      guard line.hasPrefix("SigPnd:") || line.hasPrefix("ShdPnd:") else { return false }
      let signals = line.split(separator: "\t").last.flatMap { UInt64($0, radix: 16) } ?? 0
      return signals & (1 << UInt64(SIGSTOP - 1)) != 0
    }
  }

  /// Where in its memory its environment is.
  static func environment(of pid: Int32) -> Range<UInt> {
    let numbers = numbers(pid)
    guard numbers.count > 48, let begin = UInt(numbers[47]), let end = UInt(numbers[48]) else {
      return 0..<0
    }
    return begin..<max(begin, end)
  }

  /// The fields of its `stat` from the third one on.
  private static func numbers(_ pid: Int32) -> [String] {
    let text = text(pid, "stat")
    guard let end = text.lastIndex(of: ")") else { return [] }
    return text[end...].dropFirst(2).split(separator: " ").map(String.init)
  }

  private static func disk(_ pid: Int32) -> String {
    let output = (try? StartedProgram.run("/usr/bin/ionice", ["-p", "\(pid)"]))?.output ?? Data()
    return String(decoding: output, as: UTF8.self)
  }

  private static func text(_ pid: Int32, _ file: String) -> String {
    (try? Data(contentsOf: URL(filePath: "/proc/\(pid)/\(file)"))).map {
      String(decoding: $0, as: UTF8.self)
    } ?? ""
  }
}
