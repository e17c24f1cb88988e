import FoundationEssentials
import Testing

@testable import Store

/// What is known of users, and what placeholders of notifications stand for.
@Suite(.timeLimit(.minutes(1))) struct ValuesTests {
  private let scratch = Scratch()

  @Test func `attributes are replaced as a whole, of the users that there are`() async throws {
    let accounts = try scratch.open().accounts
    let known = try await accounts.setAttributes([
      "alice": ["name": "Alice", "city": "Bern"], "bob": ["name": "Bob"], "nobody": ["name": "x"],
    ])
    #expect(known == ["alice", "bob"])
    #expect(try await accounts.attributes(of: alice) == ["name": "Alice", "city": "Bern"])
    _ = try await accounts.setAttributes(["carol": [:]])
    #expect(
      try await accounts.attributes(named: ["bob", "carol", "nobody"])
        == ["bob": ["name": "Bob"], "carol": [:]])
    #expect(try await accounts.attributes(named: []) == [:])
    _ = try await accounts.setAttributes(["alice": ["name": "Ann \"x\" é\u{1}"]])
    #expect(try await accounts.attributes(of: alice) == ["name": "Ann \"x\" é\u{1}"])
    let values = try await accounts.attributes(["name", "city"], of: [alice, carol])
    #expect(values.users == [alice] && values[alice] == ["name": "Ann \"x\" é\u{1}"])
    #expect(values[bob] == [:] && values[carol] == [:])
    #expect(
      values.missing(["name"], among: [alice, bob, carol], limit: 9).map(\.user) == [bob, carol])
    // Of many users, and of none.
    let many = (1...2000).map(UserID.init(rawValue:))
    #expect(try await accounts.attributes(["name"], of: many).users == [alice, bob])
    #expect(try await accounts.attributes(["name"], of: []).users == [])
    #expect(try await accounts.names(of: [alice, bob]) == [alice: "alice", bob: "bob"])
  }

  @Test func `attributes go with their user`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("dora", hash: "", role: .device)
    let dora = try #require(try await store.accounts.user(named: "dora")).id
    _ = try await store.accounts.setAttributes(["dora": ["name": "Dora"]])
    #expect(try await store.accounts.removeUser("dora"))
    #expect(try await store.accounts.attributes(of: dora) == [:])
    #expect(try await store.count("user_attribute") == 0)
  }

  @Test func `values are those that a notification was created with`() async throws {
    let store = try scratch.open()
    var values = RecipientValues(["name", "city"])
    values.set("name", of: bob, to: "Bob")
    // Also out of order.
    values.set("city", of: alice, to: "Bern")
    values.set("name", of: alice, to: "Alice")
    var new = NotificationInsert.any(to: alice, bob, carol)
    new.values = values
    let id = try await store.notifications.create(new).notification.id
    let found = try await store.notifications.values(of: [id, 99], users: [alice, bob, carol])
    #expect(
      found == [id: [alice: #"{"city":"Bern","name":"Alice"}"#, bob: #"{"name":"Bob"}"#]])
    // A change without values leaves them as they are.
    _ = try await store.notifications.amend(id, with: .any(message: "Other"))
    #expect(try await store.notifications.values(of: [id], users: [bob]).count == 1)
    var changed = NotificationInsert.any(message: "Third")
    changed.values = RecipientValues(["name"])
    changed.values?.set("name", of: bob, to: "Robert")
    _ = try await store.notifications.amend(id, with: changed)
    #expect(try await store.notifications.amend(id, with: changed)?.message == "Third")
    let now = try await store.notifications.values(of: [id], users: [alice, bob])
    #expect(now[id]?[bob] == #"{"name":"Robert"}"# && now[id]?[alice] != nil)
    try await store.removeNotifications()
    #expect(try await store.count("recipient_values") == 0)
  }

  @Test func `values of a large audience are there before and after its parts are written`()
    async throws
  {
    let store = try scratch.open()
    let names = Set((0..<1200).map { "user\($0)" })
    let users = try await store.accounts.userIDs(of: names, allowingPasswordless: true).values
      .sorted()
    var new = NotificationInsert.any()
    new.recipients = users
    var values = RecipientValues(["n"])
    for user in users where user.rawValue % 2 == 0 {
      values.set("n", of: user, to: "\(user.rawValue)")
    }
    new.values = values
    let id = try await store.notifications.create(new).notification.id
    func check() async throws {
      let found = try await store.notifications.values(of: [id], users: users)[id] ?? [:]
      #expect(found.count == 600)
      for user in users {
        #expect(found[user] == (user.rawValue % 2 == 0 ? #"{"n":"\#(user.rawValue)"}"# : nil))
      }
    }
    try await check()
    #expect(try await store.notifications.writeNextParts(within: .zero))
    try await check()
    while try await store.notifications.writeNextParts(within: .zero) {}
    try await check()
    #expect(try await store.count("recipient_values") == 600)
  }

  @Test func `a device's language and time zone stay until it names others`() async throws {
    let store = try scratch.open()
    var change = RegistrationChange(platform: "apns", handle: "AA")
    (change.language, change.timeZone) = ("de-CH", "Europe/Zurich")
    _ = try await store.accounts.putRegistration("one", user: alice, change)
    (change.language, change.timeZone) = (nil, nil)
    _ = try await store.accounts.putRegistration("one", user: alice, change)
    let device = try #require(
      try await store.accounts.registrations(ofUser: alice, after: "", limit: 1).first)
    #expect(device.language == "de-CH" && device.timeZone == "Europe/Zurich")
    var new = NotificationInsert.any(to: alice)
    new.pushes = [PushInsert(lane: "apns", target: .devices(["one"]), kind: "alert")]
    _ = try await store.notifications.create(new)
    let jobs = try await store.outbox.lease(lane: "apns", limit: 9, until: scratch.now + 60)
    #expect(jobs.map(\.language) == ["de-CH"])
  }
}
