import FoundationEssentials
import Glibc
import Testing

@testable import Store

@Suite(.timeLimit(.minutes(1))) struct RenditionsTests {
  private let scratch = Scratch()
  private let key = Digest(of: "key")

  private func fill(_ store: Store, _ text: String = "body") async throws -> Rendition {
    scratch.write(text, to: "tmp/body")
    return try await store.renditions.store(
      key, moving: "\(store.temporaryFolder)/body", contentType: "image/jpeg",
      fields: [.init("X-Note", "a: b"), .init("X-Empty", "")])
  }

  @Test func `finds a rendition again after a restart`() async throws {
    let stored = try await fill(scratch.open())
    #expect(stored.size == 4 && stored.digest == Digest(of: "body"))
    let found = try scratch.open().renditions.rendition(key)
    #expect(found == stored)
    #expect(FileManager.default.contents(atPath: stored.path) == Data("body".utf8))
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test func `finds nothing once the folder was emptied`() async throws {
    let store = try scratch.open()
    _ = try await fill(store)
    #expect(store.renditions.rendition(key) != nil)
    try FileManager.default.removeItem(atPath: "\(scratch.folder)/renditions")
    #expect(store.renditions.rendition(key) == nil)
    mkdir("\(scratch.folder)/renditions", 0o755)
    #expect(try await fill(store).size == 4)
  }

  @Test func `keeps the first of two answers for one key`() async throws {
    let store = try scratch.open()
    let first = try await fill(store)
    #expect(try await fill(store, "another") == first)
    #expect(FileManager.default.contents(atPath: first.path) == Data("body".utf8))
    #expect(scratch.files(in: "tmp").isEmpty)
  }

  @Test func `stores bytes from memory`() async throws {
    let store = try scratch.open()
    let stored = try await store.renditions.store(key, bytes: [1, 2], contentType: "image/png")
    #expect(store.renditions.rendition(key) == stored)
    #expect(FileManager.default.contents(atPath: stored.path) == Data([1, 2]))
  }

  @Test(arguments: ["", ".head"])
  func `takes a rendition that a power cut left short for none`(_ part: String) async throws {
    let path = try await fill(scratch.open()).path + part
    truncate(path, 3)
    let store = try scratch.open()
    #expect(store.renditions.rendition(key) == nil)
    #expect(try await fill(store).size == 4)
    #expect(store.renditions.rendition(key)?.size == 4)
  }

  @Test func `takes a rendition that a power cut left with other bytes for none`() async throws {
    let path = try await fill(scratch.open()).path
    try Data("bo\0\0".utf8).write(to: URL(filePath: path))
    let store = try scratch.open()
    #expect(store.renditions.rendition(key) == nil)
    #expect(try await fill(store).digest == Digest(of: "body"))
    #expect(FileManager.default.contents(atPath: path) == Data("body".utf8))
  }

  @Test func `refuses fields that would not read back`() async throws {
    let store = try scratch.open()
    await #expect(throws: StoreError.self) {
      try await store.renditions.store(key, bytes: [1], contentType: "a\nb: c")
    }
    #expect(scratch.files(in: "renditions").isEmpty && scratch.files(in: "tmp").isEmpty)
  }
}
