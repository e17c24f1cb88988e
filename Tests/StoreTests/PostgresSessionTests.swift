import FoundationEssentials
import Testing

@testable import Store

/// What holds for the sessions of a node, and for the one that a backup reads with; `PostgresSystemTests` runs these
/// tests.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct PostgresSessionTests {
  private let scratch = Scratch()

  private func setting(_ name: String, _ connection: PostgresConnection) throws -> String? {
    try connection.value("SELECT current_setting($1)", name, as: String.self)
  }

  @Test func `what a node commits is durable, and one that is gone holds up no other`() throws {
    // A database that acknowledges what is not on its disk yet.
    let url = try #require(try scratch.database())
      .replacing("options=", with: "options=-csynchronous_commit%3Doff%20")
    let reading = try PostgresConnection(url, for: .reading)
    #expect(try setting("synchronous_commit", reading) == "off")
    #expect(try setting("default_transaction_read_only", reading) == "on")
    #expect(try setting("statement_timeout", reading) == "4s")
    let writing = try PostgresConnection(url, for: .writing)
    for (name, value) in [
      ("synchronous_commit", "on"), ("statement_timeout", "4s"), ("lock_timeout", "3s"),
      ("idle_in_transaction_session_timeout", "5s"),
      ("default_transaction_isolation", "read committed"),
    ] { #expect(try setting(name, writing) == value, "\(name)") }
    let maintenance = try PostgresConnection(url, for: .maintenance)
    #expect(try setting("synchronous_commit", maintenance) == "on")
    #expect(try setting("statement_timeout", maintenance) == "0")
  }

  @Test func `a command that does not know of the database uses no other`() async throws {
    do { _ = try scratch.open() }
    let error = #expect(throws: StoreError.self) {
      try Store(folder: scratch.folder, access: .shared)
    }
    #expect(error?.code == .conflict && error?.reason.contains("add --database") == true)
    let copy = scratch.folder + "/copy"
    #expect(throws: StoreError.self) { try Store.restore(from: scratch.folder, to: copy) }
    let again = try scratch.open()
    #expect(try await again.notifications.create(.any(to: alice)).notification.id == 0)
  }

  @Test func `a backup has the content of notifications and assets, as of one moment`() async throws
  {
    let store = try scratch.open()
    let (picture, file) = (
      try await store.blobs.add(bytes: [1]), try await store.blobs.add(bytes: [2])
    )
    var new = NotificationInsert.any(to: alice)
    new.blob = picture
    _ = try await store.notifications.create(new)
    var asset = AssetRecord(
      richType: "img", name: "a.png", state: .ready, bytes: 1, modified: scratch.now, stamp: "s")
    asset.blob = file.digest
    try await store.assets.putAsset(asset)
    let tables = try #require(store.tables as? PostgresTables)
    let other = try PostgresConnection(try #require(try scratch.database()), for: .writing)
    let folder = DataFolder(existing: scratch.folder)
    let blobs = try tables.copy(to: folder) { dump in
      #expect(dump.arguments.contains { $0.hasPrefix("--snapshot=") })
      // What is changed while the records are written.
      try other.script("UPDATE notification SET blob = NULL; UPDATE asset SET blob = NULL")
      scratch.write("records", to: "richpush.dump")
    }
    #expect(Set(blobs) == [picture.digest, file.digest])
  }
}
