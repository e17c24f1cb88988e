import Foundation
import Testing

/// How the programs that tests start come to an end.
@Suite(.timeLimit(.minutes(5))) struct ChildTests {
  @Test func `a program is killed with the tests that started it`() async throws {
    let said = try await Child.run("/usr/bin/setpriv", ["--dump"])
    #expect(said.output.contains { $0.hasPrefix("Parent death signal: ") && $0.contains("KILL") })
  }

  @Test func `a program that does not end is killed, with what it started`() async throws {
    let name = "\(Int.random(in: 100_000...999_999))"
    await #expect(throws: Child.TimeLimitReached.self) {
      try await Child.run(
        "/bin/sh", ["-c", "sleep \(name) & sleep \(name)"], limit: .milliseconds(200))
    }
    #expect(ProcessFacts.running(["sleep", name]).isEmpty)
  }
}
