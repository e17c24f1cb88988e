import Foundation
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Delivery

/// Notifications in each person's language, and by name.
@Suite(.timeLimit(.minutes(1))) struct PersonalTests {
  private static let text = #""message":"Hi {{name}}""#

  private func draft(_ members: String, _ delivery: DeliveryFixture) throws -> Draft {
    let json = #"{"to":["username:alice","username:bob"],\#(members)}"#
    return try Draft(Array(json.utf8), allowing: [], now: delivery.clock.date)
  }

  /// The texts of pushes, by their handles.
  private func texts(_ delivery: DeliveryFixture) async throws -> [String: String] {
    let jobs = try await delivery.lease()
    return Dictionary(
      uniqueKeysWithValues: jobs.compactMap { job in
        guard case .device(let handle, _) = job.push.target else { return nil }
        return (handle, JSONValue(job.push.text.json.utf8)?.aps.alert.body.text ?? "-")
      })
  }

  @Test func `each device gets its language and its user's name`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice", language: "de-CH")
    try await delivery.register("AB", of: "alice")
    try await delivery.register("BB", of: "bob", language: "fr")
    _ = try await delivery.store.accounts.setAttributes([
      "alice": ["name": "Alice"], "bob": ["name": "Robert"],
    ])
    try await delivery.publish(
      draft(
        #"""
        \#(Self.text),"languages":{"de":{"message":"Hallo {{name}}"}},
        "values":{"username:bob":{"name":"Bob"},"username:shop":{"name":"x"}}
        """#, delivery))
    // Later changes do not reach it.
    _ = try await delivery.store.accounts.setAttributes(["alice": ["name": "Other"], "bob": [:]])
    #expect(try await texts(delivery) == ["AA": "Hallo Alice", "AB": "Hi Alice", "BB": "Hi Bob"])
    #expect(try await delivery.pushEvents(for: "bob").allSatisfy { $0.contains("Hi Bob") })
  }

  @Test func `who has no value is named, or left out`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.register("BB", of: "bob")
    _ = try await delivery.store.accounts.setAttributes(["alice": ["name": "Alice"]])
    let error = try await delivery.refusal(draft(Self.text, delivery))
    #expect(error.code == .rejected && error.faults.map(\.member) == ["values"])
    #expect(error.reason.contains("bob ({{name}})") && !error.reason.contains("alice"))
    let published = try await delivery.publish(
      draft(#"\#(Self.text),"onMissing":"skip""#, delivery))
    #expect(published.reach.users == 1 && published.reach.skipped == 1)
    #expect(published.reach.devices == 1)
    #expect(try await texts(delivery) == ["AA": "Hi Alice"])
    // Nobody would be left.
    let nobody = #""message":"{{other}}","onMissing":"skip""#
    #expect(try await delivery.refusal(draft(nobody, delivery)).code == .rejected)
  }

  @Test func `at most ten are named`() async throws {
    let delivery = try await DeliveryFixture(admitsGuests: true)
    let to = (0..<15).map { "\"username:guest\($0)\"" }.joined(separator: ",")
    let json = #"{"to":[\#(to)],"message":"{{name}}"}"#
    let error = try await delivery.refusal(
      Draft(Array(json.utf8), allowing: [], now: delivery.clock.date))
    #expect(error.reason.hasPrefix("15 of 15 recipients have no value"))
    #expect(error.reason.contains(" and 5 others"))
    #expect(error.reason.components(separatedBy: "({{name}})").count == 11)
  }

  @Test func `a variable and a default stand in for what a user has not`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.register("BB", of: "bob")
    _ = try await delivery.store.accounts.setAttributes(["alice": ["name": "Alice"]])
    try await delivery.publish(
      draft(
        #""message":"{{name}}, {{city|home}} {{day}}","variables":{"name":"You","day":"1"}"#,
        delivery))
    #expect(try await texts(delivery) == ["AA": "Alice, home 1", "BB": "You, home 1"])
  }

  @Test func `a change keeps the values, and gets those of new placeholders`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    _ = try await delivery.store.accounts.setAttributes([
      "alice": ["name": "Alice", "city": "Bern"], "bob": ["name": "Bob", "city": "Basel"],
    ])
    let old = try await delivery.publish(draft(Self.text, delivery)).notification
    _ = try await delivery.store.accounts.setAttributes([
      "alice": ["name": "Other", "city": "Genf"], "bob": ["city": "Basel"],
    ])
    let change = try Draft(
      old, changedBy: Array(#"{"message":"{{name}} in {{city}}"}"#.utf8), allowing: [],
      now: delivery.clock.date)
    _ = try await delivery.publisher.amend(old, as: change, using: .all)
    #expect(try await texts(delivery) == ["AA": "Alice in Genf"])
    // Values alone are a change; the same again is none.
    let again = Array(#"{"values":{"username:alice":{"name":"Ann"}}}"#.utf8)
    for _ in 0..<2 {
      let now = try #require(try await delivery.store.notifications.notification(old.id))
      let change = try Draft(now, changedBy: again, allowing: [], now: delivery.clock.date)
      _ = try await delivery.publisher.amend(now, as: change, using: .all)
    }
    #expect(try await delivery.store.outbox.deliveries(of: old.id).count == 3)
    let alice = try await delivery.id("alice")
    #expect(
      try await delivery.store.values(of: [old.id], users: [alice])[old.id]?[alice]?["name"]
        == "Ann")
  }

  @Test func `what would not fit with the longest value is refused at once`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    let long = String(repeating: "ä", count: 128)
    let names = (0..<20).map { "v\($0)" }
    let values = names.map { "\"\($0)\":\"\(long)\"" }.joined(separator: ",")
    let title = names.map { "{{\($0)|x}}" }.joined()
    let members = #""message":"m","title":"\#(title)""#
    try await delivery.publish(draft(members, delivery))
    let error = try await delivery.refusal(
      draft(members + #","values":{"username:alice":{\#(values)}}"#, delivery))
    #expect(error.faults.map(\.member) == ["message"])
  }

  @Test func `a text that a person did not write for it has no placeholders`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    let standard = try Draft(
      message: "{{name}} {{", richType: "note", payload: "hello", user: "alice")
    try await delivery.publish(standard)
    let texts = try await delivery.lease().map {
      JSONValue($0.push.text.json.utf8)?.richMessage.text
    }
    #expect(texts == ["{{name}} {{"])
  }

  @Test func `the tutorial's form has braces as they are`() async throws {
    let delivery = try await DeliveryFixture()
    try await delivery.register("AA", of: "alice")
    try await delivery.publish(delivery.draft(#","form":"legacy""#, message: "{{name}} {{{{"))
    let jobs = try await delivery.lease()
    #expect(jobs.map { JSONValue($0.push.text.json.utf8)?.richMessage.text } == ["{{name}} {{{{"])
  }
}
