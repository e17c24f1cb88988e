import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// The GIFs of other projects' test suites, beside what giflib's `gif2rgb` reads.
///
/// They come from source distributions on PyPI, which `make tools` downloads.
@Suite struct ForeignGIFTests {
  private static func gifs() throws -> [(name: String, bytes: [UInt8])] {
    let archives = Tool.root.appending(path: ".build/tools/sdists").path
    let names = try Tool.text(
      "for archive in \(archives)/*.tar.gz; do tar xzf $archive --wildcards '*.gif' || true; done; "
        + "find . -name '*.gif' | sort | while read name; do echo $name; base64 -w 0 $name; echo; done"
    ).split(separator: "\n").map(String.init)
    return stride(from: 0, to: names.count - 1, by: 2).map { index in
      (names[index], Data(base64Encoded: names[index + 1]).map(Array.init) ?? [])
    }
  }

  /// The file as far as its first picture, with a background colour that giflib takes.
  private static func firstPicture(_ bytes: [UInt8]) -> [UInt8] {
    let image = GIFBlocks(SourceFile(bytes: bytes)).first { $0.kind == .image }
    guard let image else { return bytes }
    var bytes = bytes.prefix(image.range.upperBound) + [0x3B]
    bytes[11] = 0
    return Array(bytes)
  }

  @Test func `every pixel that gif2rgb reads is the same here, and what it refuses has a reason`()
    throws
  {
    var compared = 0
    let gifs = try Self.gifs()
    for (name, bytes) in gifs {
      let first = Self.firstPicture(bytes)
      let wanted = try? Tool.run("gif2rgb", first)
      let picture: GIFPicture
      do {
        picture = try GIFPicture(SourceFile(bytes: first), limits: Limits())
      } catch {
        #expect(error.reason.hasSuffix("."), "\(name)")
        #expect(wanted == nil, "\(name): giflib reads it: \(error.reason)")
        continue
      }
      if !picture.isWhole {
        #expect(wanted == nil, "\(name): giflib reads all of it, and it is incomplete here")
        continue
      }
      guard let wanted else { continue }
      compared += 1
      let raster = try FrameResampler(whole: picture.size).resample(picture.rows, inLight: false)
      #expect(wanted.count == picture.size.pixels * 3, "\(name)")
      let wrong = (0..<picture.size.pixels).count { place in
        let pixel = raster.colour(place % picture.size.width, place / picture.size.width)
        return pixel.w == 255
          && [pixel.x, pixel.y, pixel.z] != Array(wanted[(place * 3)..<(place * 3 + 3)])
      }
      #expect(wrong == 0, "\(name)")
    }
    #expect(compared >= 30, "of \(gifs.count); make tools downloads them")
  }
}
