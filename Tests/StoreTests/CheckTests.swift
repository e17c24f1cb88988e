import FoundationEssentials
import Glibc
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct CheckTests {
  private let scratch = Scratch()

  private func filled() async throws -> (store: Store, blob: Blob, rendition: Rendition) {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: Array("content".utf8))
    var new = NotificationInsert.any(to: alice)
    new.blob = blob
    _ = try await store.notifications.create(new)
    var asset = AssetRecord(
      richType: "img", name: "a.png", state: .ready, bytes: 7, modified: scratch.now, stamp: "s")
    asset.blob = blob.digest
    try await store.assets.putAsset(asset)
    let rendition = try await store.renditions.store(
      Digest(of: "key"), bytes: [1, 2, 3], contentType: "image/png")
    scratch.pass(100)
    return (store, blob, rendition)
  }

  /// Changes a byte without changing size or time.
  private func corrupt(_ path: String) throws {
    var status = stat()
    #expect(stat(path, &status) == 0)
    chmod(path, 0o600)
    defer { chmod(path, status.st_mode & 0o7777) }
    let file = open(path, O_WRONLY)
    defer { close(file) }
    #expect(pwrite(file, "X", 1, 0) == 1)
    futimens(file, [status.st_atim, status.st_mtim])
  }

  @Test func `finds nothing wrong with a sound store`() async throws {
    let report = try await filled().store.check(repairing: true)
    #expect(report.findings.isEmpty && report.blobs == 1 && report.renditions == 1)
  }

  @Test func `says what is damaged and touches nothing unless told to`() async throws {
    let (store, blob, rendition) = try await filled()
    try corrupt(store.blobs.path(of: blob.digest))
    try corrupt(rendition.path)
    let before = scratch.files()
    let report = try await store.check()
    #expect(report.findings.count == 2 && !report.isSound)
    #expect(scratch.files() == before)
  }

  @Test func `makes a damaged rendition be made again`() async throws {
    let (store, _, rendition) = try await filled()
    try corrupt(rendition.path)
    #expect(try await store.check(repairing: true).isSound)
    #expect(store.renditions.rendition(Digest(of: "key")) == nil)
    #expect(try await store.check().findings.isEmpty)
  }

  @Test func `sets damaged content aside and has the asset taken in again`() async throws {
    let (store, blob, _) = try await filled()
    try corrupt(store.blobs.path(of: blob.digest))
    let report = try await store.check(repairing: true)
    // The notification's reference stays open until somebody adds the content again.
    #expect(report.findings.map(\.isRepaired) == [true, true, false])
    #expect(try await store.assets.asset("img", "a.png")?.stamp == "")
    #expect(scratch.files().contains("damaged/\(blob.digest)"))
    _ = try await store.blobs.add(bytes: Array("content".utf8))
    #expect(try await store.check().findings.isEmpty)
  }

  @Test(.sqlite) func `finds references to nothing, and content that is gone`() async throws {
    let (store, blob, _) = try await filled()
    try await store.database.write { connection in
      try connection.script("COMMIT; PRAGMA foreign_keys = OFF; BEGIN IMMEDIATE")
      try connection.run("INSERT INTO registration_tag VALUES ('tag', 'nobody')")
      try connection.script("COMMIT; PRAGMA foreign_keys = ON; BEGIN IMMEDIATE; SAVEPOINT change")
    }
    unlink(store.blobs.path(of: blob.digest))
    let sentences = try await store.check().findings.map(\.sentence)
    try #require(sentences.count == 3)
    #expect(sentences[0].contains("registration_tag"))
    #expect(sentences[1].contains("the asset img/a.png is gone"))
    #expect(sentences[2].contains("notification 0 is gone"))
  }

  @Test func `leaves a rendition alone whose header is not written yet`() async throws {
    let (store, _, rendition) = try await filled()
    unlink(rendition.path + ".head")
    _ = FileSystem.setModified(rendition.path, scratch.now.addingTimeInterval(-59))
    #expect(try await store.check().findings.isEmpty)
    scratch.pass(2)
    #expect(try await store.check().findings.count == 1)
  }

  @Test func `names files that are not the store's`() async throws {
    let (store, _, _) = try await filled()
    mkdir("\(scratch.folder)/blobs/zz", 0o755)
    scratch.write("?", to: "blobs/zz/stray")
    let report = try await store.check()
    #expect(report.findings.count == 1 && report.findings[0].sentence.contains("zz/stray"))
  }
}
