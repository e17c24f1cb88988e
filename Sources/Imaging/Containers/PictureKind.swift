/// The kinds of pictures that are read here, by their first bytes.
package enum PictureKind: Sendable {
  case jpeg, png, gif

  /// - Throws: `unsupported` when the bytes begin like none of them.
  package init(_ source: SourceFile) throws(ImagingError) {
    let head = source.bytes(0..<8)
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.elementsEqual([0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if head.starts(with: "GIF87a".utf8) || head.starts(with: "GIF89a".utf8) {
      self = .gif
    } else {
      throw ImagingError(.unsupported, "The file is no JPEG, PNG or GIF.")
    }
  }

  /// The media type of such files.
  package var mediaType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .gif: "image/gif"
    }
  }
}
