import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// `richpush audit`: what people, programs, commands and files have done to a server.
@Suite(.timeLimit(.minutes(5))) struct AuditCommandTests {
  private static func audit(
    _ words: String..., on server: RunningServer
  ) async throws -> [JSONValue] {
    let result = try await Child.run(
      "richpush", ["audit", "--json", "--server", server.endpoint.absoluteString] + words)
    try #require(result.exitCode == 0, "\(result.errors)")
    return try result.output.map { try JSONDecoder().decode(JSONValue.self, from: Data($0.utf8)) }
  }

  @Test func `commands on the data folder, dropped files, sends and wrong passwords are listed`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--audit-log"]) { server in
      let data = server.scratch.folder.path + "/var"
      let added = try await Child.run(
        "richpush", ["user", "add", "dora", "--role", "publisher", "--data", data],
        input: "correct horse\n")
      try #require(added.exitCode == 0, "\(added.errors)")
      let command = try #require(try await Self.audit("--action", "user.", on: server).first)
      #expect(command.action.text == "user.added" && command.detail.text == "publisher")
      #expect(command.actor.kind.text == "command" && command.actor.number.integer == Int(getuid()))
      #expect(command.object.name.text == "dora" && command.actor.address == .null)

      // Hers, though the command has made it.
      let made = try await Child.run(
        "richpush", ["token", "add", "ci", "--user", "dora", "--data", data])
      try #require(made.exitCode == 0, "\(made.errors)")
      let token = try #require(try await Self.audit("--of", "dora", on: server).first)
      #expect(token.action.text == "token.added" && token.actor.kind.text == "command")
      #expect(token.object.ownerName.text == "dora")

      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/img/new.png")
      try await eventually("the file is in the log") {
        try await Self.audit("--action", "asset.added", on: server).contains {
          $0.object.id.text == "img/new.png" && $0.actor.kind.text == "drop-folder"
        }
      }
      let dora = server.client("dora", password: "correct horse")
      let id = try await dora.create(
        NewNotification("secret words", richType: "img", payload: "new.png", to: .users(["alice"]))
      ).id
      let sent = try #require(try await Self.audit("--of", "dora", on: server).first)
      #expect(sent.action.text == "notification.sent" && sent.object.id.text == "\(id)")
      #expect(sent.actor.credential.text == "password" && sent.actor.address.text == "127.0.0.1")
      await #expect(throws: RichPushError.self) {
        _ = try await server.client("dora", password: "wrong").inbox()
      }
      let wrong = try #require(try await Self.audit("--action", "sign-in.", on: server).first)
      #expect(wrong.object.name.text == "dora" && wrong.actor.kind.text == "anybody")
      try await eventually("the log has it") {
        server.log.contains("notification.sent notification \(id)")
      }

      // As a table, and after a crash: what was answered is there.
      try await server.restart(by: SIGKILL, flags: ["--demo", "--most-a-day", "9"])
      let again = try await Self.audit("--of", "dora", on: server).map(\.action.text)
      #expect(
        again.prefix(4) == ["sign-in.failed", "notification.sent", "token.added", "user.added"],
        "\(again)")
      let settings = try await Self.audit("--action", "setting.", on: server)
      #expect(settings.map(\.object.id.text).contains("--most-a-day"))
      let removed = try await Child.run("richpush", ["user", "remove", "dora", "--data", data])
      try #require(removed.exitCode == 0, "\(removed.errors)")
      let number = try #require(command.object.id.text)
      let table = try await Child.run(
        "richpush", ["audit", "--of", number, "--server", server.endpoint.absoluteString])
      #expect(table.output.first?.hasPrefix("NUMBER") == true, "\(table.errors)")
      #expect(table.output.dropFirst().first?.contains("user \(number) (removed)") == true)
      let tokenID = try #require(token.object.id.text)
      let words = "token \(tokenID) of user \(number) (removed)"
      #expect(table.output.contains { $0.contains(words) }, "\(table.output)")
      #expect(!table.output.contains { $0.contains("dora") || $0.contains("secret") })
    }
  }

  @Test func `only admins read it, and a wrong time is refused`() async throws {
    try await RunningServer.lend { server in
      let words = ["audit", "--server", server.endpoint.absoluteString]
      let refused = try await Child.run("richpush", words + ["--user", "shop"])
      #expect(refused.exitCode == 77 && refused.errors.contains("admin"), "\(refused.errors)")
      let none = try await Child.run("richpush", words + ["--of", "nobody-is-called-so"])
      #expect(none.exitCode == 66, "\(none.errors)")
    }
  }
}
