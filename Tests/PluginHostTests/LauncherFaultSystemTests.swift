import Foundation
import StandIns
import Testing

@testable import PluginHost

/// A launcher that cannot set up a part of the isolation: compiled from its source with one fault.
@Suite(.serialized, .timeLimit(.minutes(2))) struct LauncherFaultSystemTests {
  struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    /// What it replaces in which file.
    let file: String
    let text: String
    let replacement: String
    /// The step that the log names.
    let step: String
  }

  @Test(arguments: [
    Fault(
      testDescription: "the filter of system calls has no room for all rules", file: "seccomp.c",
      text: "program[1024]", replacement: "program[200]", step: "seccomp"),
    Fault(
      testDescription: "a rule of the filter is too long for its jump", file: "seccomp.c",
      text: "if (mask != ~0u) add", replacement: "for (int i = 0; i < 90; i++) add",
      step: "seccomp"),
    Fault(
      testDescription: "the kernel refuses the filter as invalid", file: "seccomp.c",
      text: "  result(SECCOMP_RET_ALLOW);\n", replacement: "", step: "seccomp"),
    Fault(
      testDescription: "a rule of Landlock cannot be added", file: "landlock.c",
      text: "rule_path_beneath = 1,", replacement: "rule_path_beneath = 99,", step: "landlock"),
    Fault(
      testDescription: "orphans would go to another process", file: "supervisor.c",
      text: "prctl(PR_SET_CHILD_SUBREAPER, 1)", replacement: "prctl(-1, 1)", step: "subreaper"),
    Fault(
      testDescription: "/proc does not list the children of a process", file: "descendants.c",
      text: "%s/children", replacement: "%s/none", step: "/proc/PID/task/TID/children"),
    Fault(
      testDescription: "a limit cannot be set", file: "plugin.c", text: "limit(RLIMIT_CORE, 1)",
      replacement: "limit(99, 1)", step: "setrlimit"),
    Fault(
      testDescription: "the plugin would outlive the launcher", file: "plugin.c",
      text: "prctl(PR_SET_PDEATHSIG, SIGKILL)", replacement: "prctl(-1, SIGKILL)",
      step: "pdeathsig"),
  ])
  func `starts no plugin, and says why`(fault: Fault) async throws {
    let folder = NSTemporaryDirectory() + "launcher-fault-\(UUID().uuidString)"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    let launcher = try Self.launcher(with: fault, in: folder)
    let fixture = try PluginFixture { $0.launcher = launcher }
    let report = fixture.host.sandboxReport
    guard report.seccomp, report.landlock > 0 else { try Test.cancel("no seccomp or Landlock") }
    try fixture.script("any", "echo 'Content-Type: text/plain'; echo; echo hi")
    #expect(await fixture.code("any") == .failed)
    #expect(fixture.log.contains("could not be started"), "\(fixture.log)")
    #expect(fixture.log.contains("(\(fault.step), errno "), "\(fixture.log)")
  }

  private static func launcher(with fault: Fault, in folder: String) throws -> String {
    let source = URL(filePath: #filePath).deletingLastPathComponent()
      .appending(path: "../../Sources/richpush-exec").standardizedFileURL
    var files: [String] = []
    for name in try FileManager.default.contentsOfDirectory(atPath: source.path) {
      var text = try String(contentsOf: source.appending(path: name), encoding: .utf8)
      if name == fault.file {
        try #require(text.contains(fault.text), "\(fault.file) has changed")
        text = text.replacing(fault.text, with: fault.replacement)
      }
      try text.write(toFile: "\(folder)/\(name)", atomically: false, encoding: .utf8)
      if name.hasSuffix(".c") { files.append("\(folder)/\(name)") }
    }
    let launcher = "\(folder)/richpush-exec"
    let compiler = try StartedProgram("/usr/bin/cc", ["-std=gnu11", "-o", launcher] + files)
    try #require(compiler.waitForEnd() == 0)
    return launcher
  }
}
