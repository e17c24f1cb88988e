import Foundation
import RichPushAPI
import RichPushClient
import Testing

/// `richpush webhook`, and what it makes.
@Suite(.timeLimit(.minutes(2))) struct WebhookCommandTests {
  static let password = "a-good-secret"

  /// Lends a server that receives webhooks, with the publisher `shop` and the recipients `alice` and `bob`.
  static func lend(_ body: (RunningServer) async throws -> Void) async throws {
    try await RunningServer.lend(flags: ["--compat", "webhooks"]) { scratch in
      for (name, role) in [("shop", "publisher"), ("alice", "device"), ("bob", "device")] {
        let added = try await Child.run(
          "richpush",
          ["user", "add", name, "--role", role, "--data", scratch.folder.path + "/var"],
          input: password + "\n")
        try #require(added.exitCode == 0, "\(added.errors)")
      }
    } to: {
      try await body($0)
    }
  }

  /// Runs the command as the publisher.
  static func run(
    _ words: [String], _ server: RunningServer, environment: [String: String] = [:]
  ) async throws -> Child.Result {
    try await Child.run(
      "richpush",
      ["webhook"] + words + ["--user", "shop", "--server", server.endpoint.absoluteString],
      environment: ["RICHPUSH_PASSWORD": password].merging(environment) { $1 })
  }

  @Test func `a webhook is made, tried, used, replayed and removed`() async throws {
    try await Self.lend { server in
      let template = try server.scratch.drop(
        Array(#"{"notification":{"title":"{{t}}","to":["{{to|username:alice}}"]}}"#.utf8),
        as: "template.json")
      let added = try await Self.run(
        ["add", "door", "--template", template.path, "--to", "username:alice"], server)
      #expect(added.exitCode == 0 && added.output.count == 1, "\(added)")
      #expect(added.errors.contains("this is shown once"))
      let address = try #require(added.output.first)
      #expect(address.hasPrefix(server.endpoint.absoluteString + "/api/in/rpt_"))

      let event = try server.scratch.drop(Array(#"{"t":"Ding"}"#.utf8), as: "event.json")
      let tried = try await Self.run(["test", "door", event.path], server)
      #expect(tried.output == [#"{"title":"Ding","to":["username:alice"]}"#], "\(tried)")
      func post(_ body: String) async throws -> String {
        try await Child.run("/usr/bin/curl", ["--silent", "--data", body, address]).output.joined()
      }
      #expect(try await post(#"{"t":"Ding"}"#).contains(#""done":"sent""#))
      let alice = server.client("alice", password: Self.password)
      #expect(try await alice.inbox().notifications.map(\.message.title) == ["Ding"])

      #expect(try await post(#"{"t":"Dong","to":"username:bob"}"#).contains("“username:bob”"))
      let failed = try await Self.run(["failed", "door", "--json"], server)
      let one = try JSONCoding.decode(
        FailedDeliveryList.Delivery.self, from: failed.output.joined().utf8)
      #expect(one.reason.contains("“username:bob”"))
      let replayed = try await Self.run(["replay", "door", "\(one.id)"], server)
      #expect(replayed.exitCode != 0 && replayed.errors.contains("“username:bob”"), "\(replayed)")
      let list = try await Self.run(["list"], server)
      #expect(list.output.count == 2 && list.output[1].contains("127.0.0.1"), "\(list)")

      let removed = try await Self.run(["remove", "door"], server)
      #expect(removed.output == ["removed door"])
      #expect(try await post("{}").contains("no webhook at this address"))
      #expect(!server.log.contains(address.suffix(43)))
    }
  }

  @Test func `a template is tried without a server`() async throws {
    let scratch = try Scratch()
    func test(_ words: String...) async throws -> Child.Result {
      try await Child.run("richpush", ["webhook", "test"] + words)
    }
    let event = try scratch.drop(
      Array(
        #"{"action":"opened","issue":{"number":7,"title":"T"},"repository":{"full_name":"o/r"},"sender":{"login":"ann"}}"#
          .utf8), as: "event.json"
    ).path
    let shown = try await test(
      "--template", "github", event, "--field", "X-GitHub-Event: issues", "--to", "news")
    #expect(
      shown.output.joined().contains(#""message":"ann opened issue #7: T""#)
        && shown.output.joined().contains(#""to":["news"]"#), "\(shown)")
    let other = try await test("--template", "github", event)
    #expect(other.output == ["nothing: the template has no rule for it"], "\(other)")
    let wrong = try scratch.drop(Array(#"{"notification":{"message":"{{a"}}"#.utf8), as: "t.json")
    for (words, reason) in [
      (["--template", "slack", event], "alertmanager, grafana, github"),
      (["--template", wrong.path, event], "{{path}}"),
      (["--template", "github", "/none"], "/none"),
      ([event], "--template is missing"),
      (["--template", "github", event, "--field", "a"], "--field"),
    ] {
      let refused = try await Child.run("richpush", ["webhook", "test"] + words)
      #expect(refused.exitCode != 0 && refused.errors.contains(reason), "\(words) \(refused)")
    }
  }
}
