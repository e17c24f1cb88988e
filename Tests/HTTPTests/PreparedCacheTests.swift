import FoundationEssentials
import Testing

@testable import HTTP

@Suite struct PreparedCacheTests {
  private static func inFolder(_ test: (String) throws -> Void) throws {
    let folder =
      "\(FileManager.default.temporaryDirectory.path)/cache-\(UInt64.random(in: 0 ... .max))"
    try FileManager.default.createDirectory(atPath: folder, withIntermediateDirectories: true)
    defer { try? FileManager.default.removeItem(atPath: folder) }
    try test(folder)
  }

  @Test func `stays within its bounds and keeps what is asked for`() throws {
    try Self.inFolder { folder in
      let contents = try (0..<40).map {
        try Served.content(Served.pattern, in: folder, name: "\($0)")
      }
      for cache in [
        PreparedCache(bytes: 10_000, files: 1000), PreparedCache(bytes: .max, files: 10),
      ] {
        let hot = try #require(cache[contents[0]])
        for content in contents {
          #expect(cache[content] != nil)
          #expect(cache[contents[0]] === hot)
          #expect(cache.bytes <= 10_000)
          #expect(cache.files <= 10)
        }
        #expect(cache.files > 4)
      }
    }
  }

  @Test func `tells what it holds and what had to go, the coldest first`() throws {
    try Self.inFolder { folder in
      let gauge = PreparedGauge()
      let cache = PreparedCache(bytes: 10_000, files: 1000, gauge: gauge)
      let contents = try (0..<40).map {
        try Served.content(Served.pattern, in: folder, name: "\($0)")
      }
      let hot = try #require(cache[contents[0]])
      for content in contents {
        _ = cache[content]
        #expect(cache[contents[0]] === hot, "what is asked for stays")
        #expect(gauge.figures.bytes == cache.bytes && gauge.figures.files == cache.files)
      }
      #expect(gauge.figures.evicted == 40 - cache.files)
      let files = cache.files
      _ = cache[contents[39]]
      #expect(cache.files == files, "what came last is still there")
    }
  }

  @Test func `serves what is larger than the cache without keeping it`() throws {
    try Self.inFolder { folder in
      let cache = PreparedCache(bytes: 500, files: 10)
      let large = try Served.content(Served.pattern, in: folder)
      #expect(cache[large] != nil)
      #expect(cache.files == 0)
    }
  }

  @Test func `finds nothing where the file is missing, of another size, or a link`() throws {
    try Self.inFolder { folder in
      let cache = PreparedCache(bytes: 10_000, files: 10)
      let good = try Served.content(Served.pattern, in: folder)
      func content(_ path: String, _ size: Int) -> Content {
        Content(path: path, size: size, mediaType: "a/b", etag: "e", lastModified: .now)
      }
      try FileManager.default.createSymbolicLink(
        atPath: folder + "/link", withDestinationPath: good.path)
      #expect(cache[content(good.path, 999)] == nil)
      #expect(cache[content(folder + "/missing", 5)] == nil)
      #expect(cache[content(folder + "/link", 1000)] == nil)
      #expect(cache[content(folder, 4096)] == nil)
      #expect(cache[content(good.path, 1000)] != nil)
    }
  }

  @Test func `opens a file only to have the kernel send it, and closes it with the answer`() throws
  {
    try Self.inFolder { folder in
      let gauge = PreparedGauge()
      var prepared = Prepared(try Served.content(Served.pattern, in: folder), gauge: gauge)
      #expect(prepared?.part(0..<1000, streamed: false).count == 1000)
      #expect(gauge.figures.descriptors == 0)
      for _ in 0..<2 { #expect(prepared?.part(0..<1000, streamed: true).count == 1000) }
      #expect(gauge.figures.descriptors == 1)
      prepared = nil
      #expect(gauge.figures.descriptors == 0)
    }
  }
}
