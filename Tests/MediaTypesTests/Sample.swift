import Testing

/// Bytes of a known type, short enough to be written down.
struct Sample: Sendable, CustomTestStringConvertible {
  let type: String
  let bytes: [UInt8]

  var testDescription: String { "\(type) (\(bytes.count) bytes)" }

  init(_ type: String, _ bytes: [UInt8]) {
    self.type = type
    self.bytes = bytes
  }

  init(_ type: String, _ text: String) {
    self.init(type, text.unicodeScalars.map { UInt8($0.value) })
  }

  static func mp3Frame(head: [UInt8] = [0xFF, 0xFB, 0x90, 0x64], count: Int = 417) -> [UInt8] {
    head + [UInt8](repeating: 0, count: count - head.count)
  }

  private static func ftyp(_ major: String, _ others: String...) -> String {
    let size = Character(Unicode.Scalar(UInt8(16 + 4 * others.count)))
    return "\0\0\0\(size)ftyp\(major)\0\0\0\0" + others.joined()
  }

  static let types = [
    Sample("image/png", "\u{89}PNG\r\n\u{1A}\n\0\0\0\rIHDR"),
    Sample("image/jpeg", "\u{FF}\u{D8}\u{FF}\u{E0}"),
    Sample("image/gif", "GIF89a\u{1}\0\u{1}\0"),
    Sample("image/gif", "GIF87a"),
    Sample("image/webp", "RIFF\u{10}\0\0\0WEBPVP8 "),
    Sample("image/heic", ftyp("heic", "mif1", "heic")),
    Sample("image/heic", ftyp("xxxx", "heic")),
    Sample("image/heic", ftyp("mif1", "mif1", "heic")),
    Sample("image/avif", ftyp("mif1", "mif1", "avif")),
    Sample("image/heif", ftyp("mif1", "mif1")),
    Sample("image/avif", ftyp("avif", "mif1", "miaf")),
    Sample("image/bmp", "BM\u{46}\0\0\0\0\0\0\0\u{36}\0\0\0\u{28}\0\0\0"),
    Sample("image/x-icon", "\0\0\u{1}\0\u{1}\0"),
    Sample("image/tiff", "II*\0\u{8}\0\0\0"),
    Sample("image/jp2", "\0\0\0\u{C}jP  \r\n\u{87}\n"),
    Sample("image/vnd.adobe.photoshop", "8BPS\0\u{1}\0\0"),
    Sample("application/vnd.ms-asf", "0&\u{B2}u\u{8E}f\u{CF}\u{11}"),
    Sample("application/x-plist", "bplist00"),
    Sample("image/jxl", "\u{FF}\u{A}\0"),
    Sample("audio/wav", "RIFF\u{24}\0\0\0WAVEfmt "),
    Sample("audio/wav", "RF64\u{FF}\u{FF}\u{FF}\u{FF}WAVEds64"),
    Sample("audio/aiff", "FORM\0\0\0\u{24}AIFFCOMM"),
    Sample("audio/aiff", "FORM\0\0\0\u{24}AIFCFVER"),
    Sample("audio/x-caf", "caff\0\u{1}\0\0desc"),
    Sample("audio/mpeg", "ID3\u{4}\0\0\0\0\0\u{A}"),
    Sample("audio/mpeg", mp3Frame() + mp3Frame()),
    Sample("audio/aac", adtsFrame + adtsFrame),
    Sample("audio/mp4", ftyp("M4A ", "mp42", "isom")),
    Sample("video/mp4", ftyp("isom", "iso2", "mp41")),
    Sample("video/mp4", ftyp("mp42", "M4A ")),
    Sample("video/quicktime", ftyp("qt  ")),
    Sample("audio/ogg", "OggS\0\u{2}" + String(repeating: "\0", count: 20) + "\u{1}\u{13}OpusHead"),
    Sample(
      "video/ogg", "OggS\0\u{2}" + String(repeating: "\0", count: 20) + "\u{1}\u{2A}\u{80}theora"),
    Sample("audio/flac", "fLaC\0\0\0\u{22}"),
    Sample("audio/amr", "#!AMR\n\u{3C}"),
    Sample("audio/amr-wb", "#!AMR-WB\n"),
    Sample(
      "video/webm", "\u{1A}\u{45}\u{DF}\u{A3}\u{9F}\u{42}\u{86}\u{81}\u{1}\u{42}\u{82}\u{84}webm"),
    Sample("video/x-msvideo", "RIFF\u{10}\0\0\0AVI LIST"),
    Sample("video/mp2t", [UInt8](repeating: 0x47, count: 400)),
    Sample("application/pdf", "%PDF-1.7"),
    Sample("application/zip", "PK\u{3}\u{4}"),
    Sample("text/plain", "Hello"),
    Sample("text/plain", ""),
    Sample("text/plain", "\u{FF}\u{FE}H\0i\0"),
    Sample("text/plain", "\u{EF}\u{BB}\u{BF}Hi"),
    Sample("application/octet-stream", "Hello\0"),
    Sample("text/html", "<!doctype html>"),
    Sample("image/svg+xml", "<svg xmlns='http://www.w3.org/2000/svg'>"),
  ]

  static let adtsFrame: [UInt8] =
    [0xFF, 0xF1, 0x50, 0x80, 0x02, 0x1F, 0xFC] + [UInt8](repeating: 0, count: 9)
}
