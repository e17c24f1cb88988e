import Foundation
import StandIns
import Testing
import Waiting

@testable import Store

/// What the object store has of an erased person, whichever node has put it there.
@Suite(.timeLimit(.minutes(1))) struct ErasedObjectsTests {
  private let objects: ObjectStandIn
  private let scratch = Scratch(at: Date().timeIntervalSince1970)
  private let clock = ManualClock()
  private let store: Store
  private let picture = Array("a picture of alice".utf8)
  private let shared = Array("a picture for all".utf8)

  init() throws {
    objects = try ObjectStandIn()
    store = try scratch.open(objects: try objects.configuration(clock: clock))
  }

  private func send(_ bytes: [UInt8], to users: UserID...) async throws -> Blob {
    let blob = try await store.blobs.add(bytes: bytes)
    try await notify(of: blob, users)
    return blob
  }

  private func notify(of blob: Blob, _ users: [UserID]) async throws {
    var new = NotificationInsert(message: "m", richType: "img", payload: "picture.png")
    (new.recipients, new.sender, new.blob) = (users, shop, blob)
    new.to = users.map { $0 == alice ? "username:alice" : "username:bob" }
    _ = try await store.notifications.create(new)
  }

  /// Erases alice, as far as it goes at once.
  private func erase() async throws -> ErasureReport {
    scratch.pass(1)
    #expect(try await store.erasures.beginErasure(of: alice, keepingAdmin: false))
    return try await store.continueErasures()
  }

  /// A name of a rendition of a blob, with the last digits of its key.
  private func rendition(of blob: Blob, _ key: String = "1") -> String {
    Renditions.key(Digest(of: key), of: Rendition.source(of: blob.digest))
  }

  private func collect(_ blob: Blob) async throws -> ObjectUpkeepReport {
    let prefixes = [blob.digest, Rendition.source(of: blob.digest)].map { $0.hex.prefix(2) }
    return try await store.collectObjects(Retention(), prefixes: Set(prefixes.map(String.init)))
  }

  private func isAnywhere(_ blob: Blob) -> Bool {
    let digests = [blob.digest.hex, Rendition.source(of: blob.digest).hex]
    return objects.keys.contains { key in
      let bytes = objects.bytes(key) ?? Data()
      return digests.contains { key.contains($0) || bytes.range(of: Data($0.utf8)) != nil }
    }
  }

  @Test func `content that nobody else has goes, with what other nodes made of it`() async throws {
    let (own, both) = (try await send(picture, to: alice), try await send(shared, to: alice, bob))
    for number in 0..<5 {
      for blob in [own, both] { objects.set(rendition(of: blob, "\(number)"), Data([1])) }
    }
    objects.set("orphans/\(own.digest)", Data(own.digest.hex.utf8))
    objects.set("removing/\(own.digest)", Data(own.digest.hex.utf8), modified: .distantPast)
    let report = try await erase()
    #expect(report.erased == [alice] && report.obstacle == nil)
    #expect(!isAnywhere(own), "\(objects.keys)")
    #expect(objects.keys.count { $0.hasPrefix("renditions/") } == 5)
    #expect(objects.bytes(Blobs.key(both.digest)) == Data(shared))
  }

  @Test func `what was made of literal content goes as well`() async throws {
    var new = NotificationInsert(message: "m", richType: "url", payload: "https://alice.example")
    (new.recipients, new.sender, new.to) = ([alice], shop, ["username:alice"])
    _ = try await store.notifications.create(new)
    let source = Rendition.source(of: nil, payload: new.payload, message: new.message)
    objects.set(Renditions.key(Digest(of: "key"), of: source), Data([1]))
    #expect(try await erase().erased == [alice])
    #expect(objects.keys.allSatisfy { $0.hasPrefix("owners/") }, "\(objects.keys)")
  }

  @Test func `while the object store is away an erasure is not done, and goes on when it is back`()
    async throws
  {
    let own = try await send(picture, to: alice)
    objects.fail { _, _ in .status(503, "SlowDown") }
    let report = try await clock.withoutWaiting { try await erase() }
    #expect(report.erased.isEmpty && report.obstacle?.contains("is away") == true, "\(report)")
    #expect(try await store.erasures.erasures().map(\.user) == [alice])
    #expect(isAnywhere(own))
    objects.heal()
    try await clock.withoutWaiting {
      try await eventually("it is back") { store.objects?.counts.isAway == false }
    }
    #expect(try await store.continueErasures().erased == [alice])
    #expect(!isAnywhere(own))
  }

  @Test func `nothing is removed where another data folder may need it, and the reason is given`()
    async throws
  {
    let own = try await send(picture, to: alice)
    objects.set("owners/other", Data([1]))
    let report = try await erase()
    #expect(report.erased.isEmpty && report.obstacle?.contains("owners/other") == true)
    #expect(isAnywhere(own))
    objects.set("owners/other", nil)
    #expect(try await store.continueErasures().erased == [alice])
    #expect(!isAnywhere(own))
  }

  @Test func `the same content is refused until it is gone, and then stays when it is sent again`()
    async throws
  {
    let own = try await send(picture, to: alice)
    scratch.pass(1)
    #expect(try await store.erasures.beginErasure(of: alice, keepingAdmin: false))
    let erasure = try #require(try await store.erasures.erasures().first)
    try await store.erasures.eraseRecords(of: erasure)
    // Its file and the object are still there.
    let error = await #expect(throws: StoreError.self) { try await notify(of: own, [bob]) }
    #expect(error?.code == .busy)
    scratch.pass(1)
    #expect(try await store.continueErasures().erased == [alice])
    // What had been stored before is not any more.
    await #expect(throws: StoreError.self) { try await notify(of: own, [bob]) }
    let again = try await send(picture, to: bob)
    #expect(again == own && objects.bytes(Blobs.key(own.digest)) == Data(picture))
    _ = try await store.continueErasures()
    _ = try await collect(own)
    #expect(objects.bytes(Blobs.key(own.digest)) == Data(picture))
  }

  @Test func `content to which something has referred meanwhile stays`() async throws {
    let own = try await send(picture, to: alice)
    scratch.pass(1)
    #expect(try await store.erasures.beginErasure(of: alice, keepingAdmin: false))
    let erasure = try #require(try await store.erasures.erasures().first)
    try await store.erasures.eraseRecords(of: erasure)
    // As a transaction that had begun before.
    try await store.addReference(to: own)
    #expect(try await store.continueErasures().erased == [alice])
    #expect(objects.bytes(Blobs.key(own.digest)) == Data(picture))
  }

  @Test func `a rendition whose upload was under way is removed`() async throws {
    let key = Digest(of: "a")
    let name = Renditions.key(key, of: Renditions.source)
    // As the erasure does while the request is on its way.
    objects.fail { [store] request, _ in
      if request.method == "PUT" { store.renditions.remove(key) }
      return nil
    }
    _ = try await store.renditions.store(
      key, bytes: [1], contentType: "image/png", fields: Renditions.fields)
    try await eventually("it is removed") {
      objects.received.contains { $0.method == "DELETE" && $0.key == name }
    }
    try await eventually("it is not there") { !objects.keys.contains(name) }
  }

  @Test func `what a node uploads that does not know of the erasure yet is removed later`()
    async throws
  {
    let own = try await send(picture, to: alice)
    #expect(try await erase().erased == [alice])
    objects.set(rendition(of: own), Data([1]), modified: scratch.now.addingTimeInterval(60))
    objects.set(Blobs.key(own.digest), Data(picture), modified: scratch.now)
    #expect(try await collect(own).renditions == 1)
    _ = try await store.continueErasures()
    #expect(!isAnywhere(own), "\(objects.keys)")
  }
}

extension Store {
  /// Refers to a blob, whatever is known of it.
  fileprivate func addReference(to blob: Blob) async throws {
    let sql = """
      INSERT INTO asset(rich_type, name, state, blob, bytes, stamp, modified, updated, folded)
      VALUES ('img', 'a.png', 'ready', $1, 1, '', 0, 0, 'a.png')
      """
    if let tables = tables as? PostgresTables {
      try await tables.database.run(sql, blob.digest)
    } else {
      try await database.run(sql, blob.digest)
    }
  }
}
