import Foundation
import RichPushClient
import Testing
import Waiting

/// A database that another program keeps for itself, or that is damaged, while the server runs.
@Suite(.timeLimit(.minutes(5))) struct LockedDatabaseSystemTests {
  @Test func `publishers and the operator learn who has it, phones are served, and it goes on`()
    async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      // For longer than the server waits for a lock.
      let program = """
        import sqlite3, sys, time
        database = sqlite3.connect(sys.argv[1], isolation_level=None)
        database.execute("BEGIN EXCLUSIVE")
        print("locked", flush=True)
        time.sleep(600)
        """
      let other = try Child(
        "/usr/bin/python3", ["-c", program, server.scratch.folder.path + "/var/richpush.db"])
      var lines = other.lines.makeAsyncIterator()
      #expect(await lines.next() == "locked")
      let refused = await #expect(throws: RichPushError.self) {
        _ = try await alice.create(.logo(to: "alice"))
      }
      #expect(refused?.status == 503 && refused?.retryAfter != nil, "\(refused?.reason ?? "")")
      #expect(refused?.reason.contains("another process holds the database") == true)
      #expect(try await alice.media(0).contentType == "image/png")
      try await eventually("the operator is told") {
        try server.measured(#"richpush_condition{code="database.locked"}"#) == 1
      }
      let holder = "(process \(other.processIdentifier)) keeps the database from being changed"
      #expect(server.log.contains(holder), "\(server.log)")
      other.send(SIGKILL)
      _ = await other.exitCode()
      try await eventually("it goes on") {
        try server.measured(#"richpush_condition{code="database.locked"}"#) == 0
      }
      #expect(server.log.contains("the database can be changed again"))
      _ = try await alice.create(.logo(to: "alice"))
      #expect(server.log.matches(of: #/keeps the database from being changed/#).count == 1)
    }
  }

  @Test func `a damaged database is not changed, and each sentence says what to do`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      for number in 0..<20 {
        let text = "\(number) " + String(repeating: "x", count: 1000)
        _ = try await alice.create(.logo(to: "alice", text))
      }
      try await server.restart(by: SIGTERM) {
        let program = """
          import sqlite3, sys
          database = sqlite3.connect(sys.argv[1])
          page, = database.execute("SELECT pageno FROM dbstat WHERE name = 'notification' AND "
            "pagetype = 'leaf' ORDER BY path LIMIT 1").fetchone()
          size, = database.execute("PRAGMA page_size").fetchone()
          database.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()
          database.close()
          with open(sys.argv[1], "r+b") as file:
            file.seek((page - 1) * size)
            file.write(b"Z" * size)
          """
        let path = server.scratch.folder.path + "/var/richpush.db"
        let result = try await Child.run("/usr/bin/python3", ["-c", program, path])
        #expect(result.exitCode == 0, "\(result.errors)")
      }
      let broken = try server.get(
        "/api/notifications/0/details", RunningServer.credentials("alice"))
      #expect(
        broken.status == 503 && broken.text.contains("richpush store check"), "\(broken.text)")
      let refused = await #expect(throws: RichPushError.self) {
        _ = try await alice.create(.logo(to: "alice"))
      }
      #expect(refused?.status == 503 && refused?.reason.contains("damaged") == true)
      #expect(try await alice.media(19).contentType == "image/png")
      try await eventually("the operator is told") {
        try server.measured(#"richpush_condition{code="database.damaged"}"#) == 1
      }
      #expect(server.log.contains("the database is damaged"))
      #expect(server.log.contains("richpush store restore"))
      let data = server.scratch.folder.path + "/var"
      let check = try await Child.run("richpush", ["store", "check", "--data", data])
      #expect(check.exitCode == 1 && check.output.contains { $0.contains("database") }, "\(check)")
    }
  }
}

/// A server whose machine's clock is set.
@Suite(.timeLimit(.minutes(5))) struct ClockJumpSystemTests {
  @Test func `each jump is counted, and the log says by how much`() async throws {
    let clock = try await ServerClock("2027-03-27T20:00:00Z")
    try await RunningServer.lend(environment: clock.environment) { server in
      #expect(try server.measured("richpush_clock_jumps_total") == 0)
      try clock.set("2027-03-27T22:00:00Z")
      try await eventually("it is noticed") {
        try server.measured("richpush_clock_jumps_total") == 1
      }
      #expect(server.log.contains("the clock was set forward by"), "\(server.log)")
      try clock.set("2027-03-27T20:10:00Z")
      try await eventually("it is noticed") {
        try server.measured("richpush_clock_jumps_total") == 2
      }
      #expect(server.log.contains("the clock was set back by"), "\(server.log)")
      #expect(try server.measured(#"richpush_condition{code="clock.jumped"}"#) == 1)
      try await server.expectHealthy()
    }
  }
}
