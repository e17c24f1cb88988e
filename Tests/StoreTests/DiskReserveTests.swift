import FoundationEssentials
import Glibc
import Testing

@testable import Store

/// What is written while the disk of the data folder has no space, and what waits.
@Suite(.timeLimit(.minutes(2))) struct DiskReserveTests {
  private let scratch = Scratch()
  private static let size = 1 << 20

  private var kept: Int? {
    stat(ofFile: "\(scratch.folder)/reserve").map { Int($0.st_blocks) * 512 }
  }

  @Test(.sqlite) func `without space what takes some is refused, and all else is written`()
    async throws
  {
    let store = try scratch.open(reserve: Self.size)
    #expect(store.reserve.hasSpace && kept == Self.size)
    var refused: Set<String> = []
    for function in WritingFunction.all {
      let call = try await function.prepare(store, scratch)
      #expect(store.reserve.release() && kept == 0)
      do { try await call.body(store) } catch let error as StoreError where error.code == .full {
        #expect(error.retryAfter != nil)
        refused.insert(function.name)
      }
      store.reserve.update()
      try #require(store.reserve.hasSpace && kept == Self.size)
    }
    #expect(refused == WritingFunction.needingSpace)
  }

  @Test(.sqlite) func `content and renditions wait as well, and what is stored already does not`()
    async throws
  {
    let store = try scratch.open(reserve: Self.size)
    let known = try await store.blobs.add(bytes: [1])
    #expect(store.reserve.release())
    #expect(try await store.blobs.add(bytes: [1]) == known)
    await #expect(throws: DiskReserve.noSpace) { try await store.blobs.add(bytes: [2]) }
    await #expect(throws: DiskReserve.noSpace) {
      try await store.renditions.store(Digest(of: "key"), bytes: [3], contentType: "text/plain")
    }
    await #expect(throws: DiskReserve.noSpace) { try await store.probeSpace() }
    store.reserve.update()
    _ = try await store.blobs.add(bytes: [2])
    try await store.probeSpace()
  }

  @Test(.sqlite) func `a change that is refused does not take the space of others`() async throws {
    let store = try scratch.open(reserve: Self.size)
    #expect(store.reserve.release())
    let refused = Task { try await store.notifications.create(.any(to: alice)) }
    let written = Task { try await store.accounts.addUser("dora", hash: "", role: .device) }
    await #expect(throws: DiskReserve.noSpace) { try await refused.value }
    try await written.value
    #expect(try await store.accounts.user(named: "dora") != nil)
  }

  @Test(.sqlite) func `it is of one size again after a crash and another version`() throws {
    _ = try scratch.open()
    for text in ["", "half", String(repeating: "x", count: 2 * Self.size)] {
      scratch.write(text, to: "reserve")
      let store = try scratch.open(reserve: Self.size)
      #expect(kept == Self.size && store.reserve.hasSpace)
    }
  }

  @Test func `nothing is kept for another database or by commands`() throws {
    let store = try scratch.open(.sharedOrNew, reserve: Self.size)
    #expect(kept == nil && store.reserve.hasSpace && !store.reserve.release())
    guard Scratch.server != nil else { return }
    scratch.write("of an earlier database", to: "reserve")
    let node = try scratch.open(reserve: Self.size)
    #expect(kept == nil && node.reserve.hasSpace && !node.reserve.release())
  }
}

/// A disk that is full to the last byte.
@Suite(
  .timeLimit(.minutes(2)),
  .enabled(if: getuid() == 0, "a small file system is mounted, which takes root"),
  .sqlite)
struct DiskReserveSystemTests {
  /// A mounted file system of 64 MB, of which an eighth is kept.
  private final class Disk {
    let folder: String

    init() throws {
      folder =
        FileManager.default.temporaryDirectory
        .appending(path: "richpush-disk-\(UInt64.random(in: .min ... .max))").path
      mkdir(folder, 0o700)
      try #require(mount("tmpfs", folder, "tmpfs", 0, "size=64m,mode=0700") == 0)
    }

