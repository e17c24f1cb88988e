import Foundation
import RichPushClient
import Testing
import Waiting

/// A real Alertmanager posts to webhooks.
@Suite(.timeLimit(.minutes(5))) struct AlertmanagerSystemTests {
  private static let withdrawing = #"""
    {"rules":[
      {"when":{"status":"resolved"},"withdraw":"{{groupKey}}"},
      {"notification":{"title":"{{commonLabels.alertname}}","replaces":"{{groupKey}}",
        "idempotencyKey":"{{groupKey}} {{alerts[].fingerprint}} {{alerts[].startsAt}}"}}]}
    """#

  @Test func `an alert fires, is repeated, also after a crash, and is resolved: one notification`()
    async throws
  {
    try await WebhookCommandTests.lend { server in
      let (alice, bob) = (
        server.client("alice", password: WebhookCommandTests.password),
        server.client("bob", password: WebhookCommandTests.password)
      )
      let shop = server.client("shop", password: WebhookCommandTests.password)
      let file = try server.scratch.drop(Array(Self.withdrawing.utf8), as: "template.json")
      var addresses: [String] = []
      for words in [
        ["alerts", "--template", "alertmanager", "--to", "username:alice"],
        ["passing", "--template", file.path, "--to", "username:bob"],
      ] {
        let added = try await WebhookCommandTests.run(["add"] + words, server)
        addresses.append(try #require(added.output.first, "\(added.errors)"))
      }
      func titles(_ client: RichPushClient) async throws -> [String] {
        try await client.inbox().notifications.map { $0.message.title ?? "" }
      }
      var alertmanager = try await Alertmanager(posting: addresses, in: server.scratch)
      for _ in 0..<2 {
        try await alertmanager.post("Latency")
        // Each webhook has been told three times.
        try await eventually("it is posted and repeated") {
          try await alertmanager.posts().all >= 6
        }
        #expect(try await titles(alice) == ["Latency"])
        #expect(try await titles(bob) == ["Latency"])
        #expect(try await shop.sent().notifications.count == 2)
        await alertmanager.kill()
        alertmanager = try await Alertmanager(posting: addresses, in: server.scratch)
      }
      let alert = try #require(try await alice.inbox().notifications.first).message
      #expect(alert.text == "web-1 is slow" && alert.subtitle == "critical web-1")
      #expect(alert.importance == .high && alert.link == "https://alerts.example")

      try await alertmanager.post("Latency")
      try await eventually("the new one has told of it") {
        try await alertmanager.posts().all >= 2
      }
      try await alertmanager.post("Latency", hasEnded: true)
      try await eventually("it is resolved") {
        let (own, others) = (try await titles(alice), try await titles(bob))
        return own == ["Resolved: Latency"] && others.isEmpty
      }
      #expect(try await alertmanager.posts().failed == 0)
      for name in ["alerts", "passing"] {
        let failed = try await WebhookCommandTests.run(["failed", name, "--json"], server)
        #expect(failed.exitCode == 0 && failed.output.isEmpty, "\(failed)")
      }
      await alertmanager.kill()
      for address in addresses { #expect(!server.log.contains(address.suffix(43))) }
    }
  }

  @Test func `Prometheus tells that a server is down, is killed, tells again, and it is up`()
    async throws
  {
    try await WebhookCommandTests.lend { server in
      let alice = server.client("alice", password: WebhookCommandTests.password)
      let added = try await WebhookCommandTests.run(
        ["add", "alerts", "--template", "alertmanager", "--to", "username:alice"], server)
      let address = try #require(added.output.first, "\(added.errors)")
      let (scratch, closed) = (server.scratch, try ReservedPort())
      let alertmanager = try await Alertmanager(posting: [address], in: scratch)
      try Prometheus.watch(port: closed.number, in: scratch)
      var prometheus = try Prometheus(telling: alertmanager, in: scratch)
      func isTold(_ title: String) async throws {
        try await eventually("\(title): \(prometheus.log.suffix(2000))") {
          try await alice.inbox().notifications.map(\.message.title) == [title]
        }
      }
      try await isTold(Prometheus.alert)
      let message = try #require(try await alice.inbox().notifications.first).message
      #expect(message.text == "nobody can read" && message.importance == .high)
      await prometheus.kill()
      // Without a word, Alertmanager thinks that it is over.
      try await isTold("Resolved: " + Prometheus.alert)
      prometheus = try Prometheus(telling: alertmanager, in: scratch)
      try await isTold(Prometheus.alert)
      // This server has metrics, too.
      try Prometheus.watch(port: server.port, in: scratch)
      try await isTold("Resolved: " + Prometheus.alert)
      #expect(try await alertmanager.posts().failed == 0)
      await prometheus.kill()
      await alertmanager.kill()
      withExtendedLifetime(closed) {}
    }
  }
}
