import Foundation
import StandIns
import Testing

@testable import Imaging

/// The most memory that the whole `img` process has, as `--explain` says it.
@Suite struct MemoryTests {
  /// In KiB.
  private func most(_ bytes: [UInt8], _ options: [String]) throws -> Int {
    let file = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
    try Data(bytes).write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    let tests = try FileManager.default.destinationOfSymbolicLink(atPath: "/proc/self/exe")
    let program = URL(filePath: tests).deletingLastPathComponent().appending(path: "img").path
    let (exitCode, output) = try StartedProgram.run(
      program, ["render", file.path, "/dev/null", "--explain"] + options)
    try #require(exitCode == 0)
    let line = String(decoding: output, as: UTF8.self).split(separator: "\n").last
    return try #require(line.flatMap { Int($0.filter(\.isNumber)) })
  }

  /// With stray bytes before its end, which leaves it to libjpeg's rows.
  private func unusual(_ bytes: [UInt8]) -> [UInt8] {
    Array(bytes.dropLast(2)) + [UInt8](repeating: 0x55, count: 20) + [0xFF, 0xD9]
  }

  @Test(arguments: ["1024", "400", "160"])
  func `a baseline JPEG of 12 megapixels takes 20 MiB at most`(width: String) throws {
    let picture = BlockJPEG.stripes(4032, 3024)
    #expect(try most(picture, ["--width", width]) <= 20 << 10)
    #expect(try most(unusual(picture), ["--width", width]) <= 20 << 10)
  }

  @Test func `a JPEG of 100 megapixels to 512 pixels takes 32 MiB more than the start`() throws {
    let picture = BlockJPEG.stripes(11_984, 8336)
    let start = try most(BlockJPEG.stripes(16, 16), ["--width", "8"])
    #expect(try most(picture, ["--width", "512"]) - start < 32 << 10)
    #expect(try most(unusual(picture), ["--width", "512"]) - start < 32 << 10)
  }

  @Test func `a progressive JPEG is refused when its coefficients take more than 192 MiB`() throws {
    var picture = BlockJPEG.stripes(9000, 8000)
    let frame = try #require(
      picture.indices.first { picture[$0] == 0xFF && picture[$0 + 1] == 0xC0 })
    picture[frame + 1] = 0xC2
    let error = #expect(throws: ImagingError.self) {
      try PictureRenderer.render(picture, ("width", "160"))
    }
    #expect(
      error?.reason
        == "This progressive JPEG is too large. Export it smaller, or without “progressive”.")
    #expect(error?.detail?.contains("205 MiB of memory, the limit is 192 MiB") == true)
  }
}
