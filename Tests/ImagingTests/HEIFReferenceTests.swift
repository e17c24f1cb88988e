import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// HEIF and AVIF files by the references of their items (`Independent/heif_cases.py`).
@Suite(.timeLimit(.minutes(5))) struct HEIFReferenceTests {
  /// All files by name.
  private static let files = Result {
    let program = "\(Tool.root.path)/Tests/ImagingTests/Independent/heif_cases.py"
    var rest = try Tool.run("python \(program)")[...]
    var files: [String: [UInt8]] = [:]
    while let name = line(&rest), let count = line(&rest).flatMap({ Int($0) }) {
      files[name] = Array(rest.prefix(count))
      rest = rest.dropFirst(count)
    }
    return files
  }

  private static func line(_ bytes: inout ArraySlice<UInt8>) -> String? {
    guard let end = bytes.firstIndex(of: 10) else { return nil }
    defer { bytes = bytes[(end + 1)...] }
    return String(decoding: bytes[..<end], as: UTF8.self)
  }

  private static func file(_ name: String) throws -> [UInt8] {
    try #require(try files.get()[name])
  }

  @Test(arguments: [
    "photo as iPhones write it since iOS 18", "photo with long numbers and sizes",
    "photo whose gain map has two owners", "photo whose EXIF data has two owners",
    "photo whose XMP data has two owners",
    "photo whose depth belongs to the tone map first",
    "photo whose gain map is the tone map's only",
    "photo whose EXIF data is the tone map's only",
    "photo with references to nothing", "photo with references in a circle",
    "photo with references of unknown types", "photo whose second picture has no type",
    "photo whose data is nothing, in a box that is not there",
    "photo with many references", "transparent, alpha of two owners",
    "transparent, alpha of the tone map first", "transparent, in two references",
    "transparent, alpha of itself, too", "tiles as iPhones write them since iOS 18",
    "tiles whose gain map is theirs, too", "AV1 with a tone map, as libavif writes it",
    "AV1 whose metadata has two owners",
    "AV1 whose gain map is the tone map's only",
  ])
  func `a photo is shown whatever other items refer to`(name: String) throws {
    let plain = String(name.prefix { $0 != " " && $0 != "," })
    let wanted = try Foreign.decoded(Self.file(plain))
    let seen = try Foreign.decoded(Self.file(name))
    #expect(seen.size == wanted.size && seen.model == wanted.model)
    for y in 0..<wanted.size.height {
      #expect((0..<wanted.size.width).allSatisfy { seen.colour($0, y) == wanted.colour($0, y) })
    }
  }

  @Test func `the alpha of a photo and a tone map makes the photo transparent`() throws {
    let raster = try Foreign.decoded(Self.file("transparent, alpha of two owners"))
    #expect(raster.model == .rgba)
    #expect(raster.colour(32, 1).w < 20 && raster.colour(32, 62).w > 235)
  }

  @Test(
    arguments: [
      ("JPEG", .unsupportedContent, "JPEG, which is not supported. Export it as a JPEG file."),
      ("H.264", .unsupportedContent, "is coded as H.264, which is not supported. Export it"),
      ("tiles of JPEG", .unsupportedContent, "is coded as JPEG, which is not supported."),
      ("unknown coding", .unsupportedContent, "as an unknown format, which is not supported."),
      ("needed property", .unsupportedContent, "its property “iscl”, which is not supported."),
      ("tile is missing", .damaged, "This HEIC is damaged. Export it again."),
      ("tiles of themselves", .damaged, "This HEIC is damaged. Export it again."),
      ("layers of layers", .tooLarge, "This HEIC is too large. Export it smaller."),
    ] as [(String, ImagingError.Code, String)])
  func `a refusal tells what is damaged from what is not supported or too large`(
    name: String, code: ImagingError.Code, sentence: String
  ) throws {
    let error = try #require(try Foreign.refusal(Self.file(name)))
    #expect(error.code == code && error.reason.contains(sentence), "\(error.report)")
  }

  @Test func `a file that ends behind the photo and before its last item is incomplete`() throws {
    let bytes = try Self.file("photo as iPhones write it since iOS 18")
    for count in [1, 10, 62, 70] {
      let error = try Foreign.refusal(bytes.dropLast(count))
      #expect(error?.reason == ImagingError.incomplete.reason, "\(count): \(error?.report ?? "")")
    }
  }

  /// What is said of a file when `img-decode` has less time or memory than it needs.
  private static func error(_ bytes: [UInt8], limit: String) throws -> ImagingError? {
    let program = "\(Tool.root.path)/.build/debug/img-decode"
    return DecodedStream.error(
      reading: try Tool.run("ulimit \(limit); \(program) <$file | cat", bytes))
  }

  @Test func `a picture that takes too much time or memory is too large`() throws {
    let costly = try Self.file("costly")
    let slow = try Self.error(costly, limit: "-t 2")
    #expect(slow?.code == .tooLarge, "\(slow?.report ?? "shown")")
    let large = try Foreign.file(.scene(2000, 1500), "heif-enc a.png -o out.heic")
    #expect(try Self.error(large, limit: "-d 400000") == nil)
    let wide = try Self.error(large, limit: "-d 28000")
    #expect(wide?.code == .tooLarge, "\(wide?.report ?? "shown")")
  }
}
