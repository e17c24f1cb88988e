import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// HEIF, AVIF and WebP files, made by the programs of Debian or found in the tests of Python's libraries.
enum Foreign {
  /// The file that a shell command makes of a PNG called `a.png`, by its suffix.
  static func file(_ canvas: Canvas, alpha: Bool = false, _ command: String) throws -> [UInt8] {
    try Tool.run("cp $file a.png; { \(command); } >&2; cat out.*", canvas.png(alpha: alpha))
  }

  /// A file of a source distribution on PyPI.
  static func sample(_ distribution: String, _ name: String) throws -> [UInt8] {
    let archives = Tool.root.appending(path: ".build/tools/sdists").path
    return try Tool.run("tar xzOf \(archives)/\(distribution)-*.tar.gz --wildcards '*/\(name)'")
  }

  /// Runs `body` with a file on disk, as `img-decode` needs it.
  static func with<Result>(_ bytes: [UInt8], _ body: (SourceFile) throws -> Result) throws -> Result
  {
    let path = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())").path
    try Data(bytes).write(to: URL(filePath: path))
    defer { try? FileManager.default.removeItem(atPath: path) }
    return try body(SourceFile(path: path))
  }

  static func render(_ bytes: [UInt8], _ options: (String, String)...) throws -> RenderedPicture {
    var chosen = Options()
    for (name, text) in options { try chosen.set(name, text) }
    return try with(bytes) { try PictureRenderer(chosen).render($0) }
  }

  static func facts(_ bytes: [UInt8]) throws -> Facts { try with(bytes) { try Facts($0) } }

  /// Why a file is refused; nil when it is not.
  ///
  /// Expects that `img-decode` says so, and does not crash or need all the time or memory that it may have.
  static func refusal(_ bytes: [UInt8]) throws -> ImagingError? {
    do {
      _ = try facts(bytes)
      return nil
    } catch let error as ImagingError {
      #expect(error.detail?.hasPrefix("img-decode ended early") != true, "\(error)")
      return error
    }
  }

  /// The largest result as a picture without loss: the rows as they are decoded.
  static func decoded(_ bytes: [UInt8]) throws -> Raster {
    try with(bytes) { source in
      let kind = try PictureKind(source)
      let stream = try DecodedStream(source, kind, limits: Limits())
      let resampler = FrameResampler(whole: stream.size)
      return try resampler.resample(stream.rows(through: nil), inLight: false)
    }
  }
}

extension PortableMap {
  /// The mean difference of a sample from those of a raster of the same size, as codes from 0 to 255.
  func meanDifference(from raster: Raster) -> Double {
    guard raster.size == size else { return 255 }
    var sum = 0
    for y in 0..<size.height {
      for x in 0..<size.width {
        let (one, two) = (colour(x, y), raster.colour(x, y))
        // A transparent pixel has no colour.
        if one[3] == 0, two[3] == 0 { continue }
        for c in 0..<4 { sum += abs(one[c] - Int(two[c])) }
      }
    }
    return Double(sum) / Double(size.pixels * 4)
  }
}
