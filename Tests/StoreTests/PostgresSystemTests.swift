import Foundation
import StandIns
import Testing

@testable import Store

/// The store on a real PostgreSQL server.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"), .serialized,
  .timeLimit(.minutes(10)))
struct PostgresSystemTests {
  @Test func `every test of the store passes on PostgreSQL, too`() async throws {
    let server = try PostgresServer()
    let output = server.folder + "/output"
    _ = FileManager.default.createFile(atPath: output, contents: nil)
    let file = try FileHandle(forWritingTo: URL(filePath: output))
    let status = try await BlockingQueue("tests").run {
      let child = try ChildProcess.start(
        // Results are written to standard error.
        "/bin/sh",
        [
          "-c", #"exec "$0" "$@" 2>&1"#, ChildProcess.ownProgram, "--testing-library",
          "swift-testing", "--no-parallel", "--filter", "^StoreTests\\.",
          "--skip", "SystemTests",
        ],
        environment: [
          "RICHPUSH_TEST_DATABASE=\(server.url)", "NO_COLOR=1",
          "TMPDIR=\(FileManager.default.temporaryDirectory.path)",
        ], output: file.fileDescriptor)
      var status: Int32 = 0
      while waitpid(child, &status, 0) < 0, errno == EINTR {}
      return status
    }
    let lines = try String(contentsOfFile: output, encoding: .utf8).split(separator: "\n")
    let failures = lines.filter { $0.hasPrefix("✘") }
    #expect(status == 0 && failures.isEmpty, "\(failures.joined(separator: "\n"))")
    // Most of them ran, and not only the ones without a database.
    #expect(lines.count { $0.hasPrefix("✔ Test ") } > 120)
    #expect(lines.contains { $0.contains("Suite PostgresTests passed") })
  }

  @Test func `a server that is away, or hangs, fails requests soon, and all heals by itself`()
    async throws
  {
    let (server, scratch) = (try PostgresServer(), Scratch())
    let store = try Store(folder: scratch.folder, database: server.url)
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    for round in 0..<2 {
      if round == 0 { try server.stop() } else { try server.signal(SIGSTOP) }
      let start = ContinuousClock.now
      await #expect { try await store.accounts.users() } throws: { error in
        (error as? StoreError)?.code == .unavailable
      }
      await #expect { try await store.probe() } throws: { error in
        (error as? StoreError)?.code == .unavailable
      }
      #expect(ContinuousClock.now - start < .seconds(18))
      if round == 0 { try server.start() } else { try server.signal(SIGCONT) }
      while (try? await store.probe()) == nil { try await Task.sleep(for: .milliseconds(50)) }
      while (try? await store.accounts.users().count) != 1 {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
  }

  @Test func `receipts that could not be written are written when the database is back`()
    async throws
  {
    let (server, scratch) = (try PostgresServer(), Scratch())
    let store = try Store(folder: scratch.folder, database: server.url, now: { scratch.now })
    try await store.accounts.addUser("alice", hash: "h", role: .device)
    for _ in 0..<2 { _ = try await store.notifications.create(.any(to: alice)) }
    let time = scratch.now
    try server.crash()
    store.notifications.recordFetched(0, user: alice)
    store.notifications.recordSent([0], user: alice)
    // The writer has tried.
    await #expect(throws: StoreError.self) { try await store.probe() }
    store.notifications.recordFetched(1, user: alice)
    scratch.pass(60)
    try server.start()
    for id in 0..<2 {
      while (try? await store.notifications.receipts(of: id).first?.fetched) != time {
        try await Task.sleep(for: .milliseconds(50))
      }
    }
    while try await store.notifications.receipts(of: 0).first?.sent != time {
      try await Task.sleep(for: .milliseconds(50))
    }
    #expect(store.droppedReceipts == 0)
  }
}
