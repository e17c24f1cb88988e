import FoundationEssentials
import Testing

@testable import Store

/// Whose leases a start of the server frees.
@Suite(.timeLimit(.minutes(1))) struct NodeStartTests {
  private let scratch = Scratch()

  private func lease(_ store: Store) async throws -> [LeasedJob] {
    try await store.outbox.lease(limit: 9, until: scratch.now.addingTimeInterval(60))
  }

  @Test func `leaves another node's leases alone, also those of a copy of the folder`()
    async throws
  {
    let copy = "\(scratch.folder)/copy"
    do {
      let store = try scratch.open()
      var new = NotificationInsert.any(to: alice)
      new.pushes = [PushInsert(lane: "apns", target: .audience("a"), kind: "alert")]
      _ = try await store.notifications.create(new)
      #expect(try await lease(store).count == 1)
    }
    // A SQLite database that is closing removes files.
    try await scratch.databaseClosed()
    try FileManager.default.copyItem(atPath: scratch.folder, toPath: copy)
    // The copy has the leases of the first node, which may still be sending.
    let other = try Store(folder: copy, database: try scratch.database(), now: { scratch.now })
    #expect(try await lease(other).isEmpty)
    scratch.pass(60)
    #expect(try await lease(other).count == 1)
  }

  @Test func `is the same node at every start, until its file is lost`() throws {
    let folder = try DataFolder(scratch.folder, creates: true)
    let starts = (0..<3).map { _ in NodeStart(in: folder) }
    #expect(starts.map(\.number) == [1, 2, 3] && Set(starts.map(\.node)).count == 1)
    #expect(Set(starts.map(\.owner)).count == 3)
    for text in ["", "a", "a b c", "\(starts[0].node) 3 c"] {
      scratch.write(text, to: "node")
      let next = NodeStart(in: folder)
      #expect(next.number == 1 && next.node != starts[0].node, "\(text)")
    }
  }
}
