import FoundationEssentials
import Glibc
import Testing

@testable import Store

/// What other local users of the machine can do with a data folder.
@Suite(.timeLimit(.minutes(1))) struct PrivacyTests {
  private let scratch = Scratch()

  @Test(.sqlite) func `nothing in the data folder is anybody else's, nor in a backup`() async throws
  {
    let store = try scratch.open()
    try await fill(store)
    let backup = scratch.folder + "/backup"
    try await store.backup(to: backup)
    expectPrivate(scratch.folder)
    expectPrivate(backup)
    #expect(mode("\(scratch.folder)/richpush.db-wal") == 0o600)
  }

  @Test(.sqlite) func `a folder that an earlier version left open is shut when it is opened`()
    async throws
  {
    var digest: Digest?
    do {
      let store = try scratch.open()
      digest = try await fill(store)
    }
    scratch.write("log", to: "access.log")
    for path in try FileManager.default.subpathsOfDirectory(atPath: scratch.folder) {
      let path = "\(scratch.folder)/\(path)"
      chmod(path, isFolder(path) ? 0o755 : 0o644)
    }
    chmod(scratch.folder, 0o777)
    mkdir("\(scratch.folder)/scratch", 0o711)
    chmod("\(scratch.folder)/scratch", 0o711)
    let store = try scratch.open()
    for name in ["blobs", "renditions", "tmp"] {
      #expect(mode("\(scratch.folder)/\(name)") == 0o700, "\(name)")
    }
    #expect(mode("\(scratch.folder)/richpush.db") == 0o600)
    #expect(mode("\(scratch.folder)/access.log") == 0o644, "the store has not made it")
    unlink("\(scratch.folder)/access.log")
    _ = try await store.collect(Retention())
    #expect(mode(store.blobs.path(of: try #require(digest))) == 0o444)
    #expect(mode("\(scratch.folder)/scratch") == 0o711)
    rmdir("\(scratch.folder)/scratch")
    expectPrivate(scratch.folder)
  }

  @Test func `a blob that is lent by a link can be read by the plugin's user, and not written`()
    async throws
  {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: Array("abc".utf8))
    let path = "\(scratch.folder)/source"
    #expect(link(store.blobs.path(of: blob.digest), path) == 0)
    #expect(mode(path) == 0o444)
  }

  @Test(.sqlite, .enabled(if: getuid() == 0, "only root can give files to another user"))
  func `refuses a folder that is another user's, and parts that another user put there`() throws {
    chown(scratch.folder, 65534, 65534)
    let error = #expect(throws: StoreError.self) { try scratch.open() }
    #expect(error?.reason.contains("belongs to nobody, but richpush runs as root") == true)
    #expect(try FileManager.default.contentsOfDirectory(atPath: scratch.folder).isEmpty)
    chown(scratch.folder, 0, 0)
    let elsewhere = Scratch()
    for name in ["blobs", "richpush.db-wal", "lock", "tmp"] {
      scratch.write("", to: "richpush.db")
      symlink(elsewhere.folder, "\(scratch.folder)/\(name)")
      lchown("\(scratch.folder)/\(name)", 65534, 65534)
      let error = #expect(throws: StoreError.self, "\(name)") { try scratch.open() }
      #expect(error?.reason.contains("/\(name) belongs to nobody") == true, "\(error as Any)")
      unlink("\(scratch.folder)/\(name)")
    }
    #expect(throws: Never.self) { try scratch.open() }
  }

  @discardableResult
  private func fill(_ store: Store) async throws -> Digest {
    let blob = try await store.blobs.add(bytes: Array("content".utf8))
    _ = try await store.renditions.store(
      Digest(of: "key"), bytes: Array("rendition".utf8), contentType: "image/png")
    var new = NotificationInsert.any(to: alice)
    new.blob = blob
    _ = try await store.notifications.create(new)
    return blob.digest
  }

  private func expectPrivate(_ folder: String) {
    #expect(mode(folder) == 0o711)
    let paths = (try? FileManager.default.subpathsOfDirectory(atPath: folder)) ?? []
    #expect(paths.contains { $0.hasPrefix("blobs/") && !isFolder("\(folder)/\($0)") })
    for path in paths {
      let expected: mode_t =
        isFolder("\(folder)/\(path)")
        ? path == "backup" ? 0o711 : 0o700
        : path.contains("blobs/") ? 0o444 : 0o600
      #expect(mode("\(folder)/\(path)") == expected, "\(path)")
    }
  }

  private func isFolder(_ path: String) -> Bool {
    var status = stat()
    return lstat(path, &status) == 0 && status.st_mode & S_IFMT == S_IFDIR
  }

  private func mode(_ path: String) -> mode_t {
    var status = stat()
    return lstat(path, &status) == 0 ? status.permissions : 0
  }
}
