import Foundation
import Testing

@testable import Store

/// `user erase`: what is left of a person, and of what others have.
@Suite(.timeLimit(.minutes(1))) struct ErasureTests {
  private let scratch = Scratch()

  private func add(_ name: String, to store: Store) async throws -> UserID {
    try await store.accounts.addUser(name, hash: "h", role: .publisher)
    return try #require(try await store.accounts.user(named: name)).id
  }

  private func new(to names: String..., users: [UserID], _ message: String) -> NotificationInsert {
    var new = NotificationInsert(message: message, richType: "", payload: "")
    (new.recipients, new.sender) = (users, shop)
    new.to = names.map { "username:" + $0 }
    return new
  }

  @Test func `what an earlier person with the same name was sent stays`() async throws {
    let store = try scratch.open()
    let earlier = try await add("erika", to: store)
    let kept = try await store.notifications.create(
      new(to: "erika", users: [earlier], "of the earlier one")
    ).notification.id
    #expect(try await store.accounts.removeUser("erika"))
    scratch.pass(1)
    let later = try await add("erika", to: store)
    let gone = try await store.notifications.create(
      new(to: "erika", users: [later], "of the later one")
    ).notification.id
    scratch.pass(1)
    #expect(try await store.erasures.beginErasure(of: later, keepingAdmin: true))
    _ = try await store.continueErasures()
    #expect(try await store.notifications.notification(gone) == nil)
    #expect(try await store.notifications.notification(kept)?.message == "of the earlier one")
  }

  @Test func `what only one person had goes, what others have stays without the name`()
    async throws
  {
    let store = try scratch.open()
    let erika = try await add("erika", to: store)
    _ = try await store.accounts.setAttributes(["erika": ["city": "secret-city"]])
    _ = try await store.accounts.putRegistration(
      "phone", user: erika, platform: "apns", handle: "secret-handle", tags: ["username:erika"])
    let content = try await store.blobs.add(bytes: Array("secret-picture".utf8))
    let shared = try await store.blobs.add(bytes: Array("shared".utf8))
    var own = new(to: "erika", users: [erika], "secret-message")
    (own.richType, own.payload, own.blob) = ("img", "secret.png", content)
    own.pushes = [PushInsert(lane: "apns", target: .devices(["phone"]), kind: "alert")]
    own.idempotencyKey = IdempotencyKey("k", request: [])
    own.file = PublishedFile(folder: "", path: "img/secret-file.png", sidecar: Digest(of: "s"))
    let first = try await store.notifications.create(own).notification.id
    var both = new(to: "erika", "bob", users: [erika, bob], "for both")
    (both.richType, both.payload, both.blob) = ("img", "shared.png", shared)
    let second = try await store.notifications.create(both).notification.id
    _ = try await store.notifications.markRead(second, user: erika, device: "phone")
    _ = try await store.interactions.add(
      InteractionInsert(
        reply: "secret-reply", key: "k", to: "a", of: second, user: erika, device: "phone"))
    var sent = new(to: "bob", users: [bob], "by her")
    sent.sender = erika
    let third = try await store.notifications.create(sent).notification.id
    _ = try await store.drafts.addDraft(
      DraftChange(name: "hers", content: #"{"message":"secret-draft"}"#, isTemplate: false),
      by: erika)
    _ = try await store.drafts.addDraft(
      DraftChange(
        name: "his", content: #"{"to":["username:erika && news","username:erika2"]}"#,
        isTemplate: false), by: bob)

    let extent = try await store.erasures.erasureExtent(of: erika)
    #expect(
      extent
        == ErasureExtent(devices: 1, ownNotifications: 1, sharedNotifications: 1, sent: 1))
    scratch.pass(5)
    #expect(try await store.erasures.beginErasure(of: erika, keepingAdmin: true))
    // Another person with this name is none of it.
    scratch.pass(1)
    let next = try await add("erika", to: store)
    let later = try await store.notifications.create(new(to: "erika", users: [next], "new"))
    let report = try await store.continueErasures()
    #expect(report.erased == [erika] && report.notes.isEmpty, "\(report)")
    #expect(try await store.erasures.erasures().isEmpty)

    #expect(try await store.notifications.notification(first) == nil)
    #expect(store.blobs.size(of: content.digest) == nil)
    #expect(store.blobs.size(of: shared.digest) != nil)
    let kept = try #require(try await store.notifications.notification(second))
    #expect(kept.to == ["username:#\(erika.rawValue)", "username:bob"])
    #expect(try await store.notifications.receipts(of: second).map(\.user) == ["bob"])
    #expect(try await store.sent.counts(of: second)?.read == 1)
    #expect(
      try await store.interactions.interactions(of: second, after: 0, limit: 9).isEmpty)
    #expect(try await store.notifications.inbox(of: bob, limit: 9).count == 2)
    #expect(try await store.notifications.notification(third)?.sender == erika)
    #expect(try await store.accounts.names(of: [erika]).isEmpty)
    let drafts = try await store.drafts.drafts(areTemplates: false, skipping: 0, limit: 9)
    #expect(
      drafts.map(\.content) == [
        #"{"to":["username:#\#(erika.rawValue) && news","username:erika2"]}"#
      ])
    #expect(later.notification.to == ["username:erika"])
    #expect(
      try await store.notifications.inbox(of: next, limit: 9).map(\.notification.to)
        == [["username:erika"]])
    #expect(try await store.count("job") == 0)
    #expect(try await store.count("idempotency") == 0)
    for text in try files() {
      for trace in ["secret-", content.digest.hex] {
        #expect(text.content.range(of: Data(trace.utf8)) == nil, "\(trace) in \(text.name)")
      }
    }
  }

  /// The files of the store, with PostgreSQL those of content.
  private func files() throws -> [(name: String, content: Data)] {
    try scratch.files().map {
      ($0, try Data(contentsOf: URL(filePath: "\(scratch.folder)/\($0)")))
    }
  }

  @Test func `goes on after the process has ended, also with a user who was only removed`()
    async throws
  {
    let store = try scratch.open()
    let erika = try await add("erika", to: store)
    for number in 0..<250 {
      _ = try await store.notifications.create(
        new(to: "erika", users: [erika], "message \(number)"))
    }
    #expect(try await store.accounts.removeUser("erika"))
    #expect(try await store.count("recipient") == 250)
    #expect(try await store.erasures.beginErasure(of: erika, keepingAdmin: false))
    let erasure = try #require(try await store.erasures.erasures().first)
    #expect(erasure.user == erika)
    // As a process that ended after the records left it.
    try await store.erasures.eraseRecords(of: erasure)
    #expect(try await store.continueErasures().erased == [erika])
    #expect(try await store.count("recipient") == 0)
    #expect(try await store.count("notification") == 0)
    #expect(
      try await !store.erasures.beginErasure(of: UserID(rawValue: 99), keepingAdmin: false))
  }

  @Test func `does not remove the last admin, and a backup first ends`() async throws {
    let store = try scratch.open()
    try await store.accounts.addUser("boss", hash: "h", role: .admin)
    let boss = try #require(try await store.accounts.user(named: "boss")).id
    await #expect(throws: StoreError.self) {
      _ = try await store.erasures.beginErasure(of: boss, keepingAdmin: true)
    }
    #expect(try await store.accounts.user(named: "boss") != nil)
    var own = new(to: "alice", users: [alice], "m")
    own.richType = "img"
    own.blob = try await store.blobs.add(bytes: [7])
    _ = try await store.notifications.create(own)
    scratch.pass(1)
    #expect(try await store.erasures.beginErasure(of: alice, keepingAdmin: true))
    let other = try #require(try store.folder.lockForCollection())
    let report = try await store.continueErasures()
    #expect(report.erased.isEmpty && report.notes.count == 1)
    withExtendedLifetime(other) {}
  }

  @Test func `a tag is replaced as a whole, wherever it is in an expression`() {
    let tag = ErasedTag(of: "ann", user: UserID(rawValue: 7))
    #expect(
      tag.replaced(in: #"["(username:ann||username:anna)&&!username:ann","xusername:ann"]"#)
        == #"["(username:#7||username:anna)&&!username:#7","xusername:ann"]"#)
  }

  @Test func `old notifications and receipts go when they are no longer to be kept`() async throws {
    let store = try scratch.open()
    _ = try await store.accounts.putRegistration(
      "phone", user: bob, platform: "apns", handle: "AA", tags: [])
    let old = try await store.notifications.create(new(to: "bob", users: [bob], "old"))
      .notification.id
    var planned = new(to: "bob", users: [bob], "planned")
    planned.notBefore = scratch.now + 100 * 86_400
    let waiting = try await store.notifications.create(planned).notification.id
    _ = try await store.notifications.markRead(old, user: bob, device: "phone")
    scratch.pass(50 * 86_400)
    let young = try await store.notifications.create(new(to: "bob", users: [bob], "young"))
      .notification.id
    var retention = Retention()
    _ = try await store.collect(retention)
    #expect(try await store.count("device_receipt") == 1)
    retention.receiptAge = 40 * 86_400
    _ = try await store.collect(retention)
    #expect(try await store.count("device_receipt") == 0)
    #expect(try await store.notifications.receipts(of: old).first?.read != nil)
    #expect(try await store.sent.counts(of: old)?.read == 1)
    retention.notificationAge = 40 * 86_400
    #expect(try await store.collect(retention).notifications == 1)
    #expect(try await store.notifications.notification(old) == nil)
    for id in [waiting, young] {
      #expect(try await store.notifications.notification(id) != nil)
    }
  }

  @Test func `an export has a person's records in pages, and no secret`() async throws {
    let store = try scratch.open()
    let erika = try await add("erika", to: store)
    _ = try await store.accounts.putRegistration(
      "phone", user: erika, platform: "apns", handle: "secret-handle", tags: ["news"])
    for number in 0..<501 {
      _ = try await store.notifications.create(
        new(to: "erika", users: [erika], "message \(number)"))
    }
    _ = try await store.notifications.markRead(3, user: erika, device: "phone")
    var (next, records): (Int?, [String]) = (-1, [])
    while let after = next {
      let page = try await store.personalData.personalRecords(
        in: .notifications, of: erika, after: after)
      (next, records) = (page.next, records + page.records)
    }
    #expect(records.count == 501)
    #expect(
      records[3].contains(#""devices":[{"registration":"phone","read":"#)
        && records[3].contains(#""onlyYou":true"#), "\(records[3])")
    for file in PersonalFile.allCases {
      let page = try await store.personalData.personalRecords(in: file, of: erika, after: -1)
      for record in page.records {
        _ = try JSONSerialization.jsonObject(with: Data(record.utf8))
        #expect(!record.contains("secret-handle"))
      }
    }
    let devices = try await store.personalData.personalRecords(in: .devices, of: erika, after: -1)
    #expect(devices.records.first?.contains(#""tags":["news"]"#) == true, "\(devices.records)")
  }
}
