import Foundation
import Testing
import Waiting

/// A plugin with a user of its own, ended at the worst moment: it never outlives its supervisor.
@Suite(
  .timeLimit(.minutes(1)), .serialized, .enabled(if: getuid() == 0, "only root may change users"))
struct EndedPluginSystemTests {
  private static let user = "60706"

  /// A folder with a plugin that says that it runs, and stays.
  private struct Place {
    let scratch = try? Scratch()
    let sleeper = ["sleep", String(Int.random(in: 100_000_000...999_999_999))]

    /// The words after the program's name.
    func words() throws -> [String] {
      let scratch = try #require(scratch)
      let folder = scratch.folder.path
      // Here the launcher makes the folder of the plugin's user, as in one that the server has made.
      chmod(folder, 0o771)
      let script = "#!/bin/sh\n: > \(folder)/tmp/runs\nexec \(sleeper.joined(separator: " "))\n"
      let program = try scratch.drop(Array(script.utf8), as: "program", executable: true).path
      return [
        "program=\(program)", "uid=\(user)", "sandbox=standard", "write=\(folder)/tmp",
        "processes=64",
      ]
    }

    var hasRun: Bool {
      FileManager.default.fileExists(atPath: (scratch?.folder.path ?? "") + "/tmp/runs")
    }
    var isAlive: Bool { !ProcessFacts.running(sleeper).isEmpty }
  }

  /// Whether a process has changed to the plugin's user.
  private static func hasChanged(_ process: ProcessFacts) -> Bool {
    let status = try? String(contentsOfFile: "/proc/\(process.pid)/status", encoding: .utf8)
    return status?.contains("\nUid:\t\(user)\t") == true
  }

  @Test(arguments: [SIGKILL, SIGTERM])
  func `does not run on when it is ended while it changes to its user`(signal: Int32) async throws {
    // On a machine that stands still for a moment it goes on before it is ended.
    var attempts = 0
    repeat { attempts += 1 } while try await !end(by: signal, isLast: attempts == 4)
  }

  /// False if it was not ended in time, and it is to be repeated.
  private func end(by signal: Int32, isLast: Bool) async throws -> Bool {
    let place = Place()
    let launcher = try Package.program("richpush-exec").path
    // When it was last seen before the change.
    var last = ContinuousClock.now
    // strace holds the child for two seconds after the change, as a busy machine might.
    let child = try Child(
      "/usr/bin/strace",
      ["-f", "-qq", "-o", "/dev/null", "-e", "trace=setresuid"]
        + ["-e", "inject=setresuid:delay_exit=2000000", launcher] + place.words())
    var supervisor: Int32 = 0
    try await eventually("it has changed to its user") {
      let now = ContinuousClock.now
      let family = ProcessFacts.family(of: child.processIdentifier).filter {
        $0.words.first == launcher
      }
      supervisor = family.first?.pid ?? 0
      if family.contains(where: Self.hasChanged) { return true }
      last = now
      return false
    }
    let hadRun = place.hasRun
    kill(supervisor, signal)
    let wasInTime = .now - last < .seconds(1.8)
    let exitCode = await child.exitCode()
    guard wasInTime || isLast else { return false }
    #expect(!hadRun)
    #expect(exitCode == (signal == SIGKILL ? -SIGKILL : 124), "\(child.errors)")
    #expect(!place.isAlive)
    if signal == SIGKILL { #expect(!place.hasRun) }
    return true
  }

  @Test func `ends with its supervisor though it has changed its user`() async throws {
    let place = Place()
    let supervisor = try Child("richpush-exec", place.words())
    try await eventually("it runs") { place.hasRun && place.isAlive }
    supervisor.send(SIGKILL)
    try await eventually("it has ended") { !place.isAlive }
  }
}
