import Foundation
import Testing
import Waiting

@testable import PluginHost

/// Programs that commands start.
@Suite(.serialized, .timeLimit(.minutes(2))) struct ProgramTests {
  private func shell(_ script: String, _ environment: [String: String] = [:]) -> Program {
    Program(
      "/bin/sh", ["-c", script], environment: ["PATH": "/usr/bin:/bin"].merging(environment) { $1 },
      launcher: PluginFixture.launcher)
  }

  @Test func `says how the program ended`() throws {
    #expect(try shell("exit 0").run() == 0)
    #expect(try shell("exit 255").run() == 255)
    #expect(try shell("kill -KILL $$").run() == nil)
  }

  @Test func `passes arguments and environment on as they are`() throws {
    let script = #"[ "$#:$1:$2:$NAME:$HOME" = "2:a b::c=d:" ]"#
    let program = Program(
      "/bin/sh", ["-c", script, "sh", "a b", ""], environment: ["NAME": "c=d"],
      launcher: PluginFixture.launcher)
    #expect(try program.run() == 0)
  }

  @Test func `reports a program that cannot be started`() throws {
    for path in ["/nonexistent", "/etc/passwd"] {
      let program = Program(path, [], environment: [:], launcher: PluginFixture.launcher)
      #expect(try program.run() == 127)
    }
    let program = Program("/bin/true", [], environment: [:], launcher: "/nonexistent")
    #expect(throws: PluginError.self) { try program.run() }
    #expect(throws: PluginError.self) { try program.start() }
  }

  @Test func `a program in the foreground is in our process group, and no signal is kept from it`()
    throws
  {
    let script = #"""
      read -r _ _ _ _ group _ < /proc/$$/stat
      [ "$group" = "$GROUP" ] || exit 1
      while read -r name value; do
        case "$name $value" in
        "SigBlk: 0000000000000000" | "SigIgn: 0000000000000000") ;;
        "SigIgn: 0000000180000000") ;; # the C library's own two, 32 and 33
        Sig[BI]*) exit 2 ;;
        esac
      done < /proc/self/status
      """#
    let program = shell(script, ["GROUP": "\(getpgrp())"])
    signal(SIGPIPE, SIG_IGN)  // as the server and its tests do
    var (all, former) = (sigset_t(), sigset_t())
    sigfillset(&all)
    pthread_sigmask(SIG_BLOCK, &all, &former)
    defer { pthread_sigmask(SIG_SETMASK, &former, nil) }
    #expect(try program.run() == 0)
  }

  @Test func `a program in the background leads a group of its own, and leaves no zombie`()
    async throws
  {
    let fixture = try PluginFixture()
    let file = try fixture.write("facts", "")
    try shell(
      #"read -r _ _ _ _ group _ < /proc/$$/stat; echo "$$ $group ." > "$FILE"; echo lost"#,
      ["FILE": file]
    ).start()
    var words: [Substring] = []
    try await eventually("it has run") {
      words = try String(contentsOfFile: file, encoding: .utf8).split(separator: " ")
      return words.count == 3
    }
    let child = try #require(words.first.flatMap { pid_t($0) })
    #expect(words[1] == words[0])
    try await eventually("it is collected") { kill(child, 0) != 0 }
  }
}
