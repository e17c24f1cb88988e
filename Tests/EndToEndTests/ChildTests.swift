import Foundation
import StandIns
import Testing

/// How the programs that tests start come to an end.
@Suite(.timeLimit(.minutes(5))) struct ChildTests {
  @Test func `a program is killed with the tests that started it`() async throws {
    let said = try await Child.run("/usr/bin/setpriv", ["--dump"])
    #expect(said.output.contains { $0.hasPrefix("Parent death signal: ") && $0.contains("KILL") })
  }

  @Test func `a program that does not end is killed, with what it started`() async throws {
    let name = "\(Int.random(in: 100_000...999_999))"
    let killed = await #expect(throws: Child.FellSilent.self) {
      try await Child.run(
        "/bin/sh", ["-c", "echo begun; sleep \(name) & sleep \(name)"], silence: .seconds(2))
    }
    #expect(killed?.result.output == ["begun"])
    #expect(ProcessFacts.running(["sleep", name]).isEmpty)
  }

  @Test func `a program that says what it does may take its time`() async throws {
    // Longer than the silence, in which it is heard by turns on both.
    let steps = "for i in 1 2 3 4 5 6 7 8; do sleep 0.5; echo $i; sleep 0.5; echo $i >&2; done"
    let said = try await Child.run("/bin/sh", ["-c", steps], silence: .seconds(5))
    #expect(said.exitCode == 0 && said.output.last == "8" && said.errors.hasSuffix("8\n"))
  }

  /// Foundation's `Process` crashes with 1,354 of them.
  @Test func `a program has three descriptors, however many are open here`() throws {
    var limits = rlimit()
    #expect(getrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    limits.rlim_cur = limits.rlim_max
    #expect(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limits) == 0)
    var open: [FileHandle] = []
    for count in [10, 900, 1340, 1354, 1360, 5000] {
      while open.count < count {
        open.append(try #require(FileHandle(forReadingAtPath: "/dev/null")))
      }
      for _ in 0..<60 {
        let said = try StartedProgram.run("/bin/ls", ["/proc/self/fd"])
        // The last is the folder that it lists.
        #expect(said.exitCode == 0)
        #expect(String(decoding: said.output, as: UTF8.self) == "0\n1\n2\n3\n")
      }
    }
  }

  @Test func `a program that has ended leaves no descriptor open here`() async throws {
    let before = try #require(ProcessFacts(getpid())).descriptors
    for _ in 0..<200 { _ = try await Child.run("/bin/true", []) }
    let after = try #require(ProcessFacts(getpid())).descriptors
    // Other tests have some meanwhile.
    #expect(after - before < 100)
  }
}
