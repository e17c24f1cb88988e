import Foundation
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// Audiences that the server finds when a notification is sent.
@Suite(.timeLimit(.minutes(1))) struct DueAudienceTests {
  /// Saves a segment as the publisher.
  private func save(_ content: String, as name: String = "gold", in delivery: DeliveryFixture)
    async throws
  {
    _ = try await delivery.store.segments.putSegment(
      name, content, version: nil, by: delivery.id("shop"))
  }

  private func recipients(
    of published: Publisher.Published, in delivery: DeliveryFixture
  ) async throws -> Set<UserID> {
    Set(
      try await delivery.store.notifications.receipts(of: published.notification.id).map(\.userID))
  }

  @Test func `a segment is sent to those who are in it now`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("a", of: "alice", language: "de-CH")
    try await delivery.register("b", of: "bob", language: "en")
    try await save(#"{"language":"de"}"#, in: delivery)
    let published = try await delivery.publish(delivery.draft(to: #""segment:gold""#))
    #expect(try await recipients(of: published, in: delivery) == [delivery.id("alice")])
    #expect(published.reach.users == 1 && published.reach.devices == 1)
    #expect(try await delivery.lease().count == 1)
  }

  @Test func `a scheduled one is sent to those who are in it at its time`() async throws {
    let delivery = try await DeliveryFixture()
    for user in ["alice", "bob"] { try await delivery.register(user, of: user) }
    _ = try await delivery.store.accounts.setAttributes(["alice": ["plan": "gold"]])
    try await save(#"{"attributes":{"plan":"gold"}}"#, in: delivery)
    let time = (delivery.clock.date + 600).formatted(.iso8601)
    let published = try await delivery.publish(
      delivery.draft(#","notBefore":"\#(time)""#, to: #"["segment:gold"]"#))
    #expect(published.reach.users == 1)
    #expect(try await recipients(of: published, in: delivery).isEmpty)
    // A change of the text does not find them earlier.
    _ = try await delivery.publisher.amend(
      published.notification,
      as: Draft(
        published.notification, changedBy: Array(#"{"message":"New"}"#.utf8), allowing: [],
        now: delivery.clock.date), using: .all)
    _ = try await delivery.publisher.announceDue { _ in }
    #expect(try await recipients(of: published, in: delivery).isEmpty)
    _ = try await delivery.store.accounts.setAttributes([
      "alice": ["plan": "silver"], "bob": ["plan": "gold"],
    ])
    delivery.clock.advance(by: .seconds(600))
    #expect(try await delivery.lease().isEmpty)
    _ = try await delivery.publisher.announceDue { _ in }
    #expect(try await recipients(of: published, in: delivery) == [delivery.id("bob")])
    let jobs = try await delivery.lease()
    #expect(jobs.count == 1)
    #expect(try await delivery.pushEvents(for: "bob").count <= 1)
    // Once only.
    _ = try await delivery.publisher.announceDue { _ in }
    #expect(try await delivery.lease().isEmpty)
    let counts = try await delivery.store.sent.sent(by: nil, before: nil, limit: 1).first?.counts
    #expect(counts?.recipients == 1)
  }

  @Test func `a change while it is sent reaches all of them`() async throws {
    let delivery = try await DeliveryFixture()
    for user in ["alice", "bob"] { try await delivery.register(user, of: user, tags: ["news"]) }
    _ = try await delivery.store.accounts.setAttributes([
      "alice": ["first": "Alice"], "bob": ["first": "Bob"],
    ])
    try await save(#"{"to":"news"}"#, in: delivery)
    let time = (delivery.clock.date + 600).formatted(.iso8601)
    let published = try await delivery.publish(
      delivery.draft(#","notBefore":"\#(time)""#, to: #"["segment:gold"]"#))
    let change = try Draft(
      published.notification, changedBy: Array(#"{"message":"Hi {{first}}"}"#.utf8), allowing: [],
      now: delivery.clock.date)
    delivery.clock.advance(by: .seconds(600))
    // It is sent after the change was made, and before it is stored.
    let amended = try await delivery.publisher.amend(
      published.notification, as: change, using: .all,
      confirm: { _ = try await delivery.publisher.announceDue { _ in } })
    #expect(amended.message == "Hi {{first}}")
    #expect(try await recipients(of: published, in: delivery).count == 2)
    #expect(try await delivery.lease().count == 2)
    let id = amended.id
    let users = try await [delivery.id("alice"), delivery.id("bob")]
    #expect(try await delivery.store.values(of: [id], users: users)[id]?.count == 2)
  }

  @Test func `one that is for many people only when it is due awaits approval then`() async throws {
    let delivery = try await DeliveryFixture(approveAbove: 1)
    for user in ["alice", "bob"] { try await delivery.register(user, of: user) }
    _ = try await delivery.store.accounts.setAttributes(["alice": ["plan": "gold"]])
    try await save(#"{"attributes":{"plan":"gold"}}"#, in: delivery)
    let time = (delivery.clock.date + 600).formatted(.iso8601)
    func scheduled(_ message: String) async throws -> Publisher.Published {
      try await delivery.publish(
        delivery.draft(
          #","notBefore":"\#(time)""#, to: #"["segment:gold"]"#, message: message))
    }
    let published = try await scheduled("For one")
    #expect(!published.notification.awaitsApproval)
    _ = try await delivery.store.accounts.setAttributes(["bob": ["plan": "gold"]])
    let second = try await scheduled("For two")
    #expect(second.notification.awaitsApproval && second.notification.people == 2)
    delivery.clock.advance(by: .seconds(600))
    for _ in 0..<2 { _ = try await delivery.publisher.announceDue { _ in } }
    #expect(try await recipients(of: published, in: delivery).isEmpty)
    #expect(try await delivery.lease().isEmpty)
    let approvals = delivery.store.approvals
    let waiting = try await approvals.awaitingApproval(before: nil, limit: 9).map(\.notification)
    #expect(waiting.map(\.id) == [second.notification.id, published.notification.id])
    for one in waiting {
      let decided = try await approvals.decide(
        one.id, .approve(version: one.contentVersion), by: delivery.id("bob"), isAdmin: true)
      guard case .decided = decided else { throw Unmet("\(decided)") }
    }
    for _ in 0..<2 { _ = try await delivery.publisher.announceDue { _ in } }
    #expect(try await recipients(of: published, in: delivery).count == 2)
    #expect(try await recipients(of: second, in: delivery).count == 2)
    #expect(try await delivery.lease().count == 4)
  }

  @Test func `who has not opened it gets it again`() async throws {
    let delivery = try await DeliveryFixture()
    for user in ["alice", "bob"] { try await delivery.register(user, of: user) }
    let first = try await delivery.publish(
      delivery.draft(to: #"["username:alice","username:bob"]"#))
    let id = first.notification.id
    _ = try await delivery.store.notifications.markRead(id, user: delivery.id("alice"), device: nil)
    let rest = try await delivery.publish(delivery.draft(to: #"["notOpened:\#(id)"]"#))
    #expect(try await recipients(of: rest, in: delivery) == [delivery.id("bob")])
    let others = try await delivery.publish(delivery.draft(to: #"["opened:\#(id)"]"#))
    #expect(try await recipients(of: others, in: delivery) == [delivery.id("alice")])
    let nobody = try await delivery.refusal(delivery.draft(to: #"["opened:\#(id + 9)"]"#))
    #expect(nobody.code == .noRecipients)
  }

  /// Publishes a notification to alice, who reads it, and bob, which ends in 300 seconds, and a reminder in 600 seconds.
  private func remind(
    _ audience: String, in delivery: DeliveryFixture
  ) async throws -> (first: Int, reminder: Publisher.Published) {
    let (end, time) = (delivery.clock.date + 300, delivery.clock.date + 600)
    let first = try await delivery.publish(
      delivery.draft(
        #","expires":"\#(end.formatted(.iso8601))""#, to: #"["username:alice","username:bob"]"#)
    ).notification.id
    _ = try await delivery.store.notifications.markRead(
      first, user: delivery.id("alice"), device: nil)
    if audience == "segment:gold" {
      try await save(#"{"notOpened":\#(first)}"#, in: delivery)
    }
    let reminder = try await delivery.publish(
      delivery.draft(
        #","notBefore":"\#(time.formatted(.iso8601))""#,
        to: #"["\#(audience.replacing("ID", with: "\(first)"))"]"#))
    #expect(reminder.reach.users == 1)
    return (first, reminder)
  }

  @Test(arguments: ["notOpened:ID", "segment:gold"])
  func `who has not opened one that has expired meanwhile gets it again`(audience: String)
    async throws
  {
    let delivery = try await DeliveryFixture()
    let (first, reminder) = try await remind(audience, in: delivery)
    delivery.clock.advance(by: .seconds(400))
    _ = try await delivery.store.collect(Retention())
    delivery.clock.advance(by: .seconds(200))
    _ = try await delivery.publisher.announceDue { _ in }
    #expect(try await recipients(of: reminder, in: delivery) == [delivery.id("bob")])
    // Nobody needs them any more.
    _ = try await delivery.store.segments.removeSegment("gold", version: nil)
    _ = try await delivery.store.collect(Retention())
    #expect(try await delivery.store.notifications.receipts(of: first).isEmpty)
  }

  @Test(arguments: ["notOpened:ID", "segment:gold"])
  func `a reminder of one that is gone is held`(audience: String) async throws {
    let delivery = try await DeliveryFixture()
    let reminder = try await remind(audience, in: delivery).reminder
    delivery.clock.advance(by: .seconds(400))
    var retention = Retention()
    retention.notificationAge = 100
    #expect(try await delivery.store.collect(retention).notifications == 1)
    delivery.clock.advance(by: .seconds(200))
    var said: [String] = []
    _ = try await delivery.publisher.announceDue { said.append($0) }
    #expect(said.count == 1 && said.first?.contains("is held: Who got notification") == true)
    let held = try await delivery.store.notifications.notification(reminder.notification.id)
    #expect(held?.held != nil)
    #expect(try await recipients(of: reminder, in: delivery).isEmpty)
  }

  @Test func `who has no value at that time is left out, and a dry run names who would be`()
    async throws
  {
    let delivery = try await DeliveryFixture()
    for user in ["alice", "bob"] { try await delivery.register(user, of: user, tags: ["news"]) }
    _ = try await delivery.store.accounts.setAttributes(["alice": ["first": "Alice"]])
    try await save(#"{"to":"news"}"#, in: delivery)
    let draft = try delivery.draft(
      #","onMissing":"skip""#, to: #"["segment:gold"]"#, message: "Hi {{first}}")
    let shop = try await delivery.id("shop")
    let dryRun = try await delivery.publisher.dryRun(draft, sender: shop, using: .all)
    #expect(
      dryRun.skipped
        == DryRun.Skipped(count: 1, users: [.init(username: "bob", placeholder: "first")]))
    #expect(dryRun.audience.users == 1)
    let time = (delivery.clock.date + 600).formatted(.iso8601)
    let published = try await delivery.publish(
      delivery.draft(
        #","onMissing":"skip","notBefore":"\#(time)""#, to: #"["segment:gold"]"#,
        message: "Hi {{first}}"))
    _ = try await delivery.store.accounts.setAttributes([
      "alice": [:], "bob": ["first": "Bob"],
    ])
    delivery.clock.advance(by: .seconds(600))
    _ = try await delivery.publisher.announceDue { _ in }
    #expect(try await recipients(of: published, in: delivery) == [delivery.id("bob")])
  }

  @Test func `what cannot be sent when it is due is held, and others are sent`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("a", of: "alice", tags: ["news"])
    try await save(#"{"to":"news"}"#, in: delivery)
    let time = (delivery.clock.date + 600).formatted(.iso8601)
    let members = #","notBefore":"\#(time)""#
    // When it is due, nobody has a value.
    _ = try await delivery.store.accounts.setAttributes(["alice": ["first": "Alice"]])
    let wrong = try await delivery.publish(
      delivery.draft(members, to: #"["segment:gold"]"#, message: "Hi {{first}}"))
    let right = try await delivery.publish(delivery.draft(members, to: #"["segment:gold"]"#))
    _ = try await delivery.store.accounts.setAttributes(["alice": [:]])
    delivery.clock.advance(by: .seconds(600))
    var said: [String] = []
    _ = try await delivery.publisher.announceDue { said.append($0) }
    #expect(said.count == 1 && said[0].contains("is held") && said[0].contains("first"))
    let held = try await delivery.store.notifications.notification(wrong.notification.id)
    #expect(held?.held != nil)
    #expect(try await recipients(of: right, in: delivery) == [delivery.id("alice")])
  }

  @Test func `however many cannot be sent yet, others are`() async throws {
    // The plugin has taken them, and fails now.
    let delivery = try await DeliveryFixture(
      script: "[ $RICH_PAYLOAD = broken ] && exit 3\n" + DeliveryFixture.note)
    try await delivery.register("a", of: "alice", tags: ["news"])
    try await save(#"{"to":"news"}"#, in: delivery)
    let time = delivery.clock.date + 600
    var broken = NotificationInsert(message: "Hi", richType: "note", payload: "broken")
    (broken.sender, broken.to) = (try await delivery.id("shop"), ["segment:gold"])
    (broken.notBefore, broken.form) = (time, "silent")
    broken.dueAudience = DueAudience(segment: "gold", people: 1)
    for _ in 0..<21 { _ = try await delivery.store.notifications.create(broken) }
    let text = #"{"message":"Hi","to":"segment:gold","notBefore":"\#(time.formatted(.iso8601))"}"#
    let right = try await delivery.publish(
      Draft(Array(text.utf8), allowing: [], now: delivery.clock.date))
    delivery.clock.advance(by: .seconds(600))
    var said: [String] = []
    let next = try await delivery.publisher.announceDue { said.append($0) }
    #expect(next != nil && said.count == 21)
    #expect(said.allSatisfy { $0.contains("could not be announced yet") }, "\(said)")
    #expect(try await recipients(of: right, in: delivery) == [delivery.id("alice")])
  }

  @Test func `an audience that the server finds stands alone`() throws {
    for (to, words) in [
      (["segment:a", "news"], "cannot be combined"), (["segment:a && news"], "cannot be combined"),
      (["!opened:1"], "cannot be combined"), (["segment:"], "cannot be the name"),
      (["segment:-a"], "cannot be the name"), (["opened:x"], "by its ID"),
      (["notOpened:01"], "by its ID"),
    ] {
      let error = #expect(throws: ServiceError.self, "\(to)") { try Draft.audience(to) }
      let reason = error?.reason ?? ""
      #expect(reason.contains(words), "\(to): \(reason)")
    }
    #expect(try Draft.audience(["segment:gold"]).named == .segment("gold"))
    #expect(try Draft.audience(["notOpened:12"]).named == .notOpened(12))
    #expect(try Draft.audience(["news"]).named == nil)
    #expect(try Tag("segment:gold").isReserved && Tag("opened:1").isReserved)
  }
}
