import Foundation
import StandIns
import Testing

@testable import Store

/// A second process of these tests writes as fast as it can, and is killed in the middle of it.
@Suite(.sqlite, .serialized, .timeLimit(.minutes(2))) struct CrashTests {
  private static let variable = "RICHPUSH_TEST_CRASH_FOLDER"
  private let scratch = Scratch()

  @Test(arguments: [1, 40, 150])
  func `keeps what was acknowledged before a kill, whole`(_ enough: Int) async throws {
    // Adds the users.
    try await scratch.open().probe()
    let acknowledged = try await BlockingQueue("killer").run { try killWriter(after: enough) }
    #expect(acknowledged.count >= enough)

    let store = try Store(folder: scratch.folder)
    #expect(scratch.files(in: "tmp").isEmpty)
    let inbox = try await store.notifications.inbox(of: alice, limit: 100_000)
    #expect(Set(acknowledged).isSubset(of: Set(inbox.map(\.notification.id))))
    // Nothing half-done: each has its content, its event and its job.
    #expect(inbox.map(\.notification.id) == Array((0..<inbox.count).reversed()))
    let events = try await store.events.pushEvents(for: alice, after: 0, limit: 100_000)
    #expect(events.compactMap(\.notificationID) == Array(0..<inbox.count))
    #expect(try await store.outbox.jobs(in: .queued, limit: 100_000).count == inbox.count)
    #expect(try await store.check().findings.isEmpty)
    #expect(try await store.notifications.create(.any(to: alice)).notification.id == inbox.count)
  }

  @Test(.enabled(if: getenv(variable) != nil))
  func `writes until it is killed`() async throws {
    let folder = try #require(getenv(Self.variable).map { String(cString: $0) })
    let store = try Store(folder: folder)
    try await withThrowingTaskGroup(of: Void.self) { group in
      for _ in 0..<8 {
        group.addTask {
          while true {
            var new = NotificationInsert.any(to: alice)
            let content = (0..<64).map { _ in UInt8.random(in: 0...255) }
            new.blob = try await store.blobs.add(bytes: content)
            new.pushes = [PushInsert(lane: "l", target: .audience("a"), kind: "k")]
            let id = try await store.notifications.create(new).notification.id
            _ = "acknowledged \(id)\n".withCString { write(STDOUT_FILENO, $0, strlen($0)) }
          }
        }
      }
      try await group.waitForAll()
    }
  }

  /// Kills the writing process once it has acknowledged `enough`, and returns all it acknowledged.
  private func killWriter(after enough: Int) throws -> [Int] {
    let pipe = Pipe()
    let output = try #require(fdopen(dup(pipe.fileHandleForReading.fileDescriptor), "r"))
    defer { fclose(output) }
    let writer = try StartedProgram.tests(
      named: "writes until it is killed", environment: [Self.variable: scratch.folder],
      output: pipe.fileHandleForWriting)
    try pipe.fileHandleForWriting.close()
    var acknowledged: [Int] = []
    var line: UnsafeMutablePointer<CChar>?
    var capacity = 0
    defer { free(line) }
    while getline(&line, &capacity, output) > 0, let text = line.map({ String(cString: $0) }) {
      let words = text.split(whereSeparator: \.isWhitespace)
      guard words.count == 2, words[0] == "acknowledged", let id = Int(words[1]) else { continue }
      acknowledged.append(id)
      if acknowledged.count == enough { writer.send(SIGKILL) }
    }
    #expect(writer.waitForEnd() == -SIGKILL)
    return acknowledged
  }
}
