import Dispatch
import Foundation
import StandIns
import Testing

@testable import Store

/// Which system calls a second process of these tests makes, as strace(1) sees them.
@Suite(.sqlite, .timeLimit(.minutes(1))) struct DurabilityTests {
  private static let variable = "RICHPUSH_TEST_TRACED_FOLDER"
  private let scratch = Scratch()

  /// Whether strace is installed and may trace.
  private static func canTrace() -> Bool {
    (try? StartedProgram.run("/usr/bin/strace", ["-o", "/dev/null", "/bin/true"]))?.exitCode == 0
  }

  @Test(.enabled("needs strace, and the right to trace processes") { canTrace() })
  func `content, transactions and backups are synchronized before they count`() async throws {
    let output = scratch.folder + "/trace"
    let traced = try StartedProgram.tests(
      named: "works while it is traced", environment: [Self.variable: "\(scratch.folder)/data"],
      by: [
        "/usr/bin/strace",
        "-f", "-y", "--seccomp-bpf", "-e", "trace=/^(f(data)?sync|syncfs|rename.*|mkdir.*)$", "-o",
        output,
      ])
    let exitCode = await traced.exitCode()
    try #require(exitCode == 0)
    let text = try #require(
      FileManager.default.contents(atPath: output).map { String(decoding: $0, as: UTF8.self) })
    let calls = text.split(separator: "\n").map(String.init)

    // A single blob: its bytes, its name, the folder's names; these also when it is added again.
    let single = Digest(of: "single").hex
    let rename = try #require(calls.firstIndex { $0.contains("rename") && $0.contains(single) })
    let source = try #require(calls[rename].split(separator: "\"").dropFirst().first)
    #expect(calls[..<rename].contains { $0.contains("fsync(") && $0.contains("<\(source)>") })
    #expect(
      calls[rename...].count {
        $0.contains("fsync(") && $0.contains("/blobs/\(single.prefix(2))>")
      } >= 2)
    // Many blobs: the file system before the names, and again after them.
    let names = calls.indices.filter { index in
      calls[index].contains("rename") && calls[index].contains("/blobs/") && index != rename
    }
    let rounds = calls.indices.filter {
      calls[$0].contains("syncfs(") && calls[$0].contains("/blobs>")
    }
    try #require(names.count == 40 && rounds.count >= 2)
    #expect(rounds[0] < rounds[rounds.count - 1])
    #expect(names.contains { $0 > rounds[0] && $0 < rounds[rounds.count - 1] })
    // A transaction: the log of the database.
    #expect(calls.contains { $0.contains("sync(") && $0.contains("richpush.db-wal>") })
    // A backup: everything in it, its name, the folder that has the name.
    let copy = try #require(
      calls.firstIndex {
        $0.contains("rename") && $0.contains("/copy>, \"richpush.db\"")
      })
    let moved = try #require(calls.firstIndex { $0.contains("/copy>, \"blobs\"") })
    #expect(
      calls[..<moved].contains {
        $0.contains("syncfs(") && $0.contains("/copy/richpush.unfinished>")
      })
    #expect(calls[moved..<copy].contains { $0.contains("fsync(") && $0.contains("/copy>") })
    #expect(calls[copy...].contains { $0.contains("fsync(") && $0.contains("/copy>") })
    #expect(calls[copy...].contains { $0.contains("fsync(") && $0.contains("/data>") })
    // A folder: the folder that has its name.
    let folder = try #require(
      calls.firstIndex { $0.contains("mkdir") && $0.contains("/renditions\"") })
    #expect(calls[folder...].prefix(2).contains { $0.contains("fsync(") && $0.contains("/data>") })
  }

  @Test(.enabled(if: getenv(variable) != nil))
  func `works while it is traced`() async throws {
    let folder = try #require(getenv(Self.variable).map { String(cString: $0) })
    let store = try Store(folder: folder)
    for _ in 0..<2 { _ = try await store.blobs.add(bytes: Array("single".utf8)) }
    // Written before, so that the commits meet.
    let files = try (0..<40).map { number in
      var writer = try HashingWriter(in: store.folder)
      try writer.write(Array("\(number)".utf8))
      return writer.target
    }
    var calls = GroupCommit.Calls()
    // Those that are alone are not finished before others were committed together.
    let round = DispatchSemaphore(value: 0)
    calls.syncfs = { [syncfs = calls.syncfs] file throws(StoreError) in
      try syncfs(file)
      round.signal()
    }
    calls.fsync = { [fsync = calls.fsync] file throws(StoreError) in
      round.wait()
      round.signal()
      try fsync(file)
    }
    let group = try GroupCommit(store.folder.blobs, calls: calls)
    try await withThrowingTaskGroup(of: Void.self) { tasks in
      for (number, file) in files.enumerated() {
        tasks.addTask { try await group.commit(file, as: "\(store.folder.blobs)/file-\(number)") }
      }
      try await tasks.waitForAll()
    }
    try await store.accounts.addUser("alice", hash: "", role: .device)
    try await store.backup(to: folder + "/copy")
  }
}
