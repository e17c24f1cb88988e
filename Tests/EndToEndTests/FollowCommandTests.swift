import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// Following and administering a server from another machine: `sent`, `audience`, `outbox`, `people`, `session`.
@Suite(.timeLimit(.minutes(5))) struct FollowCommandTests {
  private static func run(
    _ words: String..., on server: RunningServer, input: String = ""
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush", words + ["--server", server.endpoint.absoluteString], input: input)
  }

  private static func json(_ result: Child.Result) throws -> [JSONValue] {
    try result.output.map { try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
  }

  @Test func `a publisher sees whom a notification reaches, and who has fetched it`() async throws {
    try await RunningServer.lend { server in
      _ = try await server.client("alice").inbox()
      let size = try await Self.run("audience", "--to", "alice", "--user", "shop", on: server)
      #expect(size.output == ["1 user, no device yet"], "\(size.errors)")
      let words = ["--type", "img", "--payload", "logo.png", "--user", "shop", "Look"]
      let dry = try await Child.run(
        "richpush",
        ["notify", "--dry-run", "--to", "alice", "--server", server.endpoint.absoluteString] + words
      )
      #expect(dry.exitCode == 0 && dry.output.first == "would reach 1 user, no device yet")
      #expect(dry.output.contains { $0.hasPrefix("ios") && $0.contains("image/png") })
      #expect(dry.output.contains { $0.hasPrefix("apns") && $0.contains("  Look") })
      let none = try await Self.run("sent", "list", "--user", "shop", on: server)
      #expect(none.output.count == 1, "a dry run sends nothing")

      let shop = server.client("shop")
      let new = NewNotification(
        "Hi\u{1B}[2J", richType: "img", payload: "logo.png", to: .users(["alice", "bob", "carl"]))
      let id = try await shop.create(new).id
      _ = try await server.client("bob").media(id)
      try await eventually("the fetch is counted") {
        try await shop.sent().notifications.first?.counts.fetched == 1
      }
      let list = try await Self.run("sent", "list", "--user", "shop", on: server)
      #expect(list.output.last?.contains("sent") == true)
      #expect(list.output.last?.hasSuffix("Hi\\u{1B}[2J") == true, "no terminal obeys it")
      let all = try await Self.run("sent", "list", "--all", "--user", "admin", "--json", on: server)
      let entry = try #require(try Self.json(all).first)
      #expect(entry.id.integer == id && entry.counts.recipients.integer == 3)
      let waiting = try await Self.run(
        "sent", "receipts", "#\(id)", "--state", "queued", "--user", "shop", "--json", on: server)
      #expect(try Self.json(waiting).map(\.user.text) == ["alice", "carl"])
      let one = try await Self.run(
        "sent", "receipts", "\(id)", "--recipient", "bob", "--user", "shop", on: server)
      #expect(one.output.count == 2 && one.output.last?.hasPrefix("bob") == true)
      let wrong = try await Self.run(
        "sent", "receipts", "\(id)", "--state", "lost", "--user", "shop", on: server)
      let states = "queued, sent, displayed, fetched, opened, read"
      #expect(wrong.exitCode == 65 && wrong.errors.contains(states))
      for (target, words) in [("?sent", []), ("/\(id)/receipts", ["\(id)"])] {
        let printed = try await Child.run(
          "richpush",
          ["sent", "export", "--user", "shop", "--server", server.endpoint.absoluteString] + words)
        // As another program reads what the server sends.
        let read = try await Child.run(
          "/bin/sh",
          [
            "-c",
            #"curl -sf -u shop:shop -H 'Accept: text/csv' "$0" | python3 -c 'import csv, json, sys; sys.stdin.reconfigure(newline=""); print(json.dumps(list(csv.DictReader(sys.stdin))))'"#,
            server.endpoint.absoluteString + "/api/notifications" + target,
          ])
        let rows = try JSONDecoder().decode(
          [[String: String]].self, from: Data(read.output.joined().utf8))
        #expect(printed.output.count == 1 + rows.count, "\(printed)")
        if words.isEmpty {
          #expect(rows.map { $0["message"] } == ["Hi[2J"] && rows[0]["fetched"] == "1")
        } else {
          #expect(rows.map { $0["user"] } == ["alice", "bob", "carl"])
          #expect(rows.map { $0["fetched"] != "" } == [false, true, false])
        }
      }
      let counted = try await Self.run(
        "sent", "statistics", "\(id)", "--user", "shop", "--json", on: server)
      let users = try #require(try Self.json(counted).first).users
      #expect(users.recipients.integer == 3 && users.fetched.integer == 1)
      let table = try await Self.run("sent", "statistics", "\(id)", "--user", "shop", on: server)
      #expect(table.output.first?.hasPrefix("BY") == true, "\(table.errors)")
      #expect(table.output.contains { $0.contains("noDevice") })
      let weeks = try await Self.run(
        "sent", "weeks", "--weeks", "2", "--user", "shop", "--json", on: server)
      #expect(try Self.json(weeks).map(\.recipients.integer) == [0, 3])
      let far = try await Self.run("sent", "weeks", "--weeks", "105", "--user", "shop", on: server)
      #expect(far.exitCode == 65 && far.errors.contains("from 1 to 104"))
      let foreign = try await Self.run("sent", "receipts", "\(id)", "--user", "carl", on: server)
      #expect(foreign.exitCode == 66)
      let first = try await shop.receipts(of: id, limit: 2)
      let rest = try await shop.receipts(of: id, after: first.next)
      #expect((first.receipts + rest.receipts).map(\.user) == ["alice", "bob", "carl"])
      #expect(rest.next == nil)
    }
  }

  @Test func `an admin sees the lanes from anywhere, and sends or cancels what failed`()
    async throws
  {
    try await PushServices.lend(lanes: "apns") { server, services in
      try services.apns.answer(["*": [["status": 400, "reason": "BadCollapseId"]]])
      for handle in ["0A", "0B"] { try await server.client("alice").register(handle: handle) }
      let id = try await server.client("shop").create(.logo(to: "alice")).id
      try await eventually("both are given up") {
        try server.deliveries(of: id) == ["apns failed", "apns failed"]
      }
      let pushes = try await Self.run(
        "sent", "deliveries", "\(id)", "--state", "failed", "--user", "shop", on: server)
      #expect(pushes.output.count == 3)
      #expect(pushes.output.last?.contains("BadCollapseId") == true)
      let lanes = try await Self.run("outbox", "lanes", "--json", on: server)
      let lane = try #require(try Self.json(lanes).first)
      #expect(lane.name.text == "apns" && lane.failed.integer == 2)
      let failed = try await Self.run("outbox", "list", "--state", "failed", "--json", on: server)
      let jobs = try Self.json(failed).compactMap(\.id.integer)
      #expect(jobs.count == 2 && jobs[0] > jobs[1])
      try services.apns.answer([:])
      let one = try await Self.run("outbox", "replay", "\(jobs[0])", on: server)
      #expect(one.output == ["1 due again"])
      let rest = try await Self.run("outbox", "replay", "--lane", "apns", on: server)
      #expect(rest.output == ["1 due again"])
      try await eventually("both are sent") {
        try server.deliveries(of: id) == ["apns sent", "apns sent"]
      }
      let gone = try await Self.run("outbox", "cancel", "\(jobs[0])", on: server)
      #expect(gone.exitCode == 66)
      let publisher = try await Self.run("outbox", "lanes", "--user", "shop", on: server)
      #expect(publisher.exitCode == 77 && publisher.errors.contains("admin"))
    }
  }

  @Test func `an admin manages people from anywhere, and a user the own sessions`() async throws {
    try await RunningServer.lend { server in
      let added = try await Self.run(
        "people", "add", "dora", on: server, input: "correct horse\n")
      #expect(added.output == ["added dora"], "\(added.errors)")
      let role = try await Self.run("people", "role", "dora", "--role", "publisher", on: server)
      #expect(role.output == ["dora has the role publisher"])
      let password = try await Self.run(
        "people", "password", "dora", on: server, input: "another horse\n")
      #expect(password.output == ["changed the password of dora"], "\(password.errors)")
      let twice = try await Self.run("people", "add", "dora", on: server, input: "third horse\n")
      #expect(twice.exitCode == 65 && twice.errors.contains("a user dora already"), "\(twice)")
      let dora = server.client("dora", password: "another horse")
      try await dora.register(handle: "AB12", tags: ["news"])
      let quota = try await Self.run("people", "quota", "dora", "--max-devices", "9", on: server)
      #expect(quota.output == ["dora can register 9 devices"], "\(quota.errors)")
      let list = try await Self.run("people", "list", "--json", on: server)
      let user = try #require(try Self.json(list).first { $0.username.text == "dora" })
      #expect(user.role.text == "publisher" && user.devices.integer == 1)
      #expect(user.maxDevices.integer == 9)
      let devices = try await Self.run("people", "devices", "dora", on: server)
      #expect(devices.output.last?.contains("username:dora") == true)
      let refused = try await Self.run("people", "refused", "--json", on: server)
      #expect(refused.output.isEmpty && refused.exitCode == 0)

      func sessions() async throws -> [Int] {
        let result = try await Child.run(
          "richpush",
          ["session", "list", "--json", "--user", "dora", "--server"]
            + [server.endpoint.absoluteString],
          environment: ["RICHPUSH_PASSWORD": "another horse"])
        let found = try Self.json(result)
        #expect(found.allSatisfy { $0.userAgent.text == "Browser" })
        return found.compactMap(\.id.integer)
      }
      for _ in 0..<2 { _ = try server.signIn("dora", "another horse") }
      let open = try await sessions()
      #expect(open.count == 2)
      try await dora.endSession(open[0])
      #expect(try await sessions() == [open[1]])
      let out = try await Self.run("people", "sign-out", "dora", on: server)
      #expect(out.output == ["dora is signed out"])
      #expect(try await sessions().isEmpty)
      #expect(try await server.client("admin").storage().free > 0)
      let removed = try await Self.run("people", "remove", "dora", on: server)
      #expect(removed.output == ["removed dora"])
      let again = try await Self.run("people", "remove", "dora", on: server)
      #expect(again.exitCode == 66)
    }
  }

  @Test func `a plugin's last failure is listed with what it wrote, as text`() async throws {
    let script = """
      #!/bin/sh
      echo 'first line' >&2; printf 'no such table \\033[2J\\n' >&2; exit 3
      """
    try await RunningServer.lend(prepare: { try $0.drop(Array(script.utf8), as: "plugins/note") }) {
      server in
      let file = server.scratch.folder.path + "/plugins/note"
      try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: file)
      let new = NewNotification("m", richType: "note", payload: "p", to: .users(["alice"]))
      try await eventually("the plugin is called, and fails") {
        let error = await #expect(throws: RichPushError.self) {
          try await server.client("shop").create(new)
        }
        return error?.status == 502
      }
      let list = try await Self.run("plugin", "list", on: server)
      #expect(list.output.contains { $0.hasPrefix("note") && $0.contains("exited with status 3") })
      #expect(list.output.contains("note says: no such table \\u{1B}[2J"))
      let json = try await Self.run("plugin", "list", "--json", on: server)
      guard case .array(let plugins) = try #require(try Self.json(json).first).plugins else {
        Issue.record("no plugins")
        return
      }
      let note = try #require(plugins.first { $0.richType.text == "note" })
      #expect(note.lastFailureOutput.text?.hasSuffix("no such table \u{1B}[2J\n") == true)
      #expect(note.lastFailureTime.text != nil && (note.failures.integer ?? 0) > 0)
    }
  }

  @Test func `on a terminal the console's address comes first, for a program the server's`()
    async throws
  {
    let scratch = try Scratch()
    let folder = scratch.folder.path
    let words = [
      try Package.program("richpush").path, "serve", "--demo", "--listen", "127.0.0.1:0",
      "--data", folder + "/var", "--assets", folder + "/assets", "--plugins", folder + "/plugins",
    ]
    let terminal = try Child("/usr/bin/script", Child.terminal(words))
    // The log is on the terminal, too.
    for await line in terminal.lines where line.hasPrefix("richpush: ") {
      let form = #/richpush: the console is at http:\/\/127\.0\.0\.1:\d+\/console\/\s*/#
      #expect(line.wholeMatch(of: form) != nil, "\(line)")
      return
    }
    Issue.record("it says nothing")
  }
}
