import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// `richpush store` with PostgreSQL: records move there, are checked, backed up and restored.
@Suite(
  .enabled(if: PostgresServer.isInstalled, "needs the package postgresql-15"),
  .timeLimit(.minutes(5)))
struct PostgresMigrationSystemTests {
  private static func store(
    _ words: String..., environment: [String: String] = [:]
  ) async throws -> Child.Result {
    try await Child.run("richpush", ["store"] + words, environment: environment)
  }

  /// What users and publishers hold before their server's records move.
  private struct Held {
    let id: Int
    let device: String
    let token: String
    let cookie: String
    let link: String
    let events: [String]
    let publisherEvents: [String]
    let pushed: Int
  }

  private static func ids(
    _ events: PushEvents, _ count: Int
  ) async throws -> [String] {
    var ids: [String] = []
    for try await event in events {
      ids.append(event.id)
      if ids.count == count { break }
    }
    return ids
  }

  private static func status(_ target: String, _ fields: String, _ server: RunningServer) throws
    -> Int
  {
    try RawConnection(port: server.port).exchange("GET \(target) HTTP/1.1\r\n\(fields)").status
  }

  /// Uses all kinds of records.
  private static func use(_ server: RunningServer) async throws -> Held {
    var alice = server.client("alice")
    let shop = server.client("shop")
    let device = try await alice.register(handle: "AB12", tags: ["news"])
    alice.device = device
    let token = try await alice.deviceToken()
    let first = try await shop.create(.logo(to: "alice", "first"))
    _ = try await alice.media(first.id)
    try await alice.markRead(first.id)
    for message in ["second", "third"] { _ = try await shop.create(.logo(to: "alice", message)) }
    try await eventually("all three are pushed") {
      try server.deliveries(of: first.id + 2) == ["apns sent"]
    }
    // Waits while the records move.
    var later = NewNotification.logo(to: "alice", "later")
    later.notBefore = Date(timeIntervalSinceNow: 5)
    let waiting = try await shop.create(later)
    let body = Array(#"{"username":"shop","password":"shop"}"#.utf8)
    let session = try RawConnection(port: server.port).bytes(
      "POST /api/session HTTP/1.1\r\nSec-Fetch-Site: same-origin\r\nConnection: close\r\n"
        + "Content-Type: application/json\r\nContent-Length: \(body.count)\r\n", body: body)
    let fields = String(decoding: session, as: UTF8.self)
    let cookie = try #require(fields.firstMatch(of: #/Set-Cookie: ([^;]+)/#)).1
    let link = try #require(try server.details(first.id).links.original.text)
    return Held(
      id: first.id, device: device, token: token, cookie: String(cookie), link: link,
      events: try await ids(alice.events(after: "0"), 3),
      publisherEvents: try await ids(shop.publisherEvents(after: "0"), 5), pushed: waiting.id)
  }

  /// Expects that everything that was held is worth as much as before.
  private static func expect(_ held: Held, on server: RunningServer) async throws {
    let phone = RichPushClient(
      endpoint: server.endpoint, user: "alice", device: held.device, token: held.token)
    #expect(try await phone.inbox().notifications.map(\.id).sorted().prefix(3) == [0, 1, 2])
    #expect(try await phone.media(held.id).contentType == "image/png")
    #expect(try await server.client("alice").inbox().notifications.contains { $0.isRead })
    // A stream goes on after the last event it had.
    let events = try await ids(phone.events(after: held.events[0]), 3)
    #expect(Array(events.prefix(2)) == Array(held.events.dropFirst()))
    let told = try await ids(
      server.client("shop").publisherEvents(after: held.publisherEvents[1]), 3)
    #expect(told == Array(held.publisherEvents.dropFirst(2)))
    let target = try #require(held.link.firstRange(of: "/media/")).lowerBound
    #expect(try status(String(held.link[target...]), "", server) == 200)
    let session = "Sec-Fetch-Site: same-origin\r\nCookie: \(held.cookie)\r\n"
    #expect(try status("/api/session", session, server) == 200)
  }

  /// Rows enough for several transactions.
  private static func addEvents(to database: String) async throws {
    let script = """
      import sqlite3, sys
      database = sqlite3.connect(sys.argv[1])
      database.executemany("INSERT INTO event(type, data, created) VALUES ('asset', ?, 0)",
        (('{"name":"%d"}' % number,) for number in range(100000)))
      database.commit()
      """
    let result = try await Child.run("/usr/bin/python3", ["-c", script, database])
    #expect(result.exitCode == 0, "\(result.errors)")
  }

  /// Begins to migrate and kills the program when it has come to a table.
  private static func kill(at table: String, _ words: [String], _ database: PostgresServer)
    async throws
  {
    let lock = try Child(
      "/usr/bin/psql",
      [
        "-Xq", "-d", database.url, "-c",
        "BEGIN; LOCK TABLE \(table) IN EXCLUSIVE MODE; SELECT pg_sleep(100)",
      ])
    try await eventually("the table is locked") {
      try database.query(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%' AND wait_event = 'PgSleep'"
      ) == "1"
    }
    let child = try Child("richpush", ["store"] + words)
    try await eventually("the table is reached") {
      try database.query(
        "SELECT count(*) FROM pg_stat_activity WHERE query LIKE 'COPY \(table)(%' AND wait_event_type = 'Lock'"
      ) == "1"
    }
    child.send(SIGKILL)
    #expect(await child.exitCode() == -SIGKILL)
    lock.send(SIGKILL)
    try database.query(
      "SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE query LIKE 'BEGIN; LOCK%'")
  }

  @Test func `all that users hold is worth as much after their records have moved to PostgreSQL`()
    async throws
  {
    let database = try PostgresServer()
    try await PushServices.lend(lanes: "embedded,apns") { server, services in
      let root = server.scratch.folder.path
      let held = try await Self.use(server)
      let words = ["migrate", "--from", root + "/var", "--to", database.url]
      let early = try await Child.run("richpush", ["store"] + words)
      #expect(early.exitCode == 1 && early.errors.contains("in use by another"), "\(early)")
      _ = try await services.apns.pushes(3)

      let flags = ["--demo", "--push", "embedded,apns"]
      try await server.restart(by: SIGTERM, flags: flags + ["--database", database.url]) {
        try await Self.addEvents(to: root + "/var/richpush.db")
        // Killed as soon as it has begun, and then at tables that come late.
        let child = try Child("richpush", ["store"] + words)
        try await eventually("it has begun") {
          try database.query("SELECT to_regclass('unfinished_migration') IS NOT NULL") == "t"
        }
        child.send(SIGKILL)
        _ = await child.exitCode()
        let refused = try await Child.run(
          "richpush",
          ["user", "add", "bob", "--database", database.url, "--data", root + "/other"],
          input: "password1\n")
        if try database.query("SELECT to_regclass('unfinished_migration') IS NOT NULL") == "t" {
          #expect(refused.exitCode == 1 && refused.errors.contains("store migrate"), "\(refused)")
          for table in ["push", "link_key", "asset"] {
            try await Self.kill(at: table, words, database)
          }
        }
        let result = try await Child.run("richpush", ["store"] + words)
        #expect(result.exitCode == 0 && result.errors.isEmpty, "\(result)")
        #expect("\(result.output)".contains("compared all"), "\(result)")
        #expect(try database.query("SELECT count(*) > 100000 FROM event") == "t")
        let again = try await Child.run("richpush", ["store"] + words)
        #expect(again.exitCode == 1 && again.errors.contains("not empty"), "\(again)")
        let former = try await Self.store("check", "--data", root + "/var")
        #expect(former.exitCode == 1 && former.errors.contains("--database"), "\(former)")
      }
      try await Self.expect(held, on: server)
      // What waited is sent, once.
      try await eventually("it is sent") {
        try server.deliveries(of: held.pushed) == ["apns sent"]
      }
      #expect(try await services.apns.pushes(1).count == 1)
      let new = try await server.client("shop").create(.logo(to: "alice", "new"))
      #expect(new.id == held.pushed + 1)
      #expect(try await services.apns.pushes(1).count == 1)
      let check = try await Self.store(
        "check", "--data", root + "/var", "--database", database.url)
      #expect(check.exitCode == 0, "\(check)")
    }
  }

  @Test func `records in PostgreSQL are checked, backed up while in use, and restored`()
    async throws
  {
    let database = try PostgresServer()
    let flags = ["--demo", "--database", database.url]
    try await RunningServer.lend(flags: flags) { server in
      let root = server.scratch.folder.path
      let alice = server.client("alice")
      let id = try await alice.create(.logo(to: "alice")).id
      let picture = try await alice.media(id).bytes
      let options = ["--data", root + "/var", "--database", database.url]
      func store(_ words: String..., path: String = "/usr/bin:/bin") async throws -> Child.Result {
        try await Child.run("richpush", ["store"] + words + options, environment: ["PATH": path])
      }
      let sound = try await store("check")
      #expect(sound.exitCode == 0 && "\(sound.output)".contains("not checked"), "\(sound)")
      try database.query("CREATE EXTENSION amcheck")
      let whole = try await store("check")
      #expect(whole.exitCode == 0 && !"\(whole.output)".contains("not checked"), "\(whole)")

      let missing = try await store("backup", root + "/backup", path: root)
      #expect(missing.exitCode == 1 && missing.errors.contains("postgresql-client"), "\(missing)")
      try database.query("INSERT INTO ticket_key(secret, created) VALUES ('in no backup', 0)")
      let backup = try await store("backup", root + "/backup")
      #expect(backup.exitCode == 0 && backup.errors.isEmpty, "\(backup)")
      let script = try await Child.run(
        "/usr/bin/pg_restore", ["--file=-", root + "/backup/richpush.dump"])
      #expect(script.output.contains { $0.hasPrefix("CREATE TABLE ") && $0.contains("ticket_key") })
      #expect(!script.output.contains { $0.contains("in no backup") })
      let twice = try await store("backup", root + "/backup")
      #expect(twice.exitCode == 1 && twice.errors.contains("not empty"), "\(twice)")

      // Damage of several kinds.
      try database.query(
        """
        UPDATE event_counter SET push_event = 0; SET session_replication_role = replica;
        DELETE FROM notification_count; DELETE FROM notification;
        UPDATE pg_index SET indisvalid = false WHERE indexrelid = 'unread'::regclass;
        SELECT setval('users_id_seq', 1, false)
        """)
      let damaged = try await store("check")
      #expect(damaged.exitCode == 1)
      for words in [
        "number of push_event", "number of users", "index unread is invalid",
        "rows of recipient refer to no notification",
      ] {
        #expect("\(damaged.output)".contains(words), "\(damaged)")
      }

      try database.query("CREATE DATABASE restored")
      let restored = database.url.replacing("/postgres?", with: "/restored?")
      let data = try await Self.store("restore", root + "/backup", "--data", root + "/second")
      #expect(data.exitCode == 0 && "\(data.output)".contains("pg_restore"), "\(data)")
      let records = try await Child.run(
        "/usr/bin/pg_restore",
        ["--no-owner", "--exit-on-error", "--dbname=\(restored)", root + "/backup/richpush.dump"])
      #expect(records.exitCode == 0, "\(records)")
      server.send(SIGSTOP)
      try FileManager.default.moveItem(atPath: root + "/var", toPath: root + "/former")
      try FileManager.default.moveItem(atPath: root + "/second", toPath: root + "/var")
      try await server.restart(by: SIGKILL, flags: ["--demo", "--database", restored])
      #expect(try await server.client("alice").media(id).bytes == picture)
      #expect(try await server.client("alice").create(.logo(to: "alice")).id == id + 1)
      let fresh = try await Self.store(
        "check", "--data", root + "/var", "--database", restored)
      #expect(fresh.exitCode == 0, "\(fresh)")
    }
  }

  @Test func `a database that cannot be used is refused with a sentence`() async throws {
    let database = try PostgresServer()
    let scratch = try Scratch()
    let folder = scratch.folder.path + "/var"
    let added = try await Child.run(
      "richpush", ["user", "add", "alice", "--data", folder], input: "password1\n")
    #expect(added.exitCode == 0)
    try database.query(
      "CREATE DATABASE latin ENCODING 'LATIN1' LC_COLLATE 'C' LC_CTYPE 'C' TEMPLATE template0")
    for (url, sentence, code) in [
      (database.url.replacing("/postgres?", with: "/latin?"), "ENCODING 'UTF8'", 1),
      (database.url.replacing("/postgres?", with: "/none?"), "does not exist", 1),
      ("postgres://richpush@127.0.0.1:1/none", "not available", 1),
      ("mysql://there", "--to must be a URL such as", 64),
      (database.url + "&options=-csearch_path%3Dnowhere", "no schema", 1),
    ] as [(String, String, Int32)] {
      let result = try await Self.store("migrate", "--from", folder, "--to", url)
      #expect(result.exitCode == code && result.errors.contains(sentence), "\(result)")
      #expect(result.errors.split(separator: "\n").count == 1, "\(result)")
    }
    let nowhere = try await Self.store(
      "migrate", "--from", scratch.folder.path + "/none", "--to", database.url)
    #expect(nowhere.exitCode == 1 && nowhere.errors.contains("does not exist"))
    let nothing = try await Self.store("migrate", "--from", folder)
    #expect(nothing.exitCode == 64 && nothing.errors.contains("--to is missing"))
  }
}
