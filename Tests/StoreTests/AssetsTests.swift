import FoundationEssentials
import Synchronization
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct AssetsTests {
  private let scratch = Scratch()

  private func asset(_ richType: String, _ name: String) -> AssetRecord {
    AssetRecord(
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
    try await store.assets.putAsset(asset)
    var found = try #require(try await store.assets.asset("img", asset.name))
    #expect(found.updated == scratch.now)
    try await store.assets.putAsset(found)
    found = try #require(try await store.assets.asset("img", asset.name))
    #expect(found.reason == "too large" && found.state == .refused && found.blob == asset.blob)
  }

  @Test func `what is put again replaces every field`() async throws {
    let store = try scratch.open()
    var first = asset("img", "a.png")
    (first.state, first.reason, first.details) = (.refused, "too large", "{}")
    (first.type, first.blob) = ("image/png", try await store.blobs.add(bytes: [1, 2, 3]).digest)
    try await store.assets.putAsset(first)
    scratch.pass(1)
    var second = AssetRecord(
      richType: "img", name: "a.png", state: .ready, bytes: 2, modified: scratch.now, stamp: "2")
    (second.reason, second.details) = ("fine", #"{"width":1}"#)
    (second.type, second.blob) = ("image/gif", try await store.blobs.add(bytes: [1, 2]).digest)
    try await store.assets.putAsset(second)
    second.updated = scratch.now
    #expect(try await store.assets.asset("img", "a.png") == second)
  }

  @Test func `pages through assets by type and name`() async throws {
    let store = try scratch.open()
    for (type, name) in [("img", "b"), ("sound", "a"), ("img", "a"), ("imgx", "c")] {
      try await store.assets.putAsset(asset(type, name))
    }
    let first = try await store.assets.assets(limit: 2)
    #expect(first.map(\.name) == ["a", "b"])
    let rest = try await store.assets.assets(limit: 9, behind: ("img", "b"))
    #expect(rest.map(\.richType) == ["imgx", "sound"])
    #expect(try await store.assets.assets(ofType: "img", limit: 9).map(\.name) == ["a", "b"])
    #expect(
      try await store.assets.assets(ofType: "img", limit: 9, behind: ("img", "a")).map(\.name) == [
        "b"
      ])
    var refused = asset("img", "b")
    refused.state = .refused
    try await store.assets.putAsset(refused)
    #expect(try await store.assets.assets(in: .refused, limit: 9).map(\.name) == ["b"])
    #expect(
      try await store.assets.assets(ofType: "img", in: .ready, limit: 9).map(\.name) == ["a"])
    #expect(try await store.assets.assetCounts(richType: nil) == [.ready: 3, .refused: 1])
    #expect(try await store.assets.assetCounts(richType: "img") == [.ready: 1, .refused: 1])
  }

  @Test func `forgets an asset and keeps what was sent with it`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "a.png")
    let blob = try await store.blobs.add(bytes: [1, 2, 3])
    asset.blob = blob.digest
    try await store.assets.putAsset(asset)
    var new = NotificationInsert.any(to: alice)
    new.blob = blob
    _ = try await store.notifications.create(new)
    #expect(try await store.assets.removeAsset("img", "a.png"))
    #expect(try await !store.assets.removeAsset("img", "a.png"))
    #expect(try await store.assets.asset("img", "a.png") == nil)
    #expect(try await store.notifications.notification(0)?.blob == blob)
  }

  @Test func `ends the preparation of the file it was made for only, with its event`() async throws
  {
    let store = try scratch.open()
    let told = Mutex(0)
    store.observers.onAssetEvent.add { told.withLock { $0 += 1 } }
    var asset = asset("img", "a.png")
    (asset.state, asset.stamp) = (.preparing, "1")
    try await store.assets.putAsset(asset, event: "{}")
    #expect(
      try await store.assets.preparingAssets(limit: 9).isEmpty, "its content is not known yet")
    asset.blob = try await store.blobs.add(bytes: [1]).digest
    try await store.assets.putAsset(asset)
    #expect(try await store.assets.preparingAssets(limit: 9).map(\.name) == ["a.png"])
    #expect(told.withLock { $0 } == 1)

    var (ready, changed) = (asset, asset)
    ready.state = .ready
    (changed.state, changed.stamp) = (.ready, "2")
    #expect(try await !store.assets.finishPreparing(changed, event: "{}"))
    #expect(try await store.assets.finishPreparing(ready, event: "{}"))
    #expect(try await !store.assets.finishPreparing(ready, event: "{}"))
    #expect(try await store.assets.asset("img", "a.png")?.state == .ready)
    #expect(try await !store.assets.removeAsset("img", "a.png", stamp: "2", event: "{}"))
    #expect(try await store.assets.removeAsset("img", "a.png", stamp: "1", event: "{}"))
    #expect(
      try await store.events.events(after: 0, limit: 9).count == 3 && told.withLock { $0 } == 3)
  }

  @Test func `a description stays when a file is examined again, a focus with its content`()
    async throws
  {
    let store = try scratch.open()
    let (one, two) = (
      try await store.blobs.add(bytes: [1]).digest, try await store.blobs.add(bytes: [2]).digest
    )
    var asset = asset("img", "a.png")
    asset.blob = one
    try await store.assets.putAsset(asset)
    var described = asset
    (described.alt, described.focus, described.state) = ("A dog", "0.2,0.6", .preparing)
    #expect(try await store.assets.describe(described, insteadOf: asset, event: "{}"))
    #expect(try await !store.assets.describe(described, insteadOf: asset, event: "{}"))
    // What was read before says nothing of it.
    for (content, focus) in [(one, "0.2,0.6"), (two, nil), (nil, nil), (one, "0.2,0.6")] {
      asset.blob = content
      try await store.assets.putAsset(asset)
      let found = try #require(try await store.assets.asset("img", "a.png"))
      #expect(found.alt == "A dog" && found.focus == focus)
    }
    (asset.alt, asset.isDescribed) = (nil, true)
    try await store.assets.putAsset(asset)
    let found = try #require(try await store.assets.asset("img", "a.png"))
    #expect(found.alt == nil && found.focus == nil)
  }

  @Test func `renditions for an earlier focus do not end the preparation`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "a.png")
    (asset.state, asset.blob) = (.preparing, try await store.blobs.add(bytes: [1]).digest)
    try await store.assets.putAsset(asset)
    var described = asset
    described.focus = "0,1"
    #expect(try await store.assets.describe(described, insteadOf: asset, event: "{}"))
    (asset.state, described.state) = (.ready, .ready)
    #expect(try await !store.assets.finishPreparing(asset, event: "{}"))
    #expect(try await store.assets.preparingAssets(limit: 9).map(\.focus) == ["0,1"])
    #expect(try await store.assets.finishPreparing(described, event: "{}"))
  }

  @Test func `a notification keeps the focus that its asset had`() async throws {
    let store = try scratch.open()
    var new = NotificationInsert.any(to: alice)
    (new.focus, new.hasAssetAlt) = ("0.2,0.6", true)
    let stored = try await store.notifications.create(new).notification
    #expect(stored.focus == "0.2,0.6" && stored.hasAssetAlt)
    #expect(try await store.notifications.notification(stored.id) == stored)
    new.focus = nil
    let amended = try #require(try await store.notifications.amend(stored.id, with: new))
    #expect(amended.focus == nil && amended.hasAssetAlt)
    #expect(try await store.notifications.notification(stored.id) == amended)
  }

  @Test func `finds names that differ in case only, and files with the same content`() async throws
  {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: [1]).digest
    for (name, stamp) in [("Größe.png", "1-a"), ("other.png", "2-b")] {
      var asset = asset("img", name)
      (asset.blob, asset.stamp) = (blob, stamp)
      try await store.assets.putAsset(asset)
    }
    #expect(try await store.assets.assetNames(like: "GRÖSSE.png", richType: "img") == [])
    #expect(try await store.assets.assetNames(like: "GRÖßE.PNG", richType: "img") == ["Größe.png"])
    #expect(try await store.assets.assetNames(like: "Größe.png", richType: "img") == [])
    #expect(try await store.assets.assetNames(like: "größe.png", richType: "sound") == [])
    #expect(try await store.assets.asset("img", with: blob, stampEnding: "-b")?.name == "other.png")
    #expect(try await store.assets.asset("img", with: blob, stampEnding: "-c") == nil)
    #expect(try await store.assets.asset("sound", with: blob, stampEnding: "-b") == nil)
    #expect(try await store.assets.assetStamps("img") == ["Größe.png": "1-a", "other.png": "2-b"])
    #expect(try await store.assets.assetTypes() == ["img"])
  }

  @Test func `names that differ only in Unicode's form can be listed`() async throws {
    let store = try scratch.open()
    // Such a file cannot be an asset, and is listed as it is named.
    for name in ["\u{E9}\\u{A}", "e\u{301}\\u{A}"] {
      try await store.assets.putAsset(asset("img", name))
    }
    #expect(try await store.assets.assetStamps("img").count == 1)
  }

  @Test func `refuses an asset whose content was never stored`() async throws {
    let store = try scratch.open()
    var asset = asset("img", "a.png")
    asset.blob = Digest(of: "elsewhere")
    await #expect { try await store.assets.putAsset(asset) } throws: {
      ($0 as? StoreError)?.code == .missing
    }
    #expect(try await store.assets.asset("img", "a.png") == nil)
  }
}
