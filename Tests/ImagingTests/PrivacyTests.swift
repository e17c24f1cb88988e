import Foundation
import Testing

import MediaTypes
@testable import Imaging

/// What exiftool finds in files that were full of private things.
@Suite struct PrivacyTests {
  private static let secrets =
    "-GPSLatitude=52.5 -GPSLatitudeRef=N -GPSLongitude=13.4 -GPSLongitudeRef=E -SerialNumber=PRIV123 "
    + "-LensSerialNumber=PRIV123 -Artist=PRIV123 -XMP-aux:SerialNumber=PRIV123 -XMP-exif:GPSLatitude=52.5 "
    + "-XMP-dc:Creator=PRIV123 -XMP-xmpMM:DocumentID=PRIV123"

  /// A file with everything exiftool can put into it, and what it cannot: a second picture behind the end.
  private static func dirty(_ kind: PictureKind, _ orientation: Orientation) throws -> [UInt8] {
    let canvas = Canvas.scene(300, 200)
    let turn = "-n -Orientation=\(orientation.rawValue) \(secrets)"
    switch kind {
    case .jpeg:
      let thumbnail = try Tool.run("cjpeg", PortableMap.bytes(of: Canvas.scene(32, 24)))
      var bytes = try Tool.run(
        "cp in a.jpg; djpeg a.jpg | pnmscale 0.1 | cjpeg > t.jpg; exiftool -q \(turn) "
          + "-IPTC:Keywords=PRIV123 -Comment=PRIV123 '-ThumbnailImage<=t.jpg' '-PhotoshopThumbnail<=t.jpg' "
          + "-JFIF:XResolution=72 a.jpg && cat a.jpg", canvas.jpeg())
      bytes = Surgery.jpeg(bytes, adding: 0xE2, Array("MPF\0PRIV123".utf8))
      return bytes + thumbnail + Array("PRIV123".utf8)
    case .png:
      return try Tool.run(
        "cp in a.png; exiftool -q \(turn) -PNG:Comment=PRIV123 -PNG:Author=PRIV123 a.png && cat a.png",
        canvas.png()) + Array("PRIV123".utf8)
    default:
      return try Tool.run(
        "ppmquant 256 2>/dev/null | pamtogif > a.gif; exiftool -q -Comment=PRIV123 -XMP-dc:Creator=PRIV123 "
          + "-XMP-aux:SerialNumber=PRIV123 a.gif && cat a.gif", PortableMap.bytes(of: canvas))
    }
  }

  /// What exiftool says of a file that is not about its pixels.
  private static func found(_ bytes: [UInt8]) throws -> [String] {
    let harmless = ["ExifTool", "System", "File", "JFIF", "PNG", "GIF", "Composite", "Adobe"]
    return try Tool.text(
      "exiftool -a -u -U -G1 -ee -s -n in; strings -n 4 in | grep PRIV || true", bytes
    )
    .split(separator: "\n").map(String.init)
    .filter { line in
      let isAboutPixels = harmless.contains { line.hasPrefix("[\($0)]") }
      return !isAboutPixels
        || ["GPS", "Serial", "Thumbnail", "Comment", "PRIV", "Trailer", "Warning"]
          .contains { line.contains($0) }
    }
  }

  @Test(arguments: [PictureKind.jpeg, .png, .gif], [Orientation.upright, .clockwise])
  func `no output holds a place, a serial number, a thumbnail or a name`(
    kind: PictureKind, orientation: Orientation
  ) throws {
    let bytes = try Self.dirty(kind, orientation)
    #expect(try Self.found(bytes).count > (kind == .gif ? 1 : 8))
    for options in [[], [orientation == .upright ? ("profile", "ios") : ("width", "64")]] {
      let rendition = try PictureRenderer.render(bytes, options)
      let made = rendition.bytes(from: SourceFile(bytes: bytes))
      var left = try Self.found(made)
      if options.isEmpty, orientation != .upright, kind != .gif {
        // the original keeps how to turn it, alone
        #expect(left.contains { $0.contains("Orientation") && $0.hasSuffix("6") })
        left.removeAll { $0.contains("Orientation") || $0.contains("ExifByteOrder") }
      }
      #expect(left == [], "\(options)")
    }
  }
}
