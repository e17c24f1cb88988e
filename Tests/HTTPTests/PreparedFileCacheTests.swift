import FoundationEssentials
import Glibc
import Synchronization
import Testing
import Waiting

@testable import HTTP

@Suite(.timeLimit(.minutes(1))) struct PreparedFileCacheTests {
  @Test func `stays within its limits, and is emptied when it is full`() throws {
    try TestServer.inFolder { folder in
      let contents = try (0..<40).map {
        try TestServer.content(TestServer.pattern, in: folder, name: "\($0)")
      }
      for (bytes, files) in [(10_000, 1000), (Int.max, 10)] {
        let metrics = CacheMetrics()
        let cache = PreparedFileCache(bytes: bytes, files: files, metrics: metrics)
        for (index, content) in contents.enumerated() {
          let file = try #require(cache.prepare(content))
          #expect(cache.prepare(content) === file, "what came last is kept")
          #expect(cache.bytes <= 10_000 && cache.files == index % 10 + 1)
          #expect(metrics.snapshot.bytes == cache.bytes && metrics.snapshot.files == cache.files)
        }
        #expect(metrics.snapshot.evicted == 30)
      }
    }
  }

  @Test func `prepares a file that is larger than the cache without keeping it`() throws {
    try TestServer.inFolder { folder in
      let cache = PreparedFileCache(bytes: 500, files: 10)
      let large = try TestServer.content(TestServer.pattern, in: folder)
      #expect(cache.prepare(large) != nil)
      #expect(cache.files == 0)
    }
  }

  @Test func `finds nothing if the file is missing, has another size, or is a link`() throws {
    try TestServer.inFolder { folder in
      let cache = PreparedFileCache(bytes: 10_000, files: 10)
      let good = try TestServer.content(TestServer.pattern, in: folder)
      func content(_ path: String, _ size: Int) -> Content {
        Content(path: path, size: size, mediaType: "a/b", etag: "e", lastModified: .now)
      }
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link", withDestinationPath: good.path)
      #expect(cache.prepare(content(good.path, 999)) == nil)
      #expect(cache.prepare(content(folder + "/missing", 5)) == nil)
      #expect(cache.prepare(content(folder + "/link", 1000)) == nil)
      #expect(cache.prepare(content(folder, 4096)) == nil)
      #expect(cache.prepare(content(good.path, 1000)) != nil)
    }
  }

  @Test func `has small files in memory, and large ones open`() throws {
    try TestServer.inFolder { folder in
      let metrics = CacheMetrics()
      func prepared(_ size: Int) throws -> PreparedFile {
        let bytes = TestServer.longPattern(size)
        let content = try TestServer.content(bytes, in: folder, name: "\(size)")
        return try #require(PreparedFile(content, metrics: metrics))
      }
      for size in [0, 1, PreparedFile.largestInMemory] {
        let small = try prepared(size)
        #expect(small.memory == size && small.file == nil && small.isKept)
        #expect(small.bytes.map { Array($0) } == TestServer.longPattern(size))
        #expect(small.part(0..<size).count == size)
      }
      #expect(metrics.snapshot.descriptors == 0)
      var large: PreparedFile? = try prepared(PreparedFile.largestInMemory + 1)
      #expect(large?.memory == 0 && large?.isKept == true)
      for _ in 0..<2 { #expect(large?.part(5..<1000).count == 995) }
      #expect(metrics.snapshot.descriptors == 1)
      large = nil
      #expect(metrics.snapshot.descriptors == 0)
    }
  }

  @Test func `what is asked for now takes the place of open files that nobody asks for`() throws {
    try TestServer.inFolder { folder in
      let metrics = CacheMetrics(descriptorLimit: 8)
      let cache = PreparedFileCache(bytes: .max, files: 100, open: 8, metrics: metrics)
      let bytes = TestServer.longPattern(20_000)
      let contents = try (0..<30).map {
        try TestServer.content(bytes, in: folder, name: "\($0)")
      }
      for content in contents {
        #expect(cache.prepare(content) != nil)
        #expect(cache[content] != nil, "it is kept")
        #expect(metrics.snapshot.descriptors <= 8)
      }
      #expect(cache[contents[0]] == nil)
    }
  }

  @Test func `keeps no file when the limit of open files is reached`() throws {
    try TestServer.inFolder { folder in
      let metrics = CacheMetrics(descriptorLimit: 1)
      let cache = PreparedFileCache(bytes: .max, files: 10, metrics: metrics)
      let bytes = TestServer.longPattern(20_000)
      let contents = try ["a", "b"].map { try TestServer.content(bytes, in: folder, name: $0) }
      for content in contents { #expect(cache.prepare(content)?.part(0..<9).count == 9) }
      #expect(cache[contents[0]] != nil && cache[contents[1]] == nil)
      #expect(metrics.snapshot.descriptors == 1)
    }
  }

  @Test func `a file that was removed does not stay open`() async throws {
    let file = Mutex<Content?>(nil)
    try await TestServer.with(
      { _ in .immediate(file.withLock { $0 }.map { .content($0) } ?? .empty(404)) }, threads: 1,
      clock: ManualClock()
    ) { served in
      let content = try TestServer.content(TestServer.longPattern(20_000), in: served.folder)
      file.withLock { $0 = content }
      #expect(RawClient(served.port).ask("GET", "/").body.count == content.size)
      await served.pass(.seconds(61))
      #expect(served.server.cacheMetrics.descriptors == 1)
      #expect(unlink(content.path) == 0)
      await served.pass(.seconds(61))
      #expect(served.server.cacheMetrics.descriptors == 0)
    }
  }

  @Test func `a file that was truncated is not whole, and is replaced by another`() throws {
    try TestServer.inFolder { folder in
      let bytes = TestServer.longPattern(20_000)
      let content = try TestServer.content(bytes, in: folder)
      let cache = PreparedFileCache(bytes: .max, files: 10)
      let first = try #require(cache.prepare(content))
      #expect(first.isWhole)
      #expect(truncate(content.path, 19_999) == 0)
      #expect(!first.isWhole && PreparedFile(content, metrics: cache.metrics) == nil)
      try Data(bytes).write(to: URL(filePath: content.path), options: .atomic)
      let second = try #require(PreparedFile(content, metrics: cache.metrics))
      cache.insert(second)
      #expect(second.isWhole && cache[content] === second && cache.files == 1)
    }
  }
}

extension PreparedFileCache {
  /// The content's file, prepared if it was not.
  fileprivate func prepare(_ content: Content) -> PreparedFile? {
    if let known = self[content] { return known }
    let new = PreparedFile(content, metrics: metrics)
    if let new { insert(new) }
    return new
  }
}