    deinit {
      umount2(folder, Int32(MNT_DETACH))
      rmdir(folder)
    }

    func fill() {
      let file = open(folder + "/ballast", O_WRONLY | O_CREAT | O_APPEND, 0o600)
      defer { close(file) }
      let zeros = [UInt8](repeating: 0, count: 65_536)
      var size = zeros.count
      while size > 0 { if write(file, zeros, size) <= 0 { size /= 2 } }
    }

    func empty() { unlink(folder + "/ballast") }
  }

  @Test func `what is small is committed, is there after a crash, and all is when there is space`()
    async throws
  {
    let disk = try Disk()
    var store: Store? = try Store(folder: disk.folder, reserve: DiskReserve.size)
    do {
      let store = try #require(store)
      try await store.accounts.addUser("shop", hash: "", role: .publisher)
      let shop = try #require(try await store.accounts.user(named: "shop")).id
      for _ in 0..<2 { _ = try await store.notifications.create(.any(to: shop)) }
      let token = try await store.addSession(of: shop)
      disk.fill()
      #expect(DiskSpace(of: disk.folder)?.free == 0)
      // The first that meets the full disk is refused, and what waits beside it is not.
      let refused = Task { try await store.notifications.create(.any(to: shop)) }
      let read = Task { try await store.notifications.markRead(0, user: shop) }
      await #expect { try await refused.value } throws: { ($0 as? StoreError)?.code == .full }
      #expect(try await read.value)
      #expect(try await store.notifications.withdraw(1))
      let session = try #require(try await store.sessions.sessionUser(withToken: token)).session
      #expect(try await store.sessions.removeSession(session, user: shop))
      // Many more than fit into the pages that the database has.
      for number in 0..<200 {
        try await store.accounts.addUser("user\(number)", hash: "", role: .device)
      }
      #expect(!store.reserve.hasSpace)
      await #expect(throws: DiskReserve.noSpace) {
        try await store.notifications.create(.any(to: shop))
      }
    }
    store = nil
    // The next start finds the disk full.
    let next = try Store(folder: disk.folder, reserve: DiskReserve.size)
    #expect(!next.reserve.hasSpace)
    let shop = try #require(try await next.accounts.user(named: "shop")).id
    #expect(try await next.accounts.user(named: "user199") != nil)
    let inbox = try await next.notifications.inbox(of: shop, limit: 9)
    #expect(inbox.count == 1 && inbox.first?.notification.id == 0, "\(inbox)")
    disk.empty()
    next.reserve.update()
    #expect(next.reserve.hasSpace)
    #expect(try await next.notifications.create(.any(to: shop)).notification.id == 2)
  }

  @Test func `a start on a disk that others have filled takes the space that was kept`()
    async throws
  {
    let disk = try Disk()
    var store: Store? = try Store(folder: disk.folder, reserve: DiskReserve.size)
    try await store?.probe()
    store = nil
    disk.fill()
    let next = try Store(folder: disk.folder, reserve: DiskReserve.size)
    try await next.accounts.addUser("alice", hash: "", role: .device)
    await #expect(throws: DiskReserve.noSpace) { try await next.probeSpace() }
  }

  @Test func `renditions make space before anything is refused`() async throws {
    let disk = try Disk()
    let store = try Store(folder: disk.folder, reserve: DiskReserve.size)
    let (old, new) = (Digest(of: "old"), Digest(of: "new"))
    for key in [old, new] {
      _ = try await store.renditions.store(
        key, bytes: [UInt8](repeating: 7, count: 12 << 20), contentType: "image/png")
    }
    #expect(FileSystem.setModified(store.renditions.path(of: old), Date() - 3600))
    #expect(await store.makeSpace(Retention()).count == 0, "there is space")
    disk.fill()
    #expect(await store.makeSpace(Retention()).count == 1)
    #expect(store.renditions.rendition(old) == nil && store.renditions.rendition(new) != nil)
    store.reserve.update()
    #expect(store.reserve.hasSpace)
  }
}
