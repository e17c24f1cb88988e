/// What the first bytes say a picture is.
package enum PictureKind: Sendable {
  case jpeg, png, gif, webp, heic, avif

  /// Nil when the bytes begin like none of them.
  package init?(_ source: SourceFile) {
    let head = source.bytes(0..<32)
    func has(_ text: String, at offset: Int) -> Bool {
      head.dropFirst(offset).starts(with: text.utf8)
    }
    if head.starts(with: [0xFF, 0xD8, 0xFF]) {
      self = .jpeg
    } else if head.starts(with: [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A]) {
      self = .png
    } else if has("GIF87a", at: 0) || has("GIF89a", at: 0) {
      self = .gif
    } else if has("RIFF", at: 0), has("WEBP", at: 8) {
      self = .webp
    } else if has("ftypavif", at: 4) || has("ftypavis", at: 4) {
      self = .avif
    } else if ["heic", "heix", "hevc", "heim", "heis", "mif1", "msf1"].contains(where: {
      has("ftyp" + $0, at: 4)
    }) {
      self = .heic
    } else {
      return nil
    }
  }

  /// The media type of such files.
  package var mediaType: String {
    switch self {
    case .jpeg: "image/jpeg"
    case .png: "image/png"
    case .gif: "image/gif"
    case .webp: "image/webp"
    case .heic: "image/heic"
    case .avif: "image/avif"
    }
  }
}
