extension MediaType {
  /// ISO base media (MP4, QuickTime, HEIF): the brands in the `ftyp` box name the type.
  static func isoMedia(in head: Octets) -> MediaType? {
    guard head.has("ftyp", at: 4), let size = head.big(at: 0, count: 4), size >= 12 else {
      return nil
    }
    let end = min(size, head.count)
    let codes = [8] + stride(from: 16, through: end - 4, by: 4)
    let types = codes.compactMap { head.code(at: $0) }.compactMap { brands[$0] }
    // The brand of all HEIF files often stands before the one that names the coding.
    let type = types.first == "image/heif" ? types.first { $0 != "image/heif" } : nil
    return (type ?? types.first).map(MediaType.init(known:))
  }

  private static let brands = [
    "M4A ": "audio/mp4", "M4B ": "audio/mp4", "M4P ": "audio/mp4",
    "heic": "image/heic", "heix": "image/heic", "heim": "image/heic", "heis": "image/heic",
    "hevc": "image/heic", "hevx": "image/heic", "mif1": "image/heif", "msf1": "image/heif",
    "avif": "image/avif", "avis": "image/avif",
    "qt  ": "video/quicktime", "3gp4": "video/3gpp", "3gp5": "video/3gpp", "3gp6": "video/3gpp",
    "isom": "video/mp4", "iso2": "video/mp4", "iso4": "video/mp4", "iso5": "video/mp4",
    "iso6": "video/mp4", "mp41": "video/mp4", "mp42": "video/mp4", "mp4v": "video/mp4",
    "avc1": "video/mp4", "dash": "video/mp4", "M4V ": "video/mp4", "mmp4": "video/mp4",
  ]

  /// Ogg (RFC 3533): the first packet names the codec, and so whether it is sound or film.
  static func ogg(in head: Octets) -> MediaType? {
    guard head.has("OggS"), head[4] == 0, let segments = head[26] else { return nil }
    let packet = 27 + segments
    let isVideo = head[packet] == 0x80 && head.has("theora", at: packet + 1)
    return MediaType(known: isVideo ? "video/ogg" : "audio/ogg")
  }

  /// Matroska and WebM: an EBML head whose document type stands near the beginning.
  static func matroska(in head: Octets) -> MediaType? {
    guard head.bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
    let isDocument = { (name: StaticString) in
      (4..<min(48, max(4, head.count))).contains {
        head[$0] == 0x42 && head[$0 + 1] == 0x82 && head.has(name, at: $0 + 3)
      }
    }
    if isDocument("webm") { return MediaType(known: "video/webm") }
    return isDocument("matroska") ? MediaType(known: "video/x-matroska") : nil
  }
}
