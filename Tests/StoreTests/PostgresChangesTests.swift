import FoundationEssentials
import Testing
import Waiting

@testable import Store

/// Changes that two nodes make at the same time; `PostgresSystemTests` runs these tests.
@Suite(.enabled(if: Scratch.server != nil, "only with PostgreSQL"), .timeLimit(.minutes(1)))
struct PostgresChangesTests {
  private let scratch = Scratch()

  /// What becomes of `change` if it begins while another node has made `other`, but not committed it.
  private func result<Value: Sendable>(
    during other: String, of change: @escaping @Sendable () async throws -> Value
  ) async throws -> Result<Value, any Error> {
    let url = try #require(try scratch.database())
    let (node, observer) = (
      try PostgresConnection(url, for: .writing), try PostgresConnection(url, for: .maintenance)
    )
    try node.script("BEGIN; \(other)")
    let changed = Task { try await change() }
    try await eventually("it waits for the other node") {
      try observer.value(
        """
        SELECT EXISTS (SELECT 1 FROM pg_stat_activity
          WHERE application_name = $1 AND wait_event_type = 'Lock')
        """, scratch.schema, as: Bool.self) == true
    }
    try node.script("COMMIT")
    return await changed.result
  }

  @Test func `a change while it is approved does not make it wait again`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice, bob, carol)
    (new.sender, new.approvalAbove) = (shop, 2)
    new.pushes = [.toAudience("apns")]
    let waiting = try await store.notifications.create(new).notification
    #expect(waiting.awaitsApproval)
    // As an approval releases it.
    let result = try await result(
      during: """
        UPDATE notification SET awaits = NULL, held = NULL, not_before = created
        WHERE id = \(waiting.id)
        """
    ) { [new] in
      var change = new
      change.message = "Other"
      return try await store.notifications.amend(waiting.id, with: change)
    }
    #expect(throws: StoreError.self) { _ = try result.get() }
    let sent = try #require(try await store.notifications.notification(waiting.id))
    #expect(!sent.awaitsApproval && sent.message == new.message)
    #expect(try await store.outbox.deliveries(of: sent.id).map(\.state) == [.queued])
  }

  @Test func `nobody is signed in by an identity that is unlinked at this moment`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("dora", hash: "h", role: .admin)
    let identity = Identity(issuer: "https://login.example", subject: "s-1")
    #expect(try await store.identities.link("dora", with: identity))
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    let session = Digest(of: "session")
    let result = try await result(
      during: """
        SELECT id FROM users WHERE id = \(dora.rawValue) FOR UPDATE;
        DELETE FROM provider_identity WHERE user_id = \(dora.rawValue)
        """
    ) {
      try await store.identities.signIn(
        ProviderSignIn(
          Digest(of: "attempt"), of: identity, beginning: .session(session, userAgent: "")))
    }
    #expect(try result.get() == .unknown)
    #expect(try await store.sessions.sessionUser(withToken: session) == nil)
  }
}
