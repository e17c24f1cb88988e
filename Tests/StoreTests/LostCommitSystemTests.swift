import FoundationEssentials
import StandIns
import Synchronization
import Testing
import Waiting

@testable import Store

/// A connection that ends after the server has committed, and before this node hears of it.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(2)))
struct LostCommitSystemTests {
  private let server: PostgresServer
  private let relay: SocketRelay
  private let scratch = Scratch()
  private let store: Store

  /// CommandComplete of a COMMIT (“Message Formats” in the documentation of PostgreSQL).
  private static let committed = Array("C\0\0\0\u{B}COMMIT\0".utf8)

  init() throws {
    server = try PostgresServer()
    let (relay, url) = try server.relay()
    self.relay = relay
    store = try Store(folder: scratch.folder, database: url, now: { [scratch] in scratch.now })
  }

  private func expectUnavailable(_ body: () async throws -> Void) async {
    await #expect {
      try await body()
    } throws: { error in
      (error as? StoreError)?.code == .unavailable
    }
  }

  private func expectLost(_ body: () async throws -> Void) async {
    await expectUnavailable(body)
    #expect(relay.hasLost)
  }

  @Test func `a notification whose commit was not answered is there once, and its caller hears so`()
    async throws
  {
    for name in ["alice", "bob"] {
      try await store.accounts.addUser(name, hash: "h", role: .device)
    }
    _ = try await store.accounts.putRegistration(
      "a", user: alice, platform: "apns", handle: "a", tags: [])
    var new = NotificationInsert.any(to: alice)
    new.pushes = [
      PushInsert(lane: "apns", target: .devices(RegistrationIDs(["a"])), kind: "alert")
    ]
    for round in 1...3 {
      // Three changes that share a transaction, the second time.
      let others = round == 2 ? 2 : 0
      let before = try await store.count("notification")
      relay.lose(Self.committed)
      await expectLost {
        try await withThrowingTaskGroup(of: Void.self) { group in
          for _ in 0...others {
            group.addTask { [new] in _ = try await store.notifications.create(new) }
          }
          while let result = await group.nextResult() { try result.get() }
        }
      }
      let made = try await store.count("notification") - before
      #expect(made >= 1 && made <= 1 + others)
      #expect(try await store.count("job") == before + made)
      #expect(try await store.count("push_event") == before + made)
    }
  }

  @Test func `with its idempotency key the caller gets the one that was committed`() async throws {
    try await store.accounts.addUser("alice", hash: "h", role: .publisher)
    var new = NotificationInsert.any(to: alice)
    new.sender = alice
    new.idempotencyKey = IdempotencyKey("once", request: [1])
    relay.lose(Self.committed)
    await expectLost { _ = try await store.notifications.create(new) }
    let again = try await store.notifications.create(new)
    #expect(!again.isNew && again.notification.message == new.message)
    #expect(try await store.count("notification") == 1)
  }

  @Test func `what was lost before its commit is made again, and once`() async throws {
    let alice = try await user("alice")
    // The answer to BEGIN: nothing was committed, also where nothing else is waited for.
    for changes in 0..<2 {
      relay.lose(Array("C\0\0\0\u{A}BEGIN\0".utf8))
      if changes == 0 {
        _ = try await store.notifications.create(.any(to: alice))
      } else {
        try await store.events.push("{}", to: [alice])
      }
      #expect(relay.hasLost)
      #expect(try await store.count("push_event") == changes + 1)
    }
    #expect(try await store.count("notification") == 1)
  }

  @Test func `what this node remembers of a user ends although it did not hear of the commit`()
    async throws
  {
    let alice = try await user("alice")
    let heard = Heard(store, alice)
    relay.lose(Self.committed)
    await expectLost { _ = try await store.accounts.removeUser("alice") }
    #expect(try await store.accounts.user(named: "alice") == nil)
    #expect(heard.ended > 0)
  }

  @Test func `what this node remembers ends, too, if the server commits only later`() async throws {
    let alice = try await user("alice")
    // The commit waits for a lock, which the test has.
    try server.query(
      """
      CREATE FUNCTION hold() RETURNS trigger LANGUAGE plpgsql SET lock_timeout = 0
        AS $$ BEGIN PERFORM pg_advisory_xact_lock(7); RETURN NULL; END $$;
      CREATE CONSTRAINT TRIGGER hold AFTER DELETE ON users DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION hold();
      """)
    let lock = try PostgresConnection(server.url, for: .maintenance)
    try lock.script("SELECT pg_advisory_lock(7)")
    let heard = Heard(store, alice)
    async let removal: Void = expectUnavailable {
      _ = try await store.accounts.removeUser("alice")
    }
    try await eventually("the commit waits") {
      try lock.value(
        "SELECT EXISTS (SELECT 1 FROM pg_locks WHERE locktype = 'advisory' AND NOT granted)",
        as: Bool.self) == true
    }
    relay.drop()
    await removal
    // It listens again.
    try await eventually("the listener is back") { heard.everything > 0 }
    let before = heard.ended
    try lock.script("SELECT pg_advisory_unlock(7)")
    try await eventually("the credentials end") { heard.ended > before }
    #expect(try await store.accounts.user(named: "alice") == nil)
  }

  private func user(_ name: String) async throws -> UserID {
    try await store.accounts.addUser(name, hash: "h", role: .device)
    return try #require(try await store.accounts.user(named: name)).id
  }
}

/// What the observers of a store were told.
private final class Heard: Sendable {
  private let counts = Mutex((ended: 0, everything: 0))
  /// How often they were told that credentials of the user have ended.
  var ended: Int { counts.withLock { $0.ended } }
  /// How often they were told of everything.
  var everything: Int { counts.withLock { $0.everything } }

  init(_ store: Store, _ user: UserID) {
    store.observers.onEverything.add { [self] in counts.withLock { $0.everything += 1 } }
    store.observers.onCredentialsEnded.add { [self] ended in
      if ended == user { counts.withLock { $0.ended += 1 } }
    }
  }
}
