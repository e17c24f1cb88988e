import FoundationEssentials
import Testing

@testable import Store

/// Where assets were used, and which are not.
@Suite(.timeLimit(.minutes(1))) struct AssetUsesTests {
  private let scratch = Scratch()

  /// Sends a notification with an asset.
  private func send(
    _ name: String, from sender: UserID = shop, expires: Date? = nil, in store: Store
  ) async throws -> Int {
    var new = NotificationInsert.any(to: alice)
    (new.payload, new.sender, new.expires) = (name, sender, expires)
    new.blob = try await store.blobs.add(bytes: Array(name.utf8))
    return try await store.notifications.create(new).notification.id
  }

  private func unused(_ store: Store) async throws -> [String] {
    var filter = AssetFilter(richType: "img")
    filter.isUnused = true
    return try await store.assets.assets(filter, order: nil, limit: 9, after: nil).map(\.name)
  }

  @Test func `a sender finds the notifications with an asset, the newest first, page by page`()
    async throws
  {
    let store = try scratch.open()
    for name in ["a", "b", "a", "a"] { _ = try await send(name, in: store) }
    let other = try await send("a", from: news, in: store)
    // Text that is no asset's name is no use of it.
    var text = NotificationInsert.any(to: alice)
    text.payload = "a"
    _ = try await store.notifications.create(text)
    let first = try await store.assets.assetUses("img", "a", by: shop, before: nil, limit: 2)
    #expect(first.notifications.map(\.notification.id) == [3, 2] && first.count == 4)
    let second = try await store.assets.assetUses("img", "a", by: shop, before: 2, limit: 2)
    #expect(second.notifications.map(\.notification.id) == [0] && second.drafts.isEmpty)
    let all = try await store.assets.assetUses("img", "a", by: nil, before: nil, limit: 9)
    #expect(all.notifications.map(\.notification.id) == [other, 3, 2, 0])
    #expect(
      try await store.assets.assetUses("note", "a", by: nil, before: nil, limit: 9).count == 0)
  }

  @Test func `what a notification or a draft has is used until that is gone`() async throws {
    let store = try scratch.open()
    for name in ["a", "b", "c", "d"] {
      try await store.assets.putAsset(.any(name, at: scratch.now))
    }
    _ = try await send("a", from: news, expires: scratch.now + 60, in: store)
    var draft = DraftChange(name: "Summer", content: "{}", isTemplate: true)
    draft.asset = ("img", "b")
    let added = try #require(try await store.drafts.addDraft(draft, by: alice))
    draft.asset = ("note", "c")
    _ = try await store.drafts.addDraft(draft, by: alice)
    #expect(try await unused(store) == ["c", "d"])
    let uses = try await store.assets.assetUses("img", "b", by: shop, before: nil, limit: 9)
    #expect(uses.drafts == [added] && uses.count == 0)
    draft.asset = ("img", "c")
    _ = try await store.drafts.changeDraft(added.id, draft, version: nil, by: bob)
    #expect(try await unused(store) == ["b", "d"])
    draft.asset = nil
    _ = try await store.drafts.changeDraft(added.id, draft, version: nil, by: bob)
    #expect(try await unused(store) == ["b", "c", "d"])
  }
}
