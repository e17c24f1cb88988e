import FoundationEssentials
import Testing

@testable import Store

/// What assets had before they were replaced or removed, and the order of assets.
@Suite(.timeLimit(.minutes(1))) struct AssetVersionTests {
  private let scratch = Scratch()
  private let retention = Retention()

  /// Puts an asset with a content of so many bytes.
  @discardableResult
  private func put(
    _ store: Store, _ content: UInt8, as name: String = "a.png", count: Int = 1,
    alt: String? = nil, focus: String? = nil
  ) async throws -> Digest {
    let blob = try await store.blobs.add(bytes: [UInt8](repeating: content, count: count))
    var asset = AssetRecord(
      richType: "img", name: name, state: .ready, bytes: count, modified: scratch.now,
      stamp: "\(content)")
    (asset.blob, asset.type, asset.isDescribed) = (blob.digest, "image/png", true)
    (asset.alt, asset.focus) = (alt, focus)
    try await store.assets.putAsset(asset)
    return blob.digest
  }

  private func versions(_ store: Store, _ name: String = "a.png") async throws -> [Digest] {
    try await store.assets.assetVersions("img", name, endedAfter: .distantPast).map(\.blob)
  }

  @Test func `what is replaced or removed is kept with what was said of it, the last first`()
    async throws
  {
    let store = try scratch.open()
    let modified = scratch.now
    let one = try await put(store, 1, alt: "A dog", focus: "0.2,0.6")
    scratch.pass(10)
    let two = try await put(store, 2)
    let first = try #require(
      try await store.assets.assetVersions("img", "a.png", endedAfter: .distantPast).first)
    #expect(first.blob == one && first.bytes == 1 && first.type == "image/png")
    #expect(first.alt == "A dog" && first.focus == "0.2,0.6")
    #expect(first.modified == modified.stored && first.ended == scratch.now.stored)
    scratch.pass(10)
    #expect(try await store.assets.removeAsset("img", "a.png"))
    #expect(try await versions(store) == [two, one])
    // What it has is none of those that it had.
    try await put(store, 1)
    #expect(try await versions(store) == [two])
    try await put(store, 1)
    #expect(try await versions(store) == [two])
  }

  @Test func `labels stay with other content, go with the asset, and are kept with what it had`()
    async throws
  {
    let store = try scratch.open()
    try await put(store, 1)
    let known = try #require(try await store.assets.asset("img", "a.png"))
    var labelled = known
    labelled.labels = ["summer", "\u{301}x"]
    #expect(try await store.assets.describe(labelled, insteadOf: known, event: "{}"))
    // Somebody else has changed it meanwhile.
    #expect(try await !store.assets.describe(known, insteadOf: known, event: "{}"))
    try await put(store, 2)
    let replaced = try #require(try await store.assets.asset("img", "a.png"))
    #expect(replaced.labels == labelled.labels)
    try await put(store, 3, as: "b.png")
    func found(_ label: String) async throws -> [String] {
      var filter = AssetFilter()
      filter.label = label
      return try await store.assets.assets(filter, order: .newest, limit: 9, after: nil)
        .map(\.name)
    }
    for label in ["summer", "\u{301}x"] { #expect(try await found(label) == ["a.png"]) }
    for other in ["summe", "Summer"] { #expect(try await found(other).isEmpty) }
    #expect(try await store.assets.assetLabels() == ["summer": 1, "\u{301}x": 1])
    scratch.pass(10)
    #expect(try await store.assets.removeAsset("img", "a.png"))
    #expect(try await store.assets.assetLabels().isEmpty)
    let version = try #require(
      try await store.assets.assetVersions("img", "a.png", endedAfter: .distantPast).first)
    #expect(version.labels == labelled.labels)
  }

  @Test func `a name takes the place of another with what that had before`() async throws {
    let store = try scratch.open()
    for content: UInt8 in 1...3 {
      try await put(store, content, alt: "A dog", focus: "0.2,0.6")
      scratch.pass(10)
    }
    // The name had an asset before, with one of these contents.
    for content: UInt8 in [1, 5] {
      try await put(store, content, as: "b.png")
      scratch.pass(10)
    }
    #expect(try await store.assets.removeAsset("img", "b.png"))
    var renamed = try #require(try await store.assets.asset("img", "a.png"))
    (renamed.name, renamed.labels) = ("b.png", ["summer"])
    // Another node has found the file already.
    try await put(store, 3, as: "b.png")
    try await store.assets.renameAsset(renamed, from: "a.png", event: "{}", removal: "{}")
    let found = try #require(try await store.assets.asset("img", "b.png"))
    #expect(found.alt == "A dog" && found.focus == "0.2,0.6" && found.labels == ["summer"])
    #expect(try await store.assets.asset("img", "a.png") == nil)
    #expect(try await versions(store).isEmpty)
    #expect(try await versions(store, "b.png").count == 3)
    let ordered = try await store.assets.assets(limit: 9, by: .name)
    #expect(ordered.map(\.name) == ["b.png"])
  }

  @Test func `a refused file does not take the earlier content away`() async throws {
    let store = try scratch.open()
    let one = try await put(store, 1)
    var refused = AssetRecord(
      richType: "img", name: "a.png", state: .refused, bytes: 0, modified: scratch.now, stamp: "r")
    refused.reason = "no picture"
    try await store.assets.putAsset(refused)
    #expect(try await versions(store) == [one])
    // A removal that finds another file than it was told of keeps nothing.
    try await put(store, 3, as: "b.png")
    #expect(try await !store.assets.removeAsset("img", "b.png", stamp: "other"))
    #expect(try await versions(store, "b.png") == [])
  }

  @Test func `of an asset ten are kept`() async throws {
    let store = try scratch.open()
    var digests: [Digest] = []
    for content in 0..<13 {
      digests.append(try await put(store, UInt8(content)))
      scratch.pass(1)
    }
    #expect(try await versions(store) == digests[2..<12].reversed())
    try await put(store, 1, as: "b.png")
    #expect(try await versions(store).count == 10)
  }

  @Test func `what was removed is listed by page, unless there is another one`() async throws {
    let store = try scratch.open()
    for (content, name) in ["a", "b", "c", "d"].enumerated() {
      try await put(store, UInt8(2 * content), as: name)
      try await put(store, UInt8(2 * content + 1), as: name)
      scratch.pass(1)
      if name != "d" { _ = try await store.assets.removeAsset("img", name) }
    }
    try await put(store, 9, as: "b")
    func removed(_ limit: Int = 9, after: AssetPosition? = nil) async throws -> [StoredAssetVersion]
    {
      try await store.assets.removedAssets(endedAfter: .distantPast, limit: limit, after: after)
    }
    let all = try await removed()
    #expect(all.map(\.name) == ["c", "a"])
    // It is what it had last.
    #expect(all.last?.blob == Digest(of: "\u{1}"))
    let first = try #require(try await removed(1).first)
    let place = AssetPosition(
      richType: "img", name: "c", value: Int((first.ended.timeIntervalSince1970 * 1000).rounded()))
    #expect(try await removed(after: place).map(\.name) == ["a"])
    #expect(
      try await store.assets.removedAssets(endedAfter: scratch.now, limit: 9, after: nil).isEmpty)
  }

  @Test func `it goes after its time, and its content with it`() async throws {
    let store = try scratch.open()
    let one = try await put(store, 1)
    let two = try await put(store, 2)
    #expect(try await store.usage().blobs == 2)
    scratch.pass(retention.versionAge - 1)
    #expect(try await store.collect(retention).blobs == 0)
    #expect(store.blobs.size(of: one) == 1)
    scratch.pass(1)
    #expect(
      try await store.assets.assetVersions(
        "img", "a.png", endedAfter: scratch.now - retention.versionAge
      ).isEmpty)
    #expect(try await store.collect(retention).blobs == 1)
    #expect(try await versions(store).isEmpty)
    #expect(store.blobs.size(of: one) == nil && store.blobs.size(of: two) == 1)
    #expect(try await store.usage().blobs == 1)
  }

  @Test func `the first to end go if they take too much space of their own`() async throws {
    let store = try scratch.open()
    let shared = try await put(store, 1, as: "a", count: 100)
    try await put(store, 1, as: "other", count: 100)
    for content in 2..<6 {
      scratch.pass(1)
      try await put(store, UInt8(content), as: "a", count: 100)
    }
    #expect(try await versions(store, "a").count == 4)
    var tight = retention
    // The first content is another asset's, too, and takes no space here.
    tight.versionBytes = 250
    _ = try await store.collect(tight)
    #expect(try await versions(store, "a").count == 3)
    #expect(try await versions(store, "a").last == shared)
    tight.versionBytes = 0
    _ = try await store.collect(tight)
    #expect(try await versions(store, "a") == [shared])
  }

  @Test func `a check finds content that is gone, and forgets it`() async throws {
    let store = try scratch.open()
    let one = try await put(store, 1)
    try await put(store, 2)
    #expect(try await store.check().findings.isEmpty)
    _ = store.blobs.remove(one, ifOlderThan: .distantFuture)
    #expect(try await store.check().findings.count == 1)
    #expect(try await store.check(repairing: true).isSound)
    #expect(try await versions(store).isEmpty)
  }

  @Test(.sqlite) func `a backup has it`() async throws {
    let store = try scratch.open()
    let one = try await put(store, 1)
    try await put(store, 2)
    let (backup, restored) = ("\(scratch.folder)/backup", "\(scratch.folder)/restored")
    try await store.backup(to: backup)
    try Store.restore(from: backup, to: restored)
    let copy = try Store(folder: restored)
    #expect(try await versions(copy) == [one] && copy.blobs.size(of: one) == 1)
  }

  @Test(arguments: [
    ["apfel 9", "Äpfel 10", "Apfel 010a", "apfel 11"], ["", "1", "01", "2", "10", "a"],
    ["Frühling", "fruhlings", "frühlings", "Zebra", "žebra 2"], ["v1.2", "v1.10", "v10.1"],
    ["file", "file 99999999999999999998", "file 99999999999999999999"],
  ])
  func `names are in the order that people expect`(names: [String]) {
    let sorted = names.shuffled().sorted {
      (AssetRecord.ordered($0), $0) < (AssetRecord.ordered($1), $1)
    }
    #expect(sorted.map(AssetRecord.ordered) == names.map(AssetRecord.ordered))
  }

  @Test(arguments: AssetOrder.allCases) func `pages in each order have each asset once`(
    order: AssetOrder
  ) async throws {
    let store = try scratch.open()
    let names = ["b 2", "B 10", "ä", "z", "a"]
    for (number, name) in names.enumerated() {
      scratch.pass(1)
      try await put(store, UInt8(number), as: name, count: [3, 1, 3, 2, 5][number])
    }
    let expected: [String] =
      switch order {
      case .name: ["a", "ä", "b 2", "B 10", "z"]
      case .newest: names.reversed()
      case .oldest: names
      case .largest: ["a", "ä", "b 2", "z", "B 10"]
      case .smallest: ["B 10", "z", "ä", "b 2", "a"]
      }
    #expect(try await store.assets.assets(limit: 9, by: order).map(\.name) == expected)
    var (paged, place): ([String], AssetPosition?) = ([], nil)
    while true {
      let page = try await store.assets.assets(
        AssetFilter(), order: order, limit: 2, after: place)
      guard let last = page.last else { break }
      paged += page.map(\.name)
      place = AssetPosition(richType: "img", name: last.name)
      switch order {
      case .name: break
      case .newest, .oldest:
        place?.value = Int((last.modified.timeIntervalSince1970 * 1000).rounded())
      case .largest, .smallest: place?.value = last.bytes
      }
      // The page after it begins where it did, also if the asset is gone.
      if paged.count == 2 { _ = try await store.assets.removeAsset("img", last.name) }
    }
    #expect(paged == expected)
  }
}
