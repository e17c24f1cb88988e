import FoundationEssentials
import Primitives
import Testing

@testable import Store

/// Webhooks of publishers, and the deliveries to them that have failed.
@Suite(.timeLimit(.minutes(1))) struct StoredWebhookTests {
  private let scratch = Scratch()

  @Test func `a webhook is an access token that is listed apart, and counts only as one`()
    async throws
  {
    let store = try scratch.open()
    var scope = AccessTokenScope()
    (scope.to, scope.rate) = (["news"], 10)
    let made = try await store.webhooks.addWebhook(
      Digest(of: "w"), "alerts", scope, template: "\"github\"", secret: "s", of: alice)
    let added = try #require(made)
    #expect(added.token.name == "alerts" && added.token.scope.to == ["news"])
    #expect(added.token.scope.isWebhook && added.token.scope.rate == 10 && added.failed == 0)
    #expect(added.template == "\"github\"" && added.secret == "s" && added.hash == Digest(of: "w"))
    let token = try await store.addAccessToken("ci", of: alice)
    #expect(try await store.webhooks.webhooks(of: alice) == [added])
    #expect(try await store.webhooks.webhooks(of: bob).isEmpty)
    #expect(try await store.webhooks.webhook(added.token.id, of: bob) == nil)
    #expect(try await store.webhooks.webhook(token, of: nil) == nil)
    #expect(try await store.accessTokens.accessTokens(of: alice).map(\.id) == [token])
    let owner = try await store.accessTokens.owner(ofAccessToken: Digest(of: "w"))
    #expect(owner?.scope.isWebhook == true)
    #expect(
      try await store.accessTokens.owner(ofAccessToken: Digest(of: "ci"))?.scope.isWebhook == false)
    // One name for both, so that a person knows which is meant.
    await #expect(throws: StoreError.self) { try await store.addWebhook("ci", of: alice) }

    #expect(try await !store.accessTokens.removeAccessToken(added.token.id, of: alice))
    #expect(
      try await !store.accessTokens.removeAccessToken(token, of: alice, isWebhook: true))
    try await store.keepDelivery("a", of: added.token.id)
    #expect(
      try await store.accessTokens.removeAccessToken(added.token.id, of: alice, isWebhook: true))
    #expect(try await store.webhooks.webhook(added.token.id, of: nil) == nil)
    #expect(try await store.count("webhook") == 0)
    #expect(try await store.count("webhook_delivery") == 0)
  }

  @Test func `the last twenty failed deliveries are kept, each once, for 30 days`() async throws {
    let store = try scratch.open()
    let (id, other) = (
      try await store.addWebhook("a", of: alice), try await store.addWebhook("b", of: alice)
    )
    try await store.keepDelivery("other", of: other)
    for number in 0..<22 { try await store.keepDelivery("\(number)", of: id) }
    let first = try await store.webhooks.failedDeliveries(of: id)
    #expect(first.count == 20 && first.allSatisfy { $0.post.body == nil })
    #expect(try await store.webhooks.webhook(id, of: nil)?.failed == 20)
    // The sender tries again.
    scratch.pass(60)
    let post = WebhookPost(fields: ["x-event": "push", "x-id": "1"], body: "{}")
    for reason in ["one", "two"] {
      try await store.webhooks.keep(post, Digest(of: "new"), reason: reason, of: id)
    }
    let again = try await store.webhooks.failedDeliveries(of: id)
    #expect(again.count == 20 && again[0].reason == "two" && again[0].failed == scratch.now)
    let one = try await store.webhooks.failedDelivery(again[0].id, of: id)
    #expect(one?.post == post)
    #expect(try await store.webhooks.failedDelivery(again[0].id, of: other) == nil)
    store.webhooks.removeDelivery(Digest(of: "new"), of: id)
    try await store.probe()
    #expect(try await store.webhooks.failedDeliveries(of: id).count == 19)

    scratch.pass(30 * 86_400 - 59)
    _ = try await store.collect(Retention())
    #expect(try await store.webhooks.failedDeliveries(of: id).isEmpty)
    #expect(try await store.webhooks.failedDeliveries(of: other).isEmpty)
    // Gone meanwhile.
    try await store.keepDelivery("late", of: 999)
  }

  @Test(.sqlite) func `a backup has them`() async throws {
    let store = try scratch.open()
    let id = try await store.addWebhook("a", of: alice)
    try await store.keepDelivery("x", of: id)
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    let copy = try Store(folder: restored)
    #expect(try await copy.webhooks.webhook(id, of: alice)?.failed == 1)
    #expect(try await copy.check().findings.isEmpty)
  }
}
