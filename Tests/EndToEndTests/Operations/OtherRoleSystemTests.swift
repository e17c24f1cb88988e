import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// A role of the PostgreSQL server that may connect to the service's database, and has no right on a table.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(30)))
struct OtherRoleSystemTests {
  @Test func `it makes no lanes, and whoever runs the server is told that it may connect`()
    async throws
  {
    let database = try PostgresServer()
    try database.query("CREATE ROLE mallory LOGIN")
    try await RunningServer.lend(
      flags: ["--demo", "--push", "webpush", "--push-contact", "mailto:a@b.example"]
        + ["--database", database.url]
    ) { server in
      #expect(server.log.contains("REVOKE CONNECT ON DATABASE postgres FROM PUBLIC"))
      for batch in 0..<20 {
        try database.query(
          """
          SET SESSION AUTHORIZATION mallory;
          SELECT count(pg_notify('richpush_public', E'mallory\\nlane webpush:https://f' || n || '.example'))
          FROM generate_series(\(batch * 100), \(batch * 100 + 99)) AS n
          """)
      }
      // What is heard after them is looked at together with them, or later.
      let alice = server.client("alice")
      for _ in 0..<3 {
        _ = try await alice.create(.logo(to: "alice"))
        try await Task.sleep(for: .milliseconds(300))
      }
      let services = #"richpush_webpush_services{state="sending"}"#
      #expect(try server.measured(services) == 0)
      #expect(try server.measured(#"richpush_webpush_services{state="paused"}"#) == 0)
      try database.query("REVOKE CONNECT ON DATABASE postgres FROM PUBLIC")
      try await server.restart(by: SIGTERM)
      #expect(!server.log.contains("may connect to the database"))
    }
  }

  @Test func `a lock that it holds is found within two minutes, and the node goes on without it`()
    async throws
  {
    let database = try PostgresServer()
    try await RunningServer.lend(flags: ["--demo", "--database", database.url]) { server in
      try await eventually("it has the lead") { try server.measured("richpush_lead") == 1 }
      try database.query("CREATE ROLE mallory LOGIN")
      var holder: Child?
      try await server.restart(by: SIGTERM) {
        holder = try database.session(
          as: "mallory",
          """
          SELECT pg_advisory_lock(hashtextextended('richpush lead public', 0)); SELECT pg_sleep(600);
          """)
        try await eventually("it has the lock") {
          try database.query("SELECT count(*) FROM pg_locks WHERE locktype = 'advisory'") == "1"
        }
      }
      #expect(try server.measured("richpush_lead") == 0)
      try await eventually("it is logged") {
        server.log.contains("no node has had the lead for a minute")
      }
      #expect(try server.measured(#"richpush_lead_vacant{lead="nodes"}"#) == 1)
      #expect(try server.measured(#"richpush_lead_vacant{lead="folder"}"#) == 0)
      try database.query(
        "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE '%pg_sleep(600)%' AND pid <> pg_backend_pid()"
      )
      try await eventually("the node has it again") { try server.measured("richpush_lead") == 1 }
      #expect(try server.measured(#"richpush_lead_vacant{lead="nodes"}"#) == 0)
      withExtendedLifetime(holder) {}
    }
  }
}

extension PostgresServer {
  /// Runs SQL in a session of a role that stays.
  fileprivate func session(as role: String, _ sql: String) throws -> Child {
    try Child(
      "/usr/bin/psql",
      ["-XAtq", "-h", folder, "-U", role, "-d", "postgres", "-c", sql])
  }
}
