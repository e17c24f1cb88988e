import Glibc
import Testing

@testable import Primitives

/// Programs that run as children.
@Suite(.timeLimit(.minutes(1))) struct ChildProcessTests {
  private func shell(_ script: String, _ environment: [String: String] = [:]) -> ChildProcess {
    ChildProcess("/bin/sh", ["-c", script], environment: environment)
  }

  /// Two connected sockets.
  private func sockets() throws -> (FileDescriptor, FileDescriptor) {
    var ends: [Int32] = [-1, -1]
    let kind = Int32(SOCK_STREAM.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, kind, 0, &ends) == 0)
    return try (
      #require(FileDescriptor(owning: ends[0])), #require(FileDescriptor(owning: ends[1]))
    )
  }

  @Test func `says how the program ended`() throws {
    #expect(try shell("exit 0").run() == 0)
    #expect(try shell("exit 255").run() == 255)
    #expect(try shell("kill -KILL $$").run() == nil)
  }

  @Test func `passes arguments and environment on as they are`() throws {
    let script = #"[ "$#:$1:$2:$NAME:$HOME" = "2:a b::c=d:" ]"#
    let child = ChildProcess(
      "/bin/sh", ["-c", script, "sh", "a b", ""], environment: ["NAME": "c=d"])
    #expect(try child.run() == 0)
  }

  @Test func `reports a program that cannot be started`() {
    for (path, error) in [("/nonexistent", ENOENT), ("/etc/passwd", EACCES)] {
      let child = ChildProcess(path, [], environment: [:])
      #expect(throws: Errno(rawValue: error)) { try child.run() }
      #expect(throws: Errno(rawValue: error)) { try child.start() }
    }
  }

  @Test func `gives the program its input, no other descriptor and no blocked signal`() throws {
    let (input, output) = try sockets()
    try input.write(Array("hello\n".utf8))
    let script = #"""
      read line && [ "$line" = hello ] || exit 1
      for number in 3 4 5 6 7 8 9 10 20 30; do
        [ "$(readlink /proc/$$/fd/$number)" = "$(readlink /proc/$$/fd/0)" ] && exit 2
      done
      while read -r name value; do
        case "$name $value" in
        "SigBlk: 0000000000000000" | "SigIgn: 0000000000000000") ;;
        "SigIgn: 0000000180000000") ;; # the C library's own two, 32 and 33
        Sig[BI]*) exit 3 ;;
        esac
      done < /proc/self/status
      exit 0
      """#
    let child = ChildProcess(
      "/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"], input: output)
    let status = try child.run()
    #expect(status == 0)
  }

  @Test func `collects a program that ran in the background`() throws {
    let ours: FileDescriptor
    var theirs: FileDescriptor?
    (ours, theirs) = try sockets()
    // It is the leader of a process group of its own, and its output goes nowhere.
    let script = #"read -r _ _ _ _ group _ < /proc/$$/stat; echo $$ $group >&0; echo lost"#
    try ChildProcess("/bin/sh", ["-c", script], environment: [:], input: theirs).start()
    theirs = nil
    let words = String(decoding: try ours.readAll(limit: 100), as: UTF8.self).split {
      " \n".contains($0)
    }
    let child = try #require(words.first.flatMap { pid_t($0) })
    #expect(words == ["\(child)", "\(child)"])
    // A zombie would remain.
    while kill(child, 0) == 0 { sched_yield() }
  }
}
