/// Bytes at a fixed place that prove a type (WHATWG MIME Sniffing section 6).
struct Signature {
  /// The bytes in order, nil where any byte will do.
  private let pattern: [UInt8?]
  private let type: MediaType

  /// A pattern as text, in which `?` stands for any byte and `\u{0}` to `\u{FF}` for that byte.
  private init(_ pattern: String, _ type: String) {
    self.pattern = pattern.unicodeScalars.map {
      $0 == "?" ? nil : UInt8(truncatingIfNeeded: $0.value)
    }
    self.type = MediaType(known: type)
  }

  /// The type of the first signature that the bytes carry.
  static func type(of head: Octets) -> MediaType? {
    all.first { $0.stands(in: head.bytes) }?.type ?? bitmap(head)
  }

  private func stands(in bytes: [UInt8]) -> Bool {
    bytes.count >= pattern.count
      && zip(bytes, pattern).allSatisfy { byte, wanted in wanted == nil || byte == wanted }
  }

  private static let all = [
    Signature("\u{89}PNG\r\n\u{1A}\n", "image/png"),
    Signature("\u{FF}\u{D8}\u{FF}", "image/jpeg"),
    Signature("GIF87a", "image/gif"),
    Signature("GIF89a", "image/gif"),
    Signature("RIFF????WEBPVP", "image/webp"),
    Signature("\u{0}\u{0}\u{1}\u{0}", "image/x-icon"),
    Signature("\u{0}\u{0}\u{2}\u{0}", "image/x-icon"),
    Signature("II*\u{0}", "image/tiff"),
    Signature("MM\u{0}*", "image/tiff"),
    Signature("\u{FF}\u{A}", "image/jxl"),
    Signature("\u{0}\u{0}\u{0}\u{C}JXL \r\n\u{87}\n", "image/jxl"),
    Signature("\u{0}\u{0}\u{0}\u{C}jP  \r\n\u{87}\n", "image/jp2"),
    Signature("8BPS\u{0}\u{1}", "image/vnd.adobe.photoshop"),
    Signature("8BPS\u{0}\u{2}", "image/vnd.adobe.photoshop"),
    Signature("RIFF????WAVE", "audio/wav"),
    Signature("RF64????WAVE", "audio/wav"),
    Signature("BW64????WAVE", "audio/wav"),
    Signature("FORM????AIFF", "audio/aiff"),
    Signature("FORM????AIFC", "audio/aiff"),
    Signature("caff\u{0}\u{1}", "audio/x-caf"),
    Signature("ID3", "audio/mpeg"),
    Signature("fLaC", "audio/flac"),
    Signature("#!AMR\n", "audio/amr"),
    Signature("#!AMR-WB\n", "audio/amr-wb"),
    Signature("MThd\u{0}\u{0}\u{0}\u{6}", "audio/midi"),
    Signature(".snd\u{0}\u{0}", "audio/basic"),
    Signature("RIFF????AVI ", "video/x-msvideo"),
    Signature("0&\u{B2}u\u{8E}f\u{CF}\u{11}", "application/vnd.ms-asf"),
    Signature("\u{0}\u{0}\u{1}\u{BA}", "video/mpeg"),
    Signature("\u{0}\u{0}\u{1}\u{B3}", "video/mpeg"),
    Signature("%PDF-", "application/pdf"),
    Signature("PK\u{3}\u{4}", "application/zip"),
    Signature("bplist00", "application/x-plist"),
    Signature("\u{1F}\u{8B}\u{8}", "application/gzip"),
    Signature("Rar!\u{1A}\u{7}\u{0}", "application/x-rar-compressed"),
  ]

  /// A Windows bitmap; the two letters alone would claim every text that begins with "BM".
  private static func bitmap(_ head: Octets) -> MediaType? {
    guard head.has("BM"), head.little(at: 6, count: 4) == 0,
      let header = head.little(at: 14, count: 4), (12...124).contains(header)
    else { return nil }
    return MediaType(known: "image/bmp")
  }
}
