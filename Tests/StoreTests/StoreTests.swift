import FoundationEssentials
import Glibc
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct StoreTests {
  private let scratch = Scratch()

  @Test func `belongs to one server at a time`() throws {
    var first: Store? = try scratch.open()
    #expect { try scratch.open() } throws: { error in
      let error = error as? StoreError
      return error?.code == .inUse && error?.reason.contains(scratch.folder) == true
    }
    withExtendedLifetime(first) {}
    first = nil
    _ = try scratch.open()
  }

  @Test func `sweeps what an earlier server left half-written`() throws {
    _ = try scratch.open()
    // Of this version, of the HTTP server, of plugins, and of an earlier version.
    let left: Set = ["store-1a2b", "upload-12345", "answer-z9", "3w5e11264sgsf"]
    for name in left { scratch.write("half", to: "tmp/\(name)") }
    _ = try scratch.open(.shared)
    #expect(scratch.files(in: "tmp") == left)
    _ = try scratch.open()
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test(.sqlite) func `says that a database is damaged`() async throws {
    try await scratch.open().accounts.addUser("bob", hash: "1", role: .admin)
    // Else its log would be copied over the damage.
    try await scratch.databaseClosed()
    scratch.write(String(repeating: "garbage ", count: 1000), to: "richpush.db")
    unlink("\(scratch.folder)/richpush.db-wal")
    #expect { try scratch.open() } throws: { ($0 as? StoreError)?.code == .damaged }
  }

  @Test(.sqlite) func `refuses a folder that a newer version wrote`() async throws {
    try await scratch.open().database.write { connection in
      try connection.run("PRAGMA user_version = 999")
    }
    #expect { try scratch.open() } throws: { ($0 as? StoreError)?.code == .newer }
  }

  @Test func `refuses a data folder that is a file`() {
    scratch.write("", to: "file")
    #expect(throws: StoreError.self) { try Store(folder: "\(scratch.folder)/file") }
    #expect(throws: StoreError.self) { try Store(folder: "/proc/nowhere") }
  }

  @Test(arguments: [
    (ENOSPC, StoreError.Code.full), (EDQUOT, .full), (EROFS, .readOnly), (EIO, .failed),
  ])
  func `tells a full disk from other trouble`(_ number: Int32, _ code: StoreError.Code) {
    #expect(StoreError(errno: number, "write", "x").code == code)
  }

  @Test func `keeps the newest link key, and removes others on demand`() async throws {
    let store = try scratch.open()
    let first = try #require(try await store.accounts.linkKeys().first)
    #expect(first.secret.count == 64)
    let second = try await store.accounts.addLinkKey()
    let keys = try await store.accounts.linkKeys()
    #expect(keys.map(\.id) == [second, first.id] && Set(keys.map(\.secret)).count == 2)
    #expect(try await !store.accounts.removeLinkKey(second))
    #expect(try await store.accounts.removeLinkKey(first.id))
    #expect(try await !store.accounts.removeLinkKey(first.id))
    #expect(try await store.accounts.linkKeys().map(\.id) == [second])
  }
}
