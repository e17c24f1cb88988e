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
