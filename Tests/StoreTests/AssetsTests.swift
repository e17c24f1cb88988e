import FoundationEssentials
import Testing

@testable import Store

@Suite struct AssetsTests {
  private let scratch = Scratch()

  private func asset(_ richType: String, _ name: String) -> Asset {
    Asset(
      richType: richType, name: name, state: .ready, bytes: 3, modified: scratch.now, stamp: "1")
  }

  @Test func `gives back every field of an asset`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "größe\n.png")
    asset.state = .refused
    asset.reason = "too large"
    asset.blob = try await store.blobs.add(bytes: [1, 2, 3]).digest
    asset.type = "image/png"
    asset.details = "{}"
    try await store.putAsset(asset)
    var found = try #require(try store.asset("img", asset.name))
    #expect(found.updated == scratch.now)
    try await store.putAsset(found)
    found = try #require(try store.asset("img", asset.name))
    #expect(found.reason == "too large" && found.state == .refused && found.blob == asset.blob)
  }

  @Test func `pages through assets by type and name`() async throws {
    let store = try scratch.open()
    for (type, name) in [("img", "b"), ("sound", "a"), ("img", "a"), ("imgx", "c")] {
      try await store.putAsset(asset(type, name))
    }
    let first = try store.assets(limit: 2)
    #expect(first.map(\.name) == ["a", "b"])
    let rest = try store.assets(limit: 9, after: ("img", "b"))
    #expect(rest.map(\.richType) == ["imgx", "sound"])
    #expect(try store.assets(richType: "img", limit: 9).map(\.name) == ["a", "b"])
    #expect(try store.assets(richType: "img", limit: 9, after: ("img", "a")).map(\.name) == ["b"])
    var refused = asset("img", "b")
    refused.state = .refused
    try await store.putAsset(refused)
    #expect(try store.assets(state: .refused, limit: 9).map(\.name) == ["b"])
    #expect(try store.assets(richType: "img", state: .ready, limit: 9).map(\.name) == ["a"])
    #expect(try store.assetCounts() == [.ready: 3, .refused: 1])
    #expect(try store.assetCounts(richType: "img") == [.ready: 1, .refused: 1])
  }

  @Test func `forgets an asset and keeps what was sent with it`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "a.png")
    let blob = try await store.blobs.add(bytes: [1, 2, 3])
    asset.blob = blob.digest
    try await store.putAsset(asset)
    var new = NewNotification.any(to: alice)
    new.blob = blob
    _ = try await store.create(new)
    #expect(try await store.removeAsset("img", "a.png"))
    #expect(try await !store.removeAsset("img", "a.png"))
    #expect(try store.asset("img", "a.png") == nil)
    #expect(try store.notification(0)?.blob == blob)
  }

  @Test func `refuses an asset whose content was never stored`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "a.png")
    asset.blob = Digest(of: "elsewhere")
    await #expect { try await store.putAsset(asset) } throws: {
      ($0 as? StoreError)?.code == .missing
    }
    #expect(try store.asset("img", "a.png") == nil)
  }
}
