import MediaTypes
@testable import Imaging

/// Files with parts added by hand.
enum Surgery {
  /// A JPEG with a segment put behind its start marker.
  static func jpeg(_ bytes: [UInt8], adding marker: UInt8, _ content: [UInt8]) -> [UInt8] {
    let length = content.count + 2
    let segment = [0xFF, marker, UInt8(length >> 8), UInt8(length & 255)] + content
    return bytes.prefix(2) + segment + bytes.dropFirst(2)
  }

  /// A JPEG that says how to turn it, in an EXIF directory with other tags if wanted.
  static func jpeg(_ bytes: [UInt8], turned orientation: Orientation, secret: String = "")
    -> [UInt8]
  {
    jpeg(bytes, adding: 0xE1, Array("Exif\0\0".utf8) + exif(orientation, secret: secret))
  }

  /// A PNG with a chunk put behind its header.
  static func png(_ bytes: [UInt8], adding type: String, _ content: [UInt8]) -> [UInt8] {
    bytes.prefix(33) + RawPNG.chunk(type, content) + bytes.dropFirst(33)
  }

  /// TIFF bytes, little-endian: a description and the orientation.
  static func exif(_ orientation: Orientation, secret: String) -> [UInt8] {
    guard !secret.isEmpty else { return Exif.tiff(orientation) }
    let text = Array(secret.utf8) + [0]
    return [0x49, 0x49, 42, 0, 8, 0, 0, 0, 2, 0]
      + [0x0E, 0x01, 2, 0, UInt8(text.count), 0, 0, 0, 38, 0, 0, 0]
      + [0x12, 0x01, 3, 0, 1, 0, 0, 0, orientation.rawValue, 0, 0, 0]
      + [0, 0, 0, 0] + text
  }
}

extension PictureRenderer {
  /// Renders bytes with options given by name.
  static func render(_ bytes: [UInt8], _ options: (String, String)...) throws -> RenderedPicture {
    try render(bytes, options)
  }

  static func render(_ bytes: [UInt8], _ options: [(String, String)]) throws -> RenderedPicture {
    var chosen = Options()
    for (name, text) in options { try chosen.set(name, text) }
    return try PictureRenderer(chosen).render(SourceFile(bytes: bytes))
  }
}

extension RenderedPicture {
  var encoded: [UInt8] {
    guard case .encoded(let bytes) = content else { return [] }
    return bytes
  }

  var isOriginal: Bool {
    guard case .original = content else { return false }
    return true
  }
}

extension ImagingError {
  /// What a person reads and what the log has beside it.
  var report: String { reason + " " + (detail ?? "") }
}
