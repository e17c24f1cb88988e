import Foundation
import S3
import StandIns
import Testing

@testable import Store

/// The store on a real object store, OpenStack Swift with its S3 interface.
@Suite(.timeLimit(.minutes(30))) struct RealObjectStoreSystemTests {
  private let swift: StandIn
  private let scratch = Scratch(at: Date().timeIntervalSince1970)
  private let store: Store
  private let objects: ObjectStore

  init() throws {
    swift = try StandIn("object_store")
    store = try scratch.open(
      objects: try ObjectStoreConfiguration(
        "s3://content/a/b?endpoint=http://127.0.0.1:\(swift.port)", accessKey: "richpush:media",
        secret: "s3secret"))
    objects = try #require(store.objects)
  }

  @Test func `objects have their sizes and times, also in lists of several pages`() async throws {
    for number in 0..<20 { try await objects.put("many/\(number)", bytes: [UInt8](0...9)) }
    let all = try await objects.list("many/")
    #expect(Set(all.map(\.key)) == Set((0..<20).map { "many/\($0)" }))
    for object in all + [try #require(try await objects.head("many/7"))] {
      #expect(object.size == 10 && abs(Blobs.age(object.modified, at: Date())) < 60)
    }
    try await objects.delete("many/7")
    #expect(try await objects.head("many/7") == nil)
    #expect(try await objects.list("nothing/").isEmpty)
  }

  @Test func `content comes back as it was, and is uploaded once`() async throws {
    let bytes = (0..<300_000).map { UInt8(truncatingIfNeeded: $0 &* 7919 >> 3) }
    let blob = try await store.blobs.add(bytes: bytes)
    unlink(store.blobs.path(of: blob.digest))
    try await store.blobs.fetch(blob.digest, size: blob.size)
    _ = try await store.blobs.add(bytes: bytes)
    #expect(objects.counts.requests[.put]?.succeeded == 1)
    let key = Digest(of: "a")
    let rendition = try await store.renditions.store(
      key, bytes: bytes, contentType: "image/png", fields: Renditions.fields)
    await store.renditions.uploaded(key)
    #expect(objects.counts.requests[.put]?.succeeded == 2)
    store.renditions.remove(key)
    #expect(try await store.renditions.fetch(key) == rendition)
    #expect(try await store.renditions.fetch(Digest(of: "b")) == nil)
    #expect(try await store.check().isSound)
  }

  @Test func `an orphan is noted, and removed when its time is over`() async throws {
    let (orphan, used) = (
      try await store.blobs.add(bytes: [1]), try await store.blobs.add(bytes: [2])
    )
    var new = NotificationInsert.any(to: alice)
    new.blob = used
    _ = try await store.notifications.create(new)
    var retention = Retention()
    (retention.remoteBlobGrace, retention.remoteRenditionAge) = (-3600, -3600)
    let prefixes = [orphan, used].map { String($0.digest.hex.prefix(2)) }
    // Times are whole seconds, and the note must be younger than the blob.
    var removed = 0
    let end = ContinuousClock.now + .seconds(20)
    while removed == 0, .now < end {
      removed += try await store.collectObjects(retention, prefixes: prefixes).blobs
    }
    #expect(removed == 1)
    #expect(try await objects.list("blobs/").map(\.key) == [Blobs.key(used.digest)])
  }
}
