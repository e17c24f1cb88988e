import FoundationEssentials
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct PublishedFilesTests {
  private let scratch = Scratch()

  private func insert(_ store: Store, _ content: UInt8, key: String) async throws
    -> NotificationInsert
  {
    var new = NotificationInsert.any(to: alice)
    new.blob = try await store.blobs.add(bytes: [content])
    new.file = PublishedFile(
      folder: "f", path: "outbox/img/a.png", sidecar: Digest(of: "sidecar"))
    new.idempotencyKey = IdempotencyKey(key, request: [content])
    return new
  }

  @Test func `tells what a file was published as last`() async throws {
    let store = try scratch.open()
    let first = try await insert(store, 1, key: "1")
    _ = try await store.notifications.create(first)
    let found = try #require(
      try await store.notifications.publication(ofFile: "outbox/img/a.png", in: "f"))
    #expect(found.notification == 0 && found.content == first.blob?.digest)
    #expect(found.sidecar == Digest(of: "sidecar") && found.published == scratch.now)
    #expect(try await store.notifications.publication(ofFile: "outbox/img/a.png", in: "") == nil)
    _ = try await store.notifications.create(try await insert(store, 2, key: "2"))
    #expect(
      try await store.notifications.publication(ofFile: "outbox/img/a.png", in: "f")?.notification
        == 1)
  }

  @Test func `replaces the content that some have fetched, of the file's notification only once`()
    async throws
  {
    let store = try scratch.open()
    let first = try await insert(store, 1, key: "1")
    _ = try await store.notifications.create(first)
    store.notifications.recordFetched(0, user: alice, device: nil)
    while try await store.notifications.isFetchRecorded(0, user: alice, device: nil) != true {
      await Task.yield()
    }
    let second = try await insert(store, 2, key: "2")
    #expect(try await store.notifications.amend(0, with: second) == nil, "it was fetched")
    #expect(try await store.notifications.replacement(of: 0, limit: 9) == nil)
    let amended = try await store.notifications.amend(
      0, with: second, replacing: first.blob?.digest)
    #expect(amended?.blob == second.blob)
    let replaced = try #require(try await store.notifications.replacement(of: 0, limit: 9))
    #expect(replaced.count == 1 && replaced.time == scratch.now)
    #expect(
      try await store.notifications.publication(ofFile: "outbox/img/a.png", in: "f")?.content
        == second.blob?.digest)
    // Another node, which has seen the first content.
    let third = try await insert(store, 3, key: "3")
    #expect(
      try await store.notifications.amend(0, with: third, replacing: first.blob?.digest) == nil)
    // Both keys lead to it.
    for insert in [first, second] {
      let key = try #require(insert.idempotencyKey)
      #expect(try await store.notifications.notification(for: key, sender: first.sender)?.id == 0)
    }
  }

  @Test func `tells whether content begins with other content`() async throws {
    let store = try scratch.open()
    let long = try await store.blobs.add(bytes: [UInt8](repeating: 7, count: 200_000) + [1])
    let short = try await store.blobs.add(bytes: [UInt8](repeating: 7, count: 200_000))
    let other = try await store.blobs.add(bytes: [UInt8](repeating: 7, count: 150_000) + [2])
    #expect(try await store.blobs.isBeginning(short, of: long))
    #expect(try await !store.blobs.isBeginning(other, of: long))
    #expect(try await !store.blobs.isBeginning(long, of: short))
    #expect(try await !store.blobs.isBeginning(long, of: long))
  }

  @Test func `folds what looks alike, and nothing else`() {
    let alike = [
      "logo a.png", "LOGO a.PNG", "logo\u{A0}a.png", "logo  a.png", "lo\u{200B}go a.png",
    ]
    #expect(Set(alike.map(AssetRecord.folded)).count == 1)
    #expect(AssetRecord.folded("caf\u{E9}") != AssetRecord.folded("cafe"))
    #expect(AssetRecord.folded("a1") != AssetRecord.folded("al"))
  }
}
