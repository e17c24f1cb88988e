import Foundation
import RichPushAPI
import RichPushClient
import Testing

/// `richpush token`: with a running server and without, and what programs do with it.
@Suite(.timeLimit(.minutes(2))) struct TokenCommandTests {
  private static func run(_ words: String..., in scratch: Scratch) async throws -> Child.Result {
    try await Child.run(
      "richpush", words + ["--data", scratch.folder.path + "/var"], input: "a good secret\n")
  }

  @Test func `a token sends until it is removed beside the running server`() async throws {
    try await RunningServer.lend(flags: []) { scratch in
      for (name, role) in [("shop", "publisher"), ("alice", "device")] {
        let added = try await Self.run("user", "add", name, "--role", role, in: scratch)
        #expect(added.exitCode == 0, "\(added.errors)")
      }
    } to: { server in
      let scratch = server.scratch
      let added = try await Self.run(
        "token", "add", "ci", "--user", "shop", "--to", "username:alice", "--expires", "90d",
        "--rate", "5", in: scratch)
      #expect(added.exitCode == 0 && added.output.count == 1, "\(added)")
      #expect(added.errors.contains("this is shown once"))
      let token = try #require(added.output.first)
      let client = server.client("shop", password: token)
      _ = try await client.create(NewNotification("By a program.", to: .users(["alice"])))
      let error = await #expect(throws: RichPushError.self) {
        try await client.create(NewNotification("To all.", to: .users(["shop"])))
      }
      #expect(error?.status == 403)
      // As the API names it, for which no `to` is needed.
      let curl = try await Child.run(
        "/usr/bin/curl",
        [
          "-s", "-H", "Authorization: Bearer \(token)", "-d", #"{"message":"Done."}"#,
          server.endpoint.absoluteString + "/api/notifications",
        ])
      #expect(curl.output.joined().contains(#""to":["username:alice"]"#), "\(curl)")

      let list = try await Self.run("token", "list", "--json", in: scratch)
      let found = try JSONCoding.decode(
        AccessTokenList.Token.self, from: list.output.joined().utf8)
      #expect(found.name == "ci" && found.user == "shop" && found.rate == 5)
      #expect(found.to == ["username:alice"] && found.address == "127.0.0.1")
      let days = try #require(found.expires).timeIntervalSinceNow / 86_400
      #expect((89.9...90.1).contains(days) && !list.output.joined().contains(token))
      let table = try await Self.run("token", "list", "--user", "shop", in: scratch)
      #expect(table.output.count == 2 && table.output[1].contains("127.0.0.1"))

      let removed = try await Self.run("token", "remove", "ci", "--user", "shop", in: scratch)
      #expect(removed.exitCode == 0 && removed.output == ["removed ci of shop"], "\(removed)")
      let ended = await #expect(throws: RichPushError.self) { try await client.sent() }
      #expect(ended?.status == 401)
      #expect(!server.log.contains(token.dropFirst(4)))
    }
  }

  @Test func `an admin with single sign-on alone reads status and audit log by a token for it`()
    async throws
  {
    let flags = [
      "--oidc-issuer", "https://login.example", "--public-url", "https://push.example",
      "--password-sign-in", "rescue",
    ]
    try await RunningServer.lend(flags: flags) { scratch in
      for name in ["rescue", "anna"] {
        let added = try await Self.run("user", "add", name, "--role", "admin", in: scratch)
        #expect(added.exitCode == 0, "\(added.errors)")
      }
    } to: { server in
      func token(_ name: String, _ flags: String...) async throws -> String {
        let added = try await Child.run(
          "richpush",
          ["token", "add", name, "--user", "anna", "--data", server.scratch.folder.path + "/var"]
            + flags)
        return try #require(added.output.first, "\(added.errors)")
      }
      func run(_ command: String, _ password: String, _ flags: String...) async throws
        -> Child.Result
      {
        try await Child.run(
          "richpush", [command, "--server", server.endpoint.absoluteString] + flags,
          environment: ["RICHPUSH_PASSWORD": password])
      }
      // Her password is turned off.
      let refused = try await run("status", "a good secret", "--user", "anna")
      #expect(refused.exitCode == 77 && refused.errors.contains("send a token"), "\(refused)")

      let (both, plain) = (try await token("watch", "--status", "--audit"), try await token("ci"))
      for user in [[], ["--user", "anna"]] {
        let status = try await Child.run(
          "richpush", ["status", "--server", server.endpoint.absoluteString] + user,
          environment: ["RICHPUSH_PASSWORD": both])
        #expect(status.output.first?.hasPrefix("richpush 0.") == true, "\(status)")
      }
      let log = try await run("audit", both, "--action", "token.")
      #expect(log.exitCode == 0 && log.output.contains { $0.contains("status, audit") }, "\(log)")
      for command in ["status", "audit"] {
        let refused = try await run(command, plain)
        #expect(refused.exitCode == 77 && refused.errors.contains("may not read"), "\(refused)")
      }
      let people = try await run("people", both)
      #expect(people.exitCode == 77, "\(people)")
      let others = try await run("status", both, "--user", "rescue")
      #expect(others.exitCode == 77, "\(others)")
    }
  }

  @Test func `without a server it is made, listed and removed by its number`() async throws {
    let scratch = try Scratch()
    _ = try await Self.run("user", "add", "shop", "--role", "publisher", in: scratch)
    _ = try await Self.run("user", "add", "alice", in: scratch)
    let added = try await Self.run("token", "add", "ci", "--user", "shop", "--json", in: scratch)
    #expect(added.output.joined().contains(#""token":"rpt_"#), "\(added)")
    for (words, reason) in [
      (["token", "add", "ci", "--user", "shop"], "already"),
      (["token", "add", "ci", "--user", "alice"], "has the role device"),
      (["token", "add", "ci", "--user", "nobody"], "no user"),
      (["token", "add", "c i", "--user", "shop"], "letters, digits"),
      (["token", "add", "b", "--user", "shop", "--status"], "shop is no admin"),
      (["token", "add", "b", "--user", "shop", "--to", "a b"], "recipients are not valid"),
      (
        ["token", "add", "b", "--user", "shop", "--expires", "2001-01-01T00:00:00Z"], "in the past"
      ),
      (["token", "remove", "other", "--user", "shop"], "no access token"),
    ] {
      let refused = try await Child.run(
        "richpush", words + ["--data", scratch.folder.path + "/var"])
      #expect(refused.exitCode == 1 && refused.errors.contains(reason), "\(words) \(refused)")
    }
    let removed = try await Self.run("token", "remove", "1", "--user", "shop", in: scratch)
    #expect(removed.exitCode == 0 && removed.errors.contains("no server is running"), "\(removed)")
    let left = try await Self.run("token", "list", in: scratch)
    #expect(left.output.count == 1, "the head only")
  }
}
