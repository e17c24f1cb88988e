import FoundationEssentials
import Glibc
import Testing

@testable import Store

@Suite(.sqlite, .timeLimit(.minutes(1))) struct BackupTests {
  private let scratch = Scratch()
  private var target: String { "\(scratch.folder)/copy" }

  private func create(_ count: Int, in store: Store) async throws {
    for index in 0..<count {
      var new = NotificationInsert.any(to: alice)
      new.blob = try await store.blobs.add(bytes: Array("content \(index % 5)".utf8))
      _ = try await store.notifications.create(new)
    }
  }

  @Test func `brings back everything there was at one moment, under load`() async throws {
    let store = try scratch.open()
    try await create(20, in: store)
    async let load: Void = create(60, in: store)
    try await store.backup(to: target)
    try await load
    let restored = "\(scratch.folder)/restored"
    try Store.restore(from: target, to: restored)

    let copy = try Store(folder: restored)
    let inbox = try await copy.notifications.inbox(of: alice, limit: 100)
    #expect(inbox.count >= 20)
    // One moment: nothing is missing below the newest.
    #expect(inbox.map(\.notification.id) == Array((0..<inbox.count).reversed()))
    #expect(try await copy.events.pushEvents(for: alice, after: 0, limit: 100).count == inbox.count)
    #expect(try await copy.check().findings.isEmpty)
    #expect(try await copy.notifications.create(.any(to: alice)).notification.id == inbox.count)
  }

  @Test func `holds off the collection of content meanwhile`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: [1])
    scratch.pass(7200)
    let backup = open("\(scratch.folder)/collection.lock", O_RDWR | O_CREAT, 0o600)
    defer { close(backup) }
    #expect(flock(backup, LOCK_SH) == 0)
    #expect(try await store.collect(Retention()).blobs == 0)
    #expect(flock(backup, LOCK_UN) == 0)
    #expect(try await store.collect(Retention()).blobs == 1)
    #expect(store.blobs.size(of: blob.digest) == nil)
    let folder = store.folder
    let isPrevented = try folder.preventingCollection {
      try folder.preventingCollection {}
      return try folder.lockForCollection() == nil
    }
    #expect(isPrevented)
    func lockTwice() throws -> Bool {
      let only = try folder.lockForCollection()
      return try withExtendedLifetime(only) { try only != nil && folder.lockForCollection() != nil }
    }
    #expect(try !lockTwice())
    #expect(try folder.lockForCollection() != nil, "it was released")
  }

  /// A backup in a folder of the root, such as `/backup`, was complete, and then reported as failed.
  @Test func `the folder of a folder in the root is the root`() throws {
    for path in ["/tmp", "/tmp/", "/", scratch.folder, scratch.folder + "/"] {
      try FileSystem.synchronizeParent(of: path)
    }
  }

  @Test func `leaves nothing behind when it fails`() async throws {
    let store = try scratch.open()
    try await create(1, in: store)
    await #expect(throws: StoreError.self) {
      try await store.backup(to: "\(scratch.folder)/nowhere/copy")
    }
    #expect(throws: StoreError.self) {
      try Store.restore(from: "\(scratch.folder)/tmp", to: target)
    }
    #expect(access(target, F_OK) != 0)
  }

  @Test func `writes over nothing`() async throws {
    let store = try scratch.open()
    try await store.backup(to: target)
    await #expect { try await store.backup(to: target) } throws: {
      ($0 as? StoreError)?.code == .conflict
    }
    #expect { try Store.restore(from: target, to: scratch.folder) } throws: {
      ($0 as? StoreError)?.code == .conflict
    }
  }

  @Test func `says how much content is lost, and leaves out none that it cannot read`() async throws
  {
    let store = try scratch.open()
    try await create(2, in: store)
    #expect(try await store.backup(to: target).missing == 0)
    let name = try #require(scratch.files(in: "copy/blobs").first)
    unlink("\(target)/blobs/\(name)")
    #expect(try Store.restore(from: target, to: "\(scratch.folder)/restored").missing == 1)
    unlink("\(scratch.folder)/blobs/\(name)")
    #expect(try await store.backup(to: "\(scratch.folder)/second").missing == 1)
    // What is no folder can be read by nobody.
    let subfolder = name.prefix(2)
    for blobs in [store.folder.blobs, "\(target)/blobs"] {
      #expect(rmdir("\(blobs)/\(subfolder)") == 0)
      #expect(FileManager.default.createFile(atPath: "\(blobs)/\(subfolder)", contents: nil))
    }
    await #expect(throws: StoreError.self) {
      try await store.backup(to: "\(scratch.folder)/third")
    }
    #expect(throws: StoreError.self) {
      try Store.restore(from: target, to: "\(scratch.folder)/fourth")
    }
  }

  @Test func `refuses a backup whose content is damaged`() async throws {
    let store = try scratch.open()
    try await create(1, in: store)
    try await store.backup(to: target)
    let name = try #require(scratch.files(in: "copy/blobs").first)
    scratch.write("damaged", to: "copy/blobs/\(name)")
    #expect { try Store.restore(from: target, to: "\(scratch.folder)/restored") } throws: {
      ($0 as? StoreError)?.code == .damaged
    }
  }
}
