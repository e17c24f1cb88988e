extension MediaType {
  /// The type of bytes, by their content alone (WHATWG MIME Sniffing Standard).
  ///
  /// Names and declared types are ignored. Text of no other type is `text/plain`, everything else
  /// `application/octet-stream`. Only the first `prefixLength` bytes matter.
  package static func sniff(_ source: some ByteSource) -> MediaType {
    let head = source.octets(at: 0, count: prefixLength)
    return signature(of: head) ?? bitmap(head) ?? isoMedia(in: head) ?? ogg(in: head) ?? matroska(
      in: head)
      ?? frames(of: head) ?? markup(of: head)
      ?? MediaType(known: isText(head) ? "text/plain" : "application/octet-stream")
  }

  /// Streams that have no signature but frame after frame: MPEG audio, AAC, transport streams.
  private static func frames(of head: Octets) -> MediaType? {
    if MPEGFrame.isStream(head) { return MediaType(known: "audio/mpeg") }
    if ADTSFrame.isStream(head) { return MediaType(known: "audio/aac") }
    let isTransportStream = [0, 188, 376].allSatisfy { head[$0] == 0x47 }
    return isTransportStream ? MediaType(known: "video/mp2t") : nil
  }

  /// Text in the sense of WHATWG MIME Sniffing section 7.2: no binary data byte, or a UTF-16 mark.
  private static func isText(_ head: Octets) -> Bool {
    if head.bytes.starts(with: [0xFE, 0xFF]) || head.bytes.starts(with: [0xFF, 0xFE]) {
      return true
    }
    return head.bytes.allSatisfy { byte in
      byte >= 0x20 || byte == 0x09 || byte == 0x0A || byte == 0x0C || byte == 0x0D || byte == 0x1B
    }
  }

  /// ISO base media (MP4, QuickTime, HEIF): the brands in the `ftyp` box name the type.
  private static func isoMedia(in head: Octets) -> MediaType? {
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
  private static func ogg(in head: Octets) -> MediaType? {
    guard head.has("OggS"), head[4] == 0, let segments = head[26] else { return nil }
    let packet = 27 + segments
    let isVideo = head[packet] == 0x80 && head.has("theora", at: packet + 1)
    return MediaType(known: isVideo ? "video/ogg" : "audio/ogg")
  }

  /// Matroska and WebM: an EBML head whose document type stands near the beginning.
  private static func matroska(in head: Octets) -> MediaType? {
    guard head.bytes.starts(with: [0x1A, 0x45, 0xDF, 0xA3]) else { return nil }
    let isDocument = { (name: StaticString) in
      (4..<min(48, max(4, head.count))).contains {
        head[$0] == 0x42 && head[$0 + 1] == 0x82 && head.has(name, at: $0 + 3)
      }
    }
    if isDocument("webm") { return MediaType(known: "video/webm") }
    return isDocument("matroska") ? MediaType(known: "video/x-matroska") : nil
  }

  /// HTML, XML, SVG and scripts, which are refused, even after a byte order mark.
  private static func markup(of head: Octets) -> MediaType? {
    if head.has("#!") { return MediaType(known: "text/x-shellscript") }
    var bytes = head.bytes[...]
    if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { bytes = bytes.dropFirst(3) }
    bytes = bytes.drop { $0 == 0x20 || (0x09...0x0D).contains($0) && $0 != 0x0B }
    guard bytes.first == UInt8(ascii: "<") else { return nil }
    let text = String(decoding: bytes, as: UTF8.self).lowercased()
    if text.hasPrefix("<svg") { return MediaType(known: "image/svg+xml") }
    if text.hasPrefix("<?php") || text.hasPrefix("<?=") {
      return MediaType(known: "application/x-httpd-php")
    }
    if text.hasPrefix("<?xml") || text.hasPrefix("<!doctype svg") {
      return MediaType(known: text.contains("<svg") ? "image/svg+xml" : "text/xml")
    }
    return elements.contains { startsTag(text, $0) } ? MediaType(known: "text/html") : nil
  }

  /// The tags of WHATWG MIME Sniffing section 7.1, and a few more that a browser would run.
  private static let elements = [
    "<!doctype html", "<html", "<head", "<script", "<iframe", "<h1", "<div", "<font", "<table",
    "<a", "<style", "<title", "<b", "<body", "<br", "<p", "<!--", "<img", "<meta", "<link",
    "<object", "<embed", "<form", "<video", "<audio", "<base", "<math",
  ]

  /// Whether the text begins with the tag and the tag's name ends there.
  private static func startsTag(_ text: String, _ tag: String) -> Bool {
    guard text.hasPrefix(tag) else { return false }
    guard tag != "<!--", let next = text.dropFirst(tag.count).first else { return true }
    return next == ">" || next == "/" || next.isWhitespace
  }

  private static func signature(of head: Octets) -> MediaType? {
    signatures.first { signature in
      head.count >= signature.pattern.count
        && zip(head.bytes, signature.pattern).allSatisfy { $1 == nil || $0 == $1 }
    }?.type
  }

  /// Leading bytes that prove a type (WHATWG MIME Sniffing section 6); `?` is any byte.
  private static let signatures: [(pattern: [UInt8?], type: MediaType)] = [
    ("\u{89}PNG\r\n\u{1A}\n", "image/png"),
    ("\u{FF}\u{D8}\u{FF}", "image/jpeg"),
    ("GIF87a", "image/gif"),
    ("GIF89a", "image/gif"),
    ("RIFF????WEBPVP", "image/webp"),
    ("\u{0}\u{0}\u{1}\u{0}", "image/x-icon"),
    ("\u{0}\u{0}\u{2}\u{0}", "image/x-icon"),
    ("II*\u{0}", "image/tiff"),
    ("MM\u{0}*", "image/tiff"),
    ("\u{FF}\u{A}", "image/jxl"),
    ("\u{0}\u{0}\u{0}\u{C}JXL \r\n\u{87}\n", "image/jxl"),
    ("\u{0}\u{0}\u{0}\u{C}jP  \r\n\u{87}\n", "image/jp2"),
    ("8BPS\u{0}\u{1}", "image/vnd.adobe.photoshop"),
    ("8BPS\u{0}\u{2}", "image/vnd.adobe.photoshop"),
    ("RIFF????WAVE", "audio/wav"),
    ("RF64????WAVE", "audio/wav"),
    ("BW64????WAVE", "audio/wav"),
    ("FORM????AIFF", "audio/aiff"),
    ("FORM????AIFC", "audio/aiff"),
    ("caff\u{0}\u{1}", "audio/x-caf"),
    ("ID3", "audio/mpeg"),
    ("fLaC", "audio/flac"),
    ("#!AMR\n", "audio/amr"),
    ("#!AMR-WB\n", "audio/amr-wb"),
    ("MThd\u{0}\u{0}\u{0}\u{6}", "audio/midi"),
    (".snd\u{0}\u{0}", "audio/basic"),
    ("RIFF????AVI ", "video/x-msvideo"),
    ("0&\u{B2}u\u{8E}f\u{CF}\u{11}", "application/vnd.ms-asf"),
    ("\u{0}\u{0}\u{1}\u{BA}", "video/mpeg"),
    ("\u{0}\u{0}\u{1}\u{B3}", "video/mpeg"),
    ("%PDF-", "application/pdf"),
    ("PK\u{3}\u{4}", "application/zip"),
    ("bplist00", "application/x-plist"),
    ("\u{1F}\u{8B}\u{8}", "application/gzip"),
    ("Rar!\u{1A}\u{7}\u{0}", "application/x-rar-compressed"),
  ].map { (pattern: String, type: String) in
    let bytes = pattern.unicodeScalars.map { $0 == "?" ? nil : UInt8(truncatingIfNeeded: $0.value) }
    return (bytes, MediaType(known: type))
  }

  /// A Windows bitmap; the two letters alone would claim every text that begins with "BM".
  private static func bitmap(_ head: Octets) -> MediaType? {
    guard head.has("BM"), head.little(at: 6, count: 4) == 0,
      let header = head.little(at: 14, count: 4), (12...124).contains(header)
    else { return nil }
    return MediaType(known: "image/bmp")
  }
}
