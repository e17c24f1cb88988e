import Glibc
import Testing

@testable import PluginHost

/// What the launcher is told, and what supervisors report.
@Suite(.serialized, .timeLimit(.minutes(1))) struct LaunchSpecTests {
  private var spec: LaunchSpec {
    LaunchSpec(
      program: "/p/a", folder: "/p", memoryMiB: 3, fileMiB: 2, spaceMiB: 5,
      user: .server(reason: "it is a test"),
      sandbox: LaunchSpec.Sandbox(
        level: .standard, readable: ["/r", "/s"], assets: "/s", writable: "/w", network: false))
  }

  private func words(_ spec: LaunchSpec) throws -> [String] {
    try spec.encoded().split(separator: 0, omittingEmptySubsequences: false).dropLast()
      .map { String(decoding: $0, as: UTF8.self) }
  }

  @Test func `names the limits in the units of the launcher`() throws {
    #expect(
      try words(spec) == [
        "program=/p/a", "folder=/p", "grace=0", "data=3145728", "memory=3145728",
        "file-size=2097152", "files=256", "processes=64", "space=5242880", "sandbox=standard",
        "write=/w", "read=/r", "read=/s", "--",
      ])
  }

  @Test func `names what only some plugins have`() throws {
    var spec = spec
    (spec.user, spec.deadline, spec.gracePeriod) = (.dedicated(62_001), .seconds(3), .seconds(2))
    (spec.idleCPUTime, spec.cpuSeconds) = (.milliseconds(1500), 4)
    (spec.sandbox.network, spec.runsForEachCall) = (true, true)
    spec.environment = [("A", "b"), ("C", "")]
    let words = try words(spec)
    for word in [
      "uid=62001", "deadline=3000", "grace=2000", "idle-cpu=1500", "cpu=4", "network=1", "calls=1",
    ] {
      #expect(words.prefix { $0 != "--" }.contains(word), "\(word)")
    }
    #expect(words.suffix(3) == ["--", "A=b", "C="])
  }

  @Test func `allows files of the largest answer's size several times`() {
    let limits = Manifest.Limits(seconds: 1, memoryMiB: 1, outputMiB: 20)
    #expect(LaunchSpec.spaceMiB(for: limits) == 144)
  }

  @Test func `cannot be longer than a packet`() {
    var spec = spec
    spec.sandbox.readable = Array(repeating: String(repeating: "x", count: 4000), count: 41)
    #expect(throws: PluginError.self) { try spec.encoded() }
  }

  @Test(arguments: [
    ("exited 0 10 20\n", ProcessExit.exited(0)), ("exited 65 1 2 \n", .exited(65)),
    ("killed 9 1 2 \n", .killed(signal: 9)), ("timed-out 0 1 2 \n", .timedOut),
    ("stopped 0 1 2 \n", .stopped), ("exceeded 1 1 2 \n", .tooManyProcesses),
    ("exceeded 2 1 2 \n", .tooMuchSpace), ("exceeded 3 1 2 \n", .tooMuchIdleCPUTime),
    ("exceeded 4 1 2 \n", .tooMuchMemory), ("exceeded 5 1 2 \n", .uncountable),
    ("exceeded 6 1 2 \n", .supervisorLost),
    ("failed 2 0 0 execve\n", .notStarted(2, step: "execve")),
    ("failed 22 0 0 \n", .notStarted(22, step: "order")), ("", .supervisorLost),
    ("exited x 1 2", .supervisorLost), ("exited 0 1", .supervisorLost),
    ("odd 0 1 2", .supervisorLost),
  ])
  func `is reported as it ended`(report: String, exit: ProcessExit) {
    #expect(ProcessExit(report: report.utf8) == exit)
  }

  @Test(
    arguments: [
      (ProcessExit.exited(0), nil), (.exited(1), .failed), (.exited(65), .invalidContent),
      (.exited(69), .busy), (.exited(75), .busy), (.exited(70), .failed), (.exited(-1), .failed),
      (.killed(signal: 15), .failed), (.timedOut, .timedOut), (.stopped, .failed),
      (.tooManyProcesses, .failed), (.tooMuchSpace, .failed), (.tooMuchMemory, .failed),
      (.tooMuchIdleCPUTime, .failed), (.uncountable, .failed), (.supervisorLost, .failed),
      (.notStarted(Int(EAGAIN), step: "fork"), .busy),
      (.notStarted(Int(ENFILE), step: "pipe"), .busy),
      (.notStarted(Int(EMFILE), step: "pipe"), .busy),
      (.notStarted(Int(ENOENT), step: "execve"), .failed),
    ] as [(ProcessExit, PluginError.Code?)])
  func `means the error that docs/PLUGINS.md names`(exit: ProcessExit, code: PluginError.Code?) {
    var error: PluginError?
    do throws(PluginError) { try exit.check(PluginFixture.plugin(Manifest())) } catch let thrown {
      error = thrown
    }
    #expect(error?.code == code)
  }
}
