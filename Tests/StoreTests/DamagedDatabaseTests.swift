import FoundationEssentials
import Glibc
import Testing

@testable import Store

/// A database of which a part is not what was written.
@Suite(.timeLimit(.minutes(1))) struct DamagedDatabaseTests {
  private let scratch = Scratch()

  /// Overwrites the pages with the oldest rows of a table, of a database that nobody uses.
  private func damage(_ table: String) throws {
    let path = "\(scratch.folder)/richpush.db"
    let connection = try SQLiteConnection.open(path, for: .writing)
    let pages = try connection.column(
      "SELECT pageno FROM dbstat WHERE name = $1 AND pagetype = 'leaf' ORDER BY path LIMIT 1",
      table,
      as: Int.self)
    let size = try connection.value("PRAGMA page_size", as: Int.self) ?? 0
    try connection.script("PRAGMA wal_checkpoint(TRUNCATE)")
    let file = open(path, O_WRONLY)
    defer { close(file) }
    for page in pages {
      let garbage = [UInt8](repeating: 0x5a, count: size)
      #expect(pwrite(file, garbage, size, (page - 1) * size) == size)
    }
    #expect(!pages.isEmpty)
  }

  @Test(.sqlite) func `what can be read is served, and nothing is changed any more`() async throws {
    var store: Store? = try scratch.open()
    let message = String(repeating: "x", count: 1000)
    for _ in 0..<30 { _ = try await store?.notifications.create(.any(to: alice, message: message)) }
    store = nil
    try await scratch.databaseClosed()
    try damage("notification")
    let next = try scratch.open()
    #expect(next.damage == nil)
    try await next.accounts.addUser("before", hash: "", role: .device)
    await #expect { try await next.notifications.notification(0) } throws: {
      let error = $0 as? StoreError
      return error?.code == .damaged && error?.reason.contains("richpush store check") == true
    }
    #expect(next.damage?.contains("the database is damaged") == true)
    #expect(try await next.notifications.notification(29)?.message == message)
    await #expect { try await next.accounts.addUser("after", hash: "", role: .device) } throws: {
      ($0 as? StoreError)?.code == .damaged
    }
    #expect(try await next.accounts.user(named: "before") != nil)
    #expect(try await next.accounts.user(named: "after") == nil)
    #expect(try await !next.check().isSound)
  }

  @Test func `a value that cannot be read is no damage: changes go on`() async throws {
    let store = try scratch.open()
    _ = try await store.tickets.ticketKeys()
    let sql = "UPDATE ticket_key SET secret = $1"
    if let tables = store.tables as? PostgresTables {
      _ = try await tables.database.run(sql, "none")
    } else {
      _ = try await store.database.run(sql, "none")
    }
    await #expect { try await store.tickets.ticketKeys() } throws: {
      ($0 as? StoreError)?.code == .unreadable
    }
    #expect(store.damage == nil)
    try await store.accounts.addUser("after", hash: "", role: .device)
    #expect(try await store.accounts.user(named: "after") != nil)
  }

  @Test(arguments: [("XX001", StoreError.Code.damaged), ("XX002", .damaged), ("XX000", .failed)])
  func `only what PostgreSQL calls corrupted is damage`(_ state: String, _ code: StoreError.Code) {
    #expect(StoreError(sqlState: state, "why").code == code)
  }

  @Test func `a full disk of the PostgreSQL server says where to make space`() {
    let error = StoreError(sqlState: "53100", "could not extend file")
    #expect(error.code == .full && error.reason.contains("PostgreSQL server"))
    #expect(error.retryAfter != nil)
  }
}

/// Who keeps the database from being changed.
@Suite struct LockHolderTests {
  private let locks = """
    1: FLOCK  ADVISORY  WRITE 10 fe:00:77 0 EOF
    2: POSIX  ADVISORY  READ 11 fe:00:77 120 120
    3: POSIX  ADVISORY  WRITE 12 fe:00:77 124 124
    4: POSIX  ADVISORY  WRITE 13 fe:00:78 120 120
    5: POSIX  ADVISORY  WRITE 14 fe:00:77 120 120
    5: -> POSIX  ADVISORY  WRITE 15 fe:00:77 120 120

    """

  @Test func `is the process with the lock of the writer`() {
    #expect(SQLiteDatabase.writer(in: locks, inode: 77, except: 1) == 14)
    #expect(SQLiteDatabase.writer(in: locks, inode: 77, except: 14) == nil, "this process")
    #expect(SQLiteDatabase.writer(in: locks, inode: 78, except: 1) == 13)
    #expect(SQLiteDatabase.writer(in: locks, inode: 79, except: 1) == nil)
    #expect(SQLiteDatabase.writer(in: "", inode: 77, except: 1) == nil)
    // Of another container's process the kernel says 0.
    let hidden = locks.replacing("WRITE 14", with: "WRITE 0")
    #expect(SQLiteDatabase.writer(in: hidden, inode: 77, except: 1) == nil)
  }

  @Test func `is no process while nobody but this one writes`() async throws {
    let scratch = Scratch()
    let store = try scratch.open()
    try await store.probe()
    #expect(store.lockHolder() == nil)
  }
}
