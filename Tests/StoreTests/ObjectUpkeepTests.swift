import Foundation
import StandIns
import Testing
import Waiting

@testable import Store

/// What is removed from the object store, and how check and backup treat it.
@Suite(.timeLimit(.minutes(1))) struct ObjectUpkeepTests {
  private let objects: ObjectStandIn
  private let scratch = Scratch(at: Date().timeIntervalSince1970)
  private let store: Store

  init() throws {
    objects = try ObjectStandIn()
    store = try scratch.open(objects: try objects.configuration())
  }

  /// Of all keys in these tests.
  private static let prefixes = Set(
    ([[1], [2], [3], Array("a".utf8), Array("b".utf8)] as [[UInt8]])
      .map { String(Digest(of: $0).hex.prefix(2)) })

  private func key(_ digest: Digest, in folder: String = "blobs") -> String {
    "\(folder)/\(digest.hex.prefix(2))/\(digest.hex)"
  }

  private var blobKeys: Set<String> { objects.keys.filter { $0.hasPrefix("blobs/") } }

  private func collect() async throws -> ObjectUpkeepReport {
    try await store.collectObjects(Retention(), prefixes: Self.prefixes)
  }

  /// A blob that was stored two days ago.
  private func addOld(_ bytes: [UInt8]) async throws -> Blob {
    let blob = try await store.blobs.add(bytes: bytes)
    age(blob, bytes, days: 2)
    return blob
  }

  private func age(_ blob: Blob, _ bytes: [UInt8], days: Double) {
    objects.set(
      key(blob.digest), Data(bytes), modified: scratch.now.addingTimeInterval(-days * 86400))
  }

  private func notify(of blob: Blob) async throws {
    var new = NotificationInsert.any(to: alice)
    new.blob = blob
    _ = try await store.notifications.create(new)
  }

  @Test func `an orphan is removed a day after it was found, and nothing else`() async throws {
    let (orphan, used) = (try await addOld([1]), try await addOld([2]))
    let new = try await store.blobs.add(bytes: [3])
    try await notify(of: used)
    for _ in 0..<2 {
      #expect(try await collect().blobs == 0)
      #expect(objects.keys.contains("orphans/\(orphan.digest)") && objects.keys.count == 5)
    }
    scratch.pass(25 * 3600)
    age(new, [3], days: 0.5)
    let report = try await collect()
    #expect(report.blobs == 1 && report.blobBytes == 1)
    #expect(blobKeys == [key(used.digest), key(new.digest)])
  }

  @Test func `an orphan that is stored or referred to again stays`() async throws {
    let (first, second) = (try await addOld([1]), try await addOld([2]))
    _ = try await collect()
    scratch.pass(25 * 3600)
    age(first, [1], days: 0)
    try await notify(of: second)
    for _ in 0..<2 { #expect(try await collect().blobs == 0) }
    #expect(objects.keys.count == 3, "\(objects.keys)")
  }

  @Test func `content that is being removed is not stored until that is over`() async throws {
    let announcement = "removing/\(Digest(of: [1]))"
    objects.set(announcement, Data([1]), modified: Date())
    // It waits for the end of the removal, as long as two requests may take.
    let clock = ManualClock()
    let start = clock.now
    let waiting = try scratch.open(.shared, objects: try objects.configuration(clock: clock))
    let error = await clock.withoutWaiting {
      await #expect(throws: StoreError.self) { try await waiting.blobs.add(bytes: [1]) }
    }
    #expect(error?.code == .busy && clock.now - start == .seconds(19))
    objects.set(announcement, Data([1]), modified: Date(timeIntervalSinceNow: -130))
    let blob = try await store.blobs.add(bytes: [1])
    // Not the one that the removal may have met.
    #expect(objects.bytes(key(blob.digest)) == Data([1]))
  }

  @Test func `nothing is removed from a bucket that another data folder uses`() async throws {
    let orphan = try await addOld([1])
    _ = try await collect()
    scratch.pass(25 * 3600)
    objects.set("owners/other", Data([1]))
    let report = try await collect()
    #expect(report.blobs == 0 && report.stranger == "owners/other")
    #expect(objects.keys.contains(key(orphan.digest)))
  }

  @Test func `what the object store lost is uploaded, and old renditions are removed`() async throws
  {
    let (used, unused) = (try await addOld([1]), try await addOld([2]))
    try await notify(of: used)
    for blob in [used, unused] { objects.set(key(blob.digest), nil) }
    let renditions = ["a", "b"].map { Renditions.key(Digest(of: "key"), of: Digest(of: $0)) }
    // The last one has a name as earlier versions gave it.
    for (name, days) in [
      (renditions[0], 31.0), (renditions[1], 1), (key(Digest(of: "b"), in: "renditions"), 1),
    ] {
      objects.set(name, Data([1]), modified: scratch.now.addingTimeInterval(-days * 86400))
    }
    // What somebody else keeps in the bucket.
    let foreign = [
      "renditions/aa/letter", "renditions/aa/more/\(Digest(of: "a"))", "removing/aa.txt",
    ]
    for key in foreign { objects.set(key, Data([1]), modified: .distantPast) }
    let report = try await collect()
    #expect(report.uploaded == 1 && report.renditions == 2)
    let left = Set([key(used.digest), renditions[1]] + foreign)
    #expect(objects.keys.filter { !$0.hasPrefix("owners/") } == left)
  }

  @Test func `a check finds what is missing or damaged in the object store`() async throws {
    var blobs: [Blob] = []
    for number in 0..<4 {
      blobs.append(try await store.blobs.add(bytes: [UInt8(number)]))
      try await notify(of: blobs[number])
    }
    objects.set(key(blobs[1].digest), Data([9]))
    objects.set(key(blobs[2].digest), nil)
    objects.set(key(blobs[3].digest), nil)
    for number in [0, 3] { unlink(store.blobs.path(of: blobs[number].digest)) }
    var report = try await store.check()
    #expect(report.objects == 1 && report.findings.count == 4 && !report.isSound)
    report = try await store.check(repairing: true)
    #expect(report.findings.count { $0.isRepaired } == 2)
    report = try await store.check()
    #expect(report.objects == 3 && report.findings.count == 2)
    #expect(report.findings.allSatisfy { $0.sentence.contains(blobs[3].digest.hex) })
  }

  @Test(.sqlite) func `a backup leaves out what the object store has, and says so`() async throws {
    let (here, lost) = (
      try await store.blobs.add(bytes: [1]), try await store.blobs.add(bytes: [2])
    )
    for blob in [here, lost] { try await notify(of: blob) }
    objects.set(key(lost.digest), nil)
    let report = try await store.backup(to: scratch.folder + "/copy")
    #expect(report == BackupReport(blobs: 1, objects: objects.url))
    #expect(scratch.files(in: "copy/blobs") == [String(key(lost.digest).dropFirst(6))])

    // An object of another size is not this content.
    objects.set(key(here.digest), Data([1, 1]))
    let other = try await store.backup(to: scratch.folder + "/other")
    #expect(other.blobs == 0)
    #expect(scratch.files(in: "other/blobs").count == 2)
    objects.set(key(here.digest), Data([1]))

    try Store.restore(from: scratch.folder + "/copy", to: scratch.folder + "/restored")
    let error = #expect(throws: StoreError.self) {
      try Store(folder: scratch.folder + "/restored")
    }
    #expect(error?.code == .conflict && error?.reason.contains(objects.url) == true)
    let restored = try Store(
      folder: scratch.folder + "/restored", objects: try objects.configuration())
    try await restored.blobs.fetch(here.digest, size: 1)
    #expect(try await restored.collectObjects(Retention(), prefixes: Self.prefixes).uploaded == 1)
    #expect(try await restored.check().isSound)
  }
}
