import Foundation
import Testing

@testable import Store

/// The keys of session tickets.
@Suite(.timeLimit(.minutes(1))) struct TicketKeyTests {
  private let scratch = Scratch()
  private let hour = 3600.0

  @Test func `the first is made when it is asked for, and kept`() async throws {
    let keys = try await scratch.open().tickets.ticketKeys()
    #expect(keys.map(\.secret.count) == [80] && keys[0].created == scratch.now)
    #expect(Set(keys[0].secret).count > 40, "random: \(keys[0].secret)")
    scratch.pass(12 * hour - 1)
    let again = try scratch.open(.shared)
    #expect(try await again.tickets.ticketKeys() == keys)
    #expect(try await Scratch().open().tickets.ticketKeys()[0].secret != keys[0].secret)
  }

  @Test func `another is made every twelve hours, and the two before are kept`() async throws {
    let store = try scratch.open()
    var all = try await store.tickets.ticketKeys()
    for count in [2, 3, 3, 3] {
      scratch.pass(12 * hour)
      let keys = try await store.tickets.ticketKeys()
      #expect(keys.count == count && keys[0].id > all[0].id)
      #expect(Array(keys.dropFirst()) == Array(all.prefix(count - 1)))
      all = keys + all.dropFirst(count - 1)
    }
    #expect(Set(all.map(\.secret)).count == 5)
  }

  @Test func `one that was made while the clock was wrong does not last until then`() async throws {
    let store = try scratch.open()
    scratch.pass(1000 * hour)
    let first = try await store.tickets.ticketKeys()
    scratch.pass(-1000 * hour)
    let keys = try await store.tickets.ticketKeys()
    #expect(keys.count == 2 && keys[0].created == scratch.now && keys[1] == first[0])
    #expect(try await store.tickets.ticketKeys() == keys)
  }

  @Test func `nodes that ask at once have the same`() async throws {
    let stores = [try scratch.open(), try scratch.open(.shared), try scratch.open(.shared)]
    for _ in 0..<5 {
      let found = try await withThrowingTaskGroup(of: [TicketKey].self) { group in
        for store in stores + stores {
          group.addTask { try await store.tickets.ticketKeys() }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(Set(found.map { $0[0].secret }).count == 1 && found.allSatisfy { $0 == found[0] })
      scratch.pass(12 * hour)
    }
  }

  @Test func `when they are removed the next is another, with a higher number`() async throws {
    let store = try scratch.open()
    var keys = try await store.tickets.ticketKeys()
    scratch.pass(12 * hour)
    keys += try await store.tickets.ticketKeys()
    try await scratch.open(.shared).tickets.removeTicketKeys()
    let new = try await store.tickets.ticketKeys()
    #expect(new.count == 1 && keys.allSatisfy { $0.secret != new[0].secret && $0.id < new[0].id })
  }

  @Test(.sqlite) func `no backup and no copy has them`() async throws {
    let store = try scratch.open()
    let secret = try await store.tickets.ticketKeys()[0].secret
    let digits = secret.map { byte in
      let text = String(byte, radix: 16)
      return text.count == 1 ? "0" + text : text
    }.joined()
    func holds(_ file: String) throws -> Bool {
      try Data(contentsOf: URL(filePath: file)).range(of: Data(digits.utf8)) != nil
    }
    #expect(try holds("\(scratch.folder)/richpush.db-wal"))
    let backup = "\(scratch.folder)/backup"
    try await store.backup(to: backup)
    #expect(try !holds("\(backup)/richpush.db"))
    let restored = "\(scratch.folder)/restored"
    try Store.restore(from: backup, to: restored)
    let keys = try await Store(folder: restored).tickets.ticketKeys()
    #expect(keys.count == 1 && keys[0].secret != secret)
    #expect(try await store.tickets.ticketKeys()[0].secret == secret)
    // A data folder whose server is off may be copied by other means, and then restored.
    let copied = "\(scratch.folder)/copied"
    try Store.restore(from: scratch.folder, to: copied)
    #expect(try !holds("\(copied)/richpush.db"))
  }

  @Test(.postgres) func `a dump leaves them out`() throws {
    let store = try scratch.open()
    let tables = try #require(store.tables as? PostgresTables)
    let folder = try DataFolder(scratch.folder + "/copy", creates: true)
    _ = try tables.copy(to: folder) { dump in
      #expect(
        dump.arguments.contains(#"--exclude-table-data="\#(scratch.schema)".ticket_key"#),
        "\(dump.arguments)")
      try "PGDMP".write(toFile: folder.dump, atomically: true, encoding: .utf8)
    }
  }
}
