import Foundation
import Primitives
import StandIns
import Synchronization
import Testing
import Waiting

@testable import Store

/// Content in an object store, with the data folder as a cache in front of it.
@Suite(.timeLimit(.minutes(1))) struct ObjectStoreTests {
  private let objects: ObjectStandIn
  private let scratch = Scratch(at: Date().timeIntervalSince1970)
  private let store: Store
  private let picture = [UInt8](repeating: 7, count: 100_000)

  init() throws {
    objects = try ObjectStandIn()
    store = try scratch.open(objects: try objects.configuration())
  }

  /// The store once more, for requests that are to fail: it goes by a clock of its own.
  private func reopened(by clock: ManualClock) throws -> Store {
    try scratch.open(.shared, objects: try objects.configuration(clock: clock))
  }

  private func path(_ digest: Digest) -> String { "blobs/\(digest.hex.prefix(2))/\(digest.hex)" }

  private func addPicture() async throws -> Blob { try await store.blobs.add(bytes: picture) }

  private func removeFile(_ blob: Blob) {
    #expect(unlink(store.blobs.path(of: blob.digest)) == 0)
  }

  private func isHere(_ blob: Blob) -> Bool {
    scratch.files().contains(path(blob.digest))
  }

  @Test func `content is in the object store before it counts as stored`() async throws {
    let blob = try await addPicture()
    #expect(objects.bytes(path(blob.digest)) == Data(picture))
    objects.fail { request, _ in request.method == "PUT" ? .status(403, "AccessDenied") : nil }
    let error = await #expect(throws: StoreError.self) {
      try await store.blobs.add(bytes: [1, 2, 3])
    }
    #expect(error?.code == .away && objects.keys == [path(blob.digest)])
  }

  @Test
  func `content from before the object store was used is there before something refers to it`()
    async throws
  {
    let (old, node) = (Scratch(), Scratch())
    let blob = try await old.open(.sharedOrNew).blobs.add(bytes: picture)
    let store = try old.open(objects: try objects.configuration())
    let other = try node.open(objects: try objects.configuration())
    let error = await #expect(throws: StoreError.self) {
      try await other.blobs.ensureUploaded(blob)
    }
    #expect(error?.code == .missing)
    try await store.blobs.ensureUploaded(blob)
    #expect(objects.bytes(path(blob.digest)) == Data(picture))
    try await other.blobs.ensureUploaded(blob)
    objects.fail { _, _ in .status(503, "SlowDown") }
    let clock = ManualClock()
    let away = try reopened(by: clock)
    try await clock.withoutWaiting { try await away.blobs.ensureUploaded(blob) }
  }

  @Test func `content that is there is not uploaded again`() async throws {
    let blob = try await addPicture()
    removeFile(blob)
    for _ in 0..<2 {
      objects.forget()
      _ = try await addPicture()
      #expect(!objects.received.contains { $0.method == "PUT" })
      scratch.pass(2 * 3600)
    }
    // What is old could just be collected as an orphan.
    scratch.pass(13 * 3600)
    _ = try await addPicture()
    #expect(objects.received.contains { $0.method == "PUT" })
  }

  @Test func `a missing file is fetched once for many readers`() async throws {
    let blob = try await addPicture()
    removeFile(blob)
    #expect(!store.blobs.isLocal(blob.digest, size: blob.size))
    objects.forget()
    await withTaskGroup { group in
      for _ in 0..<50 {
        group.addTask { [store] in
          await #expect(throws: Never.self) {
            try await store.blobs.fetch(blob.digest, size: blob.size)
          }
        }
      }
    }
    #expect(objects.received.map(\.method) == ["GET"])
    let file = store.blobs.path(of: blob.digest)
    #expect(FileManager.default.contents(atPath: file) == Data(picture))
    let cache = try #require(store.objects).counts.cache
    #expect(cache.blobMisses >= 1 && cache.blobHits + cache.blobMisses == 50)
  }

  @Test func `content that changed on the way is fetched again, and damaged content refused`()
    async throws
  {
    let blob = try await addPicture()
    removeFile(blob)
    objects.forget()
    objects.fail { request, count in request.method == "GET" && count == 1 ? .corrupt : nil }
    try await store.blobs.fetch(blob.digest, size: blob.size)
    #expect(isHere(blob))
    removeFile(blob)
    for damaged in [Data(picture) + [1], Data(picture.dropLast()), Data(count: picture.count)] {
      objects.set(path(blob.digest), damaged)
      let error = await #expect(throws: StoreError.self) {
        try await store.blobs.fetch(blob.digest, size: blob.size)
      }
      #expect(error?.code == .damaged)
    }
    objects.set(path(blob.digest), nil)
    let error = await #expect(throws: StoreError.self) {
      try await store.blobs.fetch(blob.digest, size: blob.size)
    }
    #expect(error?.code == .missing && !isHere(blob) && scratch.files(in: "tmp").isEmpty)
  }

  @Test func `another node finds what one has rendered`() async throws {
    let other = Scratch(at: Date().timeIntervalSince1970 + 60)
    let second = try other.open(objects: try objects.configuration())
    try await second.shareSecret(of: store)
    let fields = [Rendition.Field("x-width", "320")] + Renditions.fields
    for (text, bytes) in [("a", picture), ("b", [])] {
      let key = Digest(of: text)
      let rendition = try await store.renditions.store(
        key, bytes: bytes, contentType: "image/png", fields: fields)
      await store.renditions.uploaded(key)
      #expect(second.renditions.rendition(key) == nil)
      let found = try #require(try await second.renditions.fetch(key))
      #expect(found.digest == rendition.digest && found.created == rendition.created)
      #expect(found.contentType == "image/png" && found.fields == fields)
      #expect(FileManager.default.contents(atPath: found.path) == Data(bytes))
      #expect(second.renditions.rendition(key) == found)
    }
    #expect(try await second.renditions.fetch(Digest(of: "c")) == nil)
    #expect(other.files(in: "tmp").isEmpty)
  }

  @Test(arguments: [0, 4, 20, 100])
  func `a rendition that is damaged in the object store is none`(length: Int) async throws {
    let key = Digest(of: "a")
    let object = Renditions.key(key, of: Renditions.source)
    _ = try await store.renditions.store(
      key, bytes: picture, contentType: "image/png", fields: Renditions.fields)
    await store.renditions.uploaded(key)
    let whole = try #require(objects.bytes(object))
    store.renditions.remove(key)
    for damaged in [whole.prefix(length), whole.suffix(length), Data(count: length)] {
      objects.set(object, damaged)
      #expect(try await store.renditions.fetch(key) == nil)
    }
    #expect(scratch.files(in: "renditions").isEmpty)
  }

  @Test func `a rendition that somebody else wrote into the object store is none`() async throws {
    func object(_ key: Digest) -> String { Renditions.key(key, of: Renditions.source) }
    func damaged() throws -> Int { try #require(store.objects).counts.cache.damaged }
    let (key, other) = (Digest(of: "a"), Digest(of: "b"))
    for (key, byte) in [(key, UInt8(1)), (other, 2)] {
      _ = try await store.renditions.store(
        key, bytes: [byte], contentType: "image/png", fields: Renditions.fields)
      await store.renditions.uploaded(key)
    }
    let (good, another) = try (
      #require(objects.bytes(object(key))), #require(objects.bytes(object(other)))
    )
    let script = Rendition(
      path: "", contentType: "text/html", size: 2, digest: Digest(of: "<>"),
      fields: [Rendition.Field("set-cookie", "richpush=evil")], created: scratch.now)
    let forged = Data("<>".utf8) + Data(script.header.utf8)
    let size = String(script.header.utf8.count)
    let code = String(decoding: good.dropLast(8).suffix(64), as: UTF8.self)
    let sealed = RenditionSeal(secret: "a guess").code(of: script.header, under: key)
    let zeros = { String(repeating: "0", count: $0 - size.count) }
    for (bytes, isDamaged) in [
      // As an earlier version wrote it, which is no reason for an alarm.
      (forged + Data((zeros(8) + size).utf8), false),
      (forged + Data((code + "s" + zeros(7) + size).utf8), true),
      (forged + Data(sealed) + Data(("s" + zeros(7) + size).utf8), true),
      // What was rendered for something else.
      (another, true),
      (good.replacing(Data("image/png".utf8), with: Data("text/html".utf8)), true),
    ] {
      store.renditions.remove(key)
      objects.set(object(key), bytes)
      let before = try damaged()
      #expect(try await store.renditions.fetch(key) == nil)
      #expect(try damaged() == before + (isDamaged ? 1 : 0))
    }
    #expect(store.renditions.rendition(key) == nil)
    try await eventually("no temporary file is left") { scratch.files(in: "tmp").isEmpty }
    objects.set(object(key), good)
    #expect(try await store.renditions.fetch(key)?.contentType == "image/png")
    // What is rendered again takes the place of what was there.
    store.renditions.remove(key)
    objects.set(object(key), forged + Data((zeros(8) + size).utf8))
    _ = try await store.renditions.store(
      key, bytes: [1], contentType: "image/png", fields: Renditions.fields)
    await store.renditions.uploaded(key)
    #expect(objects.bytes(object(key))?.prefix(1) == Data([1]))
    store.renditions.remove(key)
    #expect(try await store.renditions.fetch(key)?.digest == Digest(of: [1]))
  }

  @Test func `while the object store is away all fail at once, and it heals by itself`()
    async throws
  {
    let (kept, gone) = (try await addPicture(), try await store.blobs.add(bytes: [1]))
    removeFile(gone)
    let clock = ManualClock()
    let store = try reopened(by: clock)
    let changes = Mutex<[Bool]>([])
    try #require(store.objects).onAbsence.add { error in
      changes.withLock { $0.append(error != nil) }
    }
    objects.fail { _, _ in .status(503, "SlowDown") }
    for _ in 0..<2 {
      let error = await clock.withoutWaiting {
        await #expect(throws: StoreError.self) {
          try await store.blobs.fetch(gone.digest, size: 1)
        }
      }
      #expect(error?.code == .away)
      try await clock.withoutWaiting {
        try await eventually("it is away") { store.objects?.counts.isAway == true }
      }
    }
    let get = try #require(store.objects?.counts.requests[.get])
    #expect(get.failed == 1 && get.skipped == 1)
    try await store.blobs.fetch(kept.digest, size: kept.size)
    await #expect(throws: StoreError.self) { try await store.probeObjects() }
    objects.heal()
    try await clock.withoutWaiting {
      try await eventually("it is back") { store.objects?.counts.isAway == false }
    }
    try await store.blobs.fetch(gone.digest, size: 1)
    try await store.probeObjects()
    // Told after it is counted.
    try await eventually("both are told") { changes.withLock { $0 } == [true, false] }
  }

  @Test func `a wrong key is reported at the start, and a store that is away is expected back`()
    async throws
  {
    objects.fail { _, _ in .status(503, "SlowDown") }
    let clock = ManualClock()
    let away = try reopened(by: clock)
    try await clock.withoutWaiting { try await away.objects?.checkConfiguration() }
    objects.fail { _, _ in .status(403, "SignatureDoesNotMatch") }
    let error = await #expect(throws: StoreError.self) {
      try await store.objects?.checkConfiguration()
    }
    #expect(error?.code == .failed && error?.reason.contains("hidden") == false)
  }

  @Test func `the least recently used files are removed, but none that is open or nowhere else`()
    async throws
  {
    var blobs: [Blob] = []
    for number in 0..<5 {
      blobs.append(try await store.blobs.add(bytes: picture + [UInt8(number)]))
      scratch.pass(60)
    }
    scratch.pass(60)
    var retention = Retention()
    retention.cachedBlobBytes = 0
    let open = try StoreFile(store.blobs.path(of: blobs[0].digest), O_RDONLY)
    objects.set(path(blobs[1].digest), nil)
    // The last one was just used; the grace of the others is over.
    #expect(store.blobs.isLocal(blobs[4].digest, size: blobs[4].size))
    _ = try await store.trimBlobs(retention)
    #expect(blobs.map(isHere) == [true, true, false, false, true])
    #expect(objects.keys.count == 5)
    withExtendedLifetime(open) {}
    // It was uploaded, and can be removed now.
    #expect(try await store.trimBlobs(retention).count >= 1)
    #expect(!isHere(blobs[1]) && isHere(blobs[4]))
  }

  @Test func `a notification keeps content whose file was removed, but no content that is gone`()
    async throws
  {
    let blob = try await addPicture()
    var new = NotificationInsert.any(to: alice)
    new.blob = blob
    _ = try await store.notifications.create(new)
    removeFile(blob)
    _ = try await store.notifications.create(new)
    let unknown = try await store.blobs.add(bytes: [9])
    removeFile(unknown)
    new.blob = unknown
    let error = await #expect(throws: StoreError.self) {
      try await store.notifications.create(new)
    }
    #expect(error?.code == .missing)
  }
}

extension Store {
  /// Gives this database the secret of another, as if both were nodes of one database.
  fileprivate func shareSecret(of other: Store) async throws {
    let secret = try await other.accounts.vapidSecret()
    if let tables = tables as? PostgresTables {
      _ = try await tables.database.run("UPDATE vapid_key SET secret = $1", secret)
    } else {
      _ = try await database.run("UPDATE vapid_key SET secret = $1", secret)
    }
  }
}

extension ObjectStandIn {
  /// How a store uses it; the deadline is longer than a busy machine takes.
  func configuration(
    clock: any SteadyClock = ContinuousClock()
  ) throws -> ObjectStoreConfiguration {
    var configuration = try ObjectStoreConfiguration(url, accessKey: "rich:push", secret: "hidden")
    (configuration.deadline, configuration.clock) = (.seconds(10), clock)
    return configuration
  }
}
