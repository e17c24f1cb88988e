import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// PngSuite and its like, beside what netpbm's pngtopam reads through libpng.
@Suite struct PNGReadingTests {
  private static let script = Tool.root.appending(path: "Tests/ImagingTests/Fixtures/pngs.py").path

  private struct File {
    let name: String
    let bytes: [UInt8]
    let read: [UInt8]
  }

  private static func files() throws -> [File] {
    var rest = try Tool.run("python \(script)")[...]
    var files: [File] = []
    while let end = rest.firstIndex(of: 10) {
      let words = String(decoding: rest[..<end], as: UTF8.self).split(separator: " ")
      let (size, readSize) = (try #require(Int(words[1])), try #require(Int(words[2])))
      rest = rest[(end + 1)...]
      files.append(
        File(
          name: String(words[0]), bytes: Array(rest.prefix(size)),
          read: Array(rest.dropFirst(size).prefix(readSize))))
      rest = rest.dropFirst(size + readSize)
    }
    return files
  }

  /// The transparent colour of an RGB picture, which pngtopam does not see.
  private static func clear(in bytes: [UInt8]) -> [Int]? {
    let key = Chunks(png: SourceFile(bytes: bytes)).first { $0.id == "tRNS" }
    guard bytes[25] == 2, let key else { return nil }
    let values = Octets(bytes: Array(bytes[key.body]))
    return [0, 2, 4].compactMap { values.big(at: $0, count: 2) }
  }

  private static func isSame(_ pixels: Decoded, _ wanted: PortableMap, clear: [Int]? = nil) -> Bool
  {
    guard pixels.size == wanted.size else { return false }
    return (0..<wanted.size.height).allSatisfy { y in
      (0..<wanted.size.width).allSatisfy { x in
        let at = (y * wanted.size.width + x) * 3
        let isClear = clear.map { Array(wanted.samples[at..<at + 3]) == $0 } ?? false
        return pixels.colour(x, y)
          == (isClear ? wanted.colour(x, y).prefix(3) + [0] : wanted.colour(x, y))
      }
    }
  }

  @Test func `every file of PngSuite, and every colour type, depth and size, has libpng's pixels`()
    throws
  {
    let files = try Self.files()
    #expect(files.filter { $0.name.contains("/") }.count == 174, "PngSuite is not whole")
    #expect(files.count > 500)
    for file in files {
      if file.read.isEmpty {
        #expect(throws: ImagingError.self, "\(file.name)") { try Decoded(file.bytes) }
        continue
      }
      let wanted = try #require(PortableMap(file.read))
      for checking in [true, false] {
        let read = try Decoded(file.bytes, checking: checking)
        #expect(Self.isSame(read, wanted, clear: Self.clear(in: file.bytes)), "\(file.name)")
      }
    }
  }

  @Test(arguments: ["-nofilter", "-sub", "-up", "-avg", "-paeth", "-compression 0", "-interlace"])
  func `every filter and compression has libpng's pixels`(flag: String) throws {
    let scene = Canvas.scene(61, 43)
    let bytes = try Tool.run("pnmtopng \(flag)", PortableMap.bytes(of: scene))
    let drawn = try #require(PortableMap(PortableMap.bytes(of: scene)))
    #expect(Self.isSame(try Decoded(bytes), drawn))
    #expect(Self.isSame(try Decoded(bytes, checking: false), drawn))
  }

  /// More than the reader's buffer holds, whose rest is in the last IDAT chunk.
  @Test(arguments: [190, 192, 194])
  func `a PNG in small chunks has all of its rows`(edge: Int) throws {
    let whole = RawPNG(PixelSize(edge, edge), colourType: 6, depth: 8) { x, y in
      let noise = (x * 7919 + y * 104_729 + x * y * 31) >> 3
      return [noise & 3, noise >> 2 & 3, noise >> 4 & 3, 255]
    }.bytes
    let source = SourceFile(bytes: whole)
    let data = Chunks(png: source).filter { $0.id == "IDAT" }.flatMap { source.bytes($0.body) }
    var bytes = Array(whole.prefix(33))
    for start in stride(from: 0, to: data.count, by: 8192) {
      bytes += RawPNG.chunk("IDAT", Array(data[start..<min(start + 8192, data.count)]))
    }
    bytes += RawPNG.chunk("IEND", [])
    #expect(try Decoded(bytes, checking: false).largestDifference(from: Decoded(bytes)) == 0)
  }
}
