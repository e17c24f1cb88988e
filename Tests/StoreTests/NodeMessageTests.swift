import Testing

@testable import Store

/// Messages between nodes, for which no server is needed.
@Suite(.timeLimit(.minutes(1))) struct NodeMessageTests {
  @Test func `long messages are divided, and nothing is lost or told twice`() {
    let users = (1...5000).map { UserID(rawValue: $0 * 1_000_000) }
    let messages: [Effect] = [
      .pushEvents(users), .events, .events, .assetEvent, .change(7), .credentialsEnded(users[0]),
      .read(users[1]),
      .jobs(lane: "webpush:https://push.example"), .jobs(lane: "webpush:https://push.example"),
      .ticketKeys,
    ]
    let payloads = NodeMessage.payloads(of: messages, from: "node.1")
    #expect(payloads.allSatisfy { $0.utf8.count < 8000 })
    let parsed = payloads.map(NodeMessage.parse)
    #expect(parsed.allSatisfy { $0.origin == "node.1" })
    let all = parsed.flatMap(\.effects)
    let told = all.flatMap { effect -> [UserID] in
      if case .pushEvents(let users) = effect { users } else { [] }
    }
    #expect(told == users)
    #expect(
      all.suffix(7) == [
        .events, .assetEvent, .change(7), .credentialsEnded(users[0]), .read(users[1]),
        messages[7], .ticketKeys,
      ])
    #expect(NodeMessage.payloads(of: [], from: "node.1").isEmpty)
  }

  @Test func `a database that can't be reached is named, without its password`() {
    let scratch = Scratch()
    let error = #expect(throws: StoreError.self) {
      try Store(
        folder: scratch.folder, database: "postgres://u:secret@/d?host=\(scratch.folder)")
    }
    #expect(error?.code == .unavailable || error?.reason.contains("libpq5") == true)
    #expect(error?.reason.contains("secret") == false)
  }
}
