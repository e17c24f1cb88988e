import Foundation
import RichPushClient
import Testing

/// Unmodified clients of ntfy's API send to the real server.
@Suite(.timeLimit(.minutes(5))) struct NtfyClientSystemTests {
  private static let (name, password) = ("shop", "a-good-secret")

  /// Lends a server with ntfy's API at a port of its own, and two users; `alice` has a device with the tag `news`.
  static func lend(
    _ body: (RunningServer, _ ntfy: String, _ alice: RichPushClient) async throws -> Void
  ) async throws {
    let port = try ReservedPort()
    let place = "127.0.0.1:\(port.number)"
    try await RunningServer.lend(
      flags: ["--compat", "ntfy", "--ntfy-listen", place],
      prepare: { scratch in
        let data = scratch.folder.appending(path: "var").path
        for (user, role) in [(name, "publisher"), ("alice", "device")] {
          let added = try await Child.run(
            "richpush", ["user", "add", user, "--role", role, "--data", data],
            input: password + "\n")
          try #require(added.exitCode == 0, "\(added.errors)")
        }
      },
      to: { server in
        let alice = server.client("alice", password: password)
        _ = try await alice.register(handle: "0A", tags: ["news"])
        try await body(server, place, alice)
      })
  }

  @Test func `Apprise, ntfy-api, ntfpy and python-ntfy reach a device, also with pictures`()
    async throws
  {
    try await Self.lend { server, place, alice in
      let picture = Package.root.appending(path: "assets/img/beach.jpg").path
      let script = Package.root.appending(path: "Tests/EndToEndTests/Compatible/ntfy_clients.py")
      let run = try await Tool.run(
        "python", [script.path, place, Self.name, Self.password, picture])
      try #require(run.exitCode == 0, "\(run.errors) \(run.output)")
      var results: [String: JSONValue] = [:]
      for line in run.output {
        let value = try JSONDecoder().decode(JSONValue.self, from: Data(line.utf8))
        results[value.client.text ?? ""] = value.result
      }
      for client in ["apprise", "apprise with a picture", "apprise with a long text"] {
        #expect(results[client] == .bool(true), "\(client): \(run.errors)")
      }
      #expect(results["apprise with a wrong password"] == .bool(false))
      for client in ["ntfy-api", "ntfy-api with a picture", "ntfy-api by JSON", "ntfpy"] {
        guard case .array(let answer)? = results[client] else { continue }
        #expect(answer[0] == .number(200) && answer[1].reach.devices == .number(1), "\(client)")
        #expect(answer[1].id.text?.count == 12 && answer[1].time.integer ?? 0 > 0)
      }
      if case .array(let answer)? = results["ntfy-api with an e-mail"] {
        #expect(answer[0] == .number(400) && answer[1].code == .number(40001))
      }
      #expect(results["python-ntfy"]?.event.text == "message")
      #expect(results["python-ntfy with a picture"]?.attachment.type.text == "image/jpeg")
      try await expectInbox(of: alice)
    }
  }

  /// What the clients have sent is what the device gets.
  private func expectInbox(of alice: RichPushClient) async throws {
    let inbox = try await alice.inbox().notifications
    let beginnings = inbox.map { ($0.message.title ?? $0.message.text).prefix(30) }
    #expect(
      beginnings == [
        "File", "From python-ntfy", "💀 From ntfpy", "JSON of ntfy-api",
        "You received a file: beach.jpg", "🎉 From ntfy-api", "⚠️ Long\na long text, a long tex",
        "⚠️ Picture", "⚠️ From Apprise",
      ])
    let apprise = try #require(inbox.last?.message)
    #expect(apprise.text == "text of Apprise 🦊" && apprise.importance == .high)
    #expect(apprise.link == "https://example.org/a" && apprise.icon != nil)
    let pictures = inbox.filter { $0.richType == "img" }
    #expect(pictures.count == 3)
    for picture in pictures {
      #expect(picture.payload == "beach.jpg")
      let media = try await alice.media(picture.id, options: MediaOptions(width: 320))
      #expect(media.contentType == "image/jpeg" && media.bytes.count > 1000)
    }
    let api = try #require(inbox.first { $0.message.text == "text of ntfy-api" }?.message)
    #expect(api.actions?.map(\.label) == ["Open, now"] && api.importance == .urgent)
    #expect(inbox.contains { $0.richType == nil && $0.message.text.utf8.count > 10_000 })
  }

  @Test func `curl sends as ntfy's own documentation does`() async throws {
    try await Self.lend { server, place, alice in
      func curl(_ arguments: String...) async throws -> Child.Result {
        try await Child.run(
          "/usr/bin/curl", ["--silent", "--show-error"] + arguments)
      }
      let url = "http://shop:a-good-secret@\(place)/news"
      let hi = try await curl("-d", "hi", url)
      #expect(hi.output.joined().contains(#""event":"message""#), "\(hi)")
      let file = try await curl(
        "-T", Package.root.appending(path: "assets/img/logo.png").path, "-H", "Title: Logo", url)
      #expect(file.output.joined().contains(#""type":"image/png""#), "\(file)")
      let pipe = try await Child.run(
        "/bin/sh", ["-c", "echo from a pipe | curl --silent --show-error -T - \(url)"])
      #expect(pipe.output.joined().contains(#""message":"from a pipe""#), "\(pipe)")
      let nobody = try await curl("-d", "hi", "http://\(place)/news")
      #expect(nobody.output.joined().contains(#""code":40101"#), "\(nobody)")
      let inbox = try await alice.inbox().notifications
      #expect(
        inbox.map(\.message.text) == ["from a pipe", "You received a file: attachment", "hi"])
      #expect(!server.log.contains("secret"))
    }
  }
}
