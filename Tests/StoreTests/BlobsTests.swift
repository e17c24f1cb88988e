import CLinux
import FoundationEssentials
import Glibc
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct BlobsTests {
  private let scratch = Scratch()
  private let bytes = [UInt8](repeating: 7, count: 300_000)

  @Test func `names content by its SHA-256`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: Array("abc".utf8))
    let name = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"
    #expect(blob == Blob(digest: try #require(Digest(hex: name)), size: 3))
    #expect(scratch.files(in: "blobs") == ["ba/\(name)"])
    #expect(store.blobs.size(of: blob.digest) == 3)
    #expect(
      FileManager.default.contents(atPath: store.blobs.path(of: blob.digest)) == Data("abc".utf8))
  }

  @Test(arguments: ["", "ab", String(repeating: "A", count: 64), String(repeating: "/", count: 64)])
  func `takes nothing but 64 lower-case digits for a digest`(_ text: String) {
    #expect(Digest(hex: text) == nil)
  }

  @Test func `keeps content on another disk, to which a link leads`() async throws {
    let disk = "/dev/shm/richpush-\(UUID().uuidString)"
    try FileManager.default.createDirectory(
      atPath: disk, withIntermediateDirectories: false, attributes: [.posixPermissions: 0o700])
    defer { try? FileManager.default.removeItem(atPath: disk) }
    _ = try scratch.open()
    let folder = "\(scratch.folder)/blobs"
    try FileManager.default.removeItem(atPath: folder)
    try FileManager.default.createSymbolicLink(atPath: folder, withDestinationPath: disk)
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: bytes)
    let path = store.blobs.path(of: blob.digest)
    #expect(FileManager.default.contents(atPath: path) == Data(bytes))
    let names = try FileManager.default.contentsOfDirectory(
      atPath: "\(disk)/\(blob.digest.hex.prefix(2))")
    #expect(names == [blob.digest.hex] && stat(ofFile: path)?.permissions == 0o444)
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test func `gives up the memory of a blob, not the blob`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: bytes)
    let path = store.blobs.path(of: blob.digest)
    #expect(isInMemory(path))
    store.blobs.dropFromPageCache(blob.digest)
    var status = statfs()
    let isOnDisk = statfs(path, &status) == 0 && status.f_type != 0x0102_1994  // tmpfs
    #expect(!isOnDisk || !isInMemory(path))
    #expect(FileManager.default.contents(atPath: path) == Data(bytes))
  }

  /// Whether the first page of a file is in the page cache (mincore(2)).
  private func isInMemory(_ path: String) -> Bool {
    let file = open(path, O_RDONLY)
    defer { close(file) }
    let page = mmap(nil, 4096, PROT_READ, MAP_SHARED, file, 0)
    defer { munmap(page, 4096) }
    var isThere: UInt8 = 0
    return page.map { mincore($0, 4096, &isThere) } == 0 && isThere & 1 == 1
  }

  @Test func `stores equal content once`() async throws {
    let store = try scratch.open()
    let first = try await store.blobs.add(bytes: bytes)
    scratch.write(String(decoding: bytes, as: UTF8.self), to: "source")
    let source = open("\(scratch.folder)/source", O_RDONLY)
    defer { close(source) }
    let again = try await store.blobs.addBlocking(copying: source)
    #expect(again.blob == first && !again.isNew)
    #expect(scratch.files(in: "blobs").count == 1)
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test func `stores what many add at once whole and once`() async throws {
    let store = try scratch.open()
    let contents = (0..<4).map { [UInt8](repeating: UInt8($0), count: 200_000) }
    try await withThrowingTaskGroup(of: Void.self) { group in
      for index in 0..<32 {
        group.addTask {
          let blob = try await store.blobs.add(bytes: contents[index % 4])
          let stored = FileManager.default.contents(atPath: store.blobs.path(of: blob.digest))
          let isWhole = stored.map { Digest(of: Array($0)) == blob.digest } ?? false
          #expect(isWhole)
        }
      }
      try await group.waitForAll()
    }
    #expect(scratch.files(in: "blobs").count == 4)
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test func `leaves nothing of content beyond the limit`() async throws {
    let store = try scratch.open()
    scratch.write(String(repeating: "x", count: 1000), to: "source")
    let source = open("\(scratch.folder)/source", O_RDONLY)
    defer { close(source) }
    await #expect { try await store.blobs.addBlocking(copying: source, limit: 999) } throws: {
      ($0 as? StoreError)?.code == .tooLarge
    }
    #expect(scratch.files(in: "blobs").isEmpty && scratch.files(in: "tmp").isEmpty)
    #expect(try await store.blobs.addBlocking(copying: source, limit: 1000).blob.size == 1000)
  }

  @Test func `leaves nothing half-done when the disk refuses`() async throws {
    let store = try scratch.open()
    let name = Digest(of: bytes).hex
    rmdir("\(scratch.folder)/blobs/\(name.prefix(2))")
    scratch.write("in the way", to: "blobs/\(name.prefix(2))")
    await #expect(throws: StoreError.self) { try await store.blobs.add(bytes: bytes) }
    #expect(scratch.files(in: "tmp").isEmpty)
    unlink("\(scratch.folder)/blobs/\(name.prefix(2))")
    #expect(try await store.blobs.add(bytes: bytes).size == bytes.count)
  }

  @Test func `replaces a blob that a power cut left short`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: bytes)
    truncate(store.blobs.path(of: blob.digest), 10)
    #expect(try await store.blobs.add(bytes: bytes) == blob)
    #expect(store.blobs.size(of: blob.digest) == bytes.count)
  }

  @Test func `a name that cannot be given harms none that is given in the same round`() async throws
  {
    let store = try scratch.open()
    let contents = (0..<200).map { Array("content \($0)".utf8) }
    let blocked = Digest(of: contents[77]).hex.prefix(2)
    rmdir("\(scratch.folder)/blobs/\(blocked)")
    scratch.write("in the way", to: "blobs/\(blocked)")
    let refused = await withTaskGroup(of: Int?.self) { group in
      for (number, content) in contents.enumerated() {
        group.addTask {
          do {
            _ = try await store.blobs.add(bytes: content)
            return nil
          } catch { return number }
        }
      }
      return await group.compactMap { $0 }.reduce(into: Set<Int>()) { $0.insert($1) }
    }
    let unlucky = contents.indices.filter { Digest(of: contents[$0]).hex.hasPrefix(blocked) }
    #expect(refused == Set(unlucky))
    #expect(scratch.files(in: "tmp").isEmpty)
    for (number, content) in contents.enumerated() where !unlucky.contains(number) {
      let path = store.blobs.path(of: Digest(of: content))
      #expect(FileManager.default.contents(atPath: path) == Data(content))
    }
  }

  @Test func `removes no blob that was renewed since it was looked at`() async throws {
    let store = try scratch.open()
    let blob = try await store.blobs.add(bytes: [1])
    #expect(!store.blobs.remove(blob.digest, ifOlderThan: scratch.now.addingTimeInterval(-1)))
    #expect(store.blobs.size(of: blob.digest) == 1)
    #expect(store.blobs.remove(blob.digest, ifOlderThan: scratch.now.addingTimeInterval(1)))
    #expect(!store.blobs.renew(blob.digest))
  }
}
