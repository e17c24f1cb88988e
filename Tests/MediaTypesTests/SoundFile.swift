/// Small sound files of each container, written byte by byte.
enum SoundFile {
  static let all = [
    Sample("audio/wav", wav(channels: 2, bits: 16, frames: 20)),
    Sample("audio/aiff", aiff(frames: 20)),
    Sample("audio/x-caf", caf(frames: 20)),
    Sample("audio/mp4", m4a(brand: "M4A ", seconds: 1)),
    Sample("audio/mpeg", Sample.mp3Frame() + Sample.mp3Frame()),
    Sample("audio/aac", Sample.adtsFrame + Sample.adtsFrame),
    Sample("audio/amr", [UInt8]("#!AMR\n".utf8) + [UInt8](repeating: 0x3C, count: 64)),
  ]

  static func wav(channels: Int, bits: Int, frames: Int, claimed: Int? = nil) -> [UInt8] {
    let frame = channels * bits / 8
    let data = [UInt8](repeating: 0, count: frames * frame)
    let format =
      little(1, 2) + little(channels, 2) + little(8000, 4) + little(8000 * frame, 4)
      + little(frame, 2) + little(bits, 2)
    return text("RIFF") + little(36 + data.count, 4) + text("WAVEfmt ") + little(16, 4) + format
      + text("data") + little(claimed ?? data.count, 4) + data
  }

  static func aiff(frames: Int, compression: String? = nil) -> [UInt8] {
    let rate: [UInt8] = [0x40, 0x0E, 0xAC, 0x44, 0, 0, 0, 0, 0, 0]
    let common =
      big(2, 2) + big(frames, 4) + big(16, 2) + rate + text(compression.map { $0 + "\0\0" } ?? "")
    let data = [UInt8](repeating: 0, count: 8 + frames * 4)
    return text("FORM") + big(4 + 16 + common.count + data.count, 4)
      + text(compression == nil ? "AIFF" : "AIFC") + text("COMM") + big(common.count, 4) + common
      + text("SSND") + big(data.count, 4) + data
  }

  static func caf(
    frames: Int, format: String = "lpcm", packet: (bytes: Int, frames: Int) = (2, 1),
    data count: Int? = nil
  ) -> [UInt8] {
    let rate = withUnsafeBytes(of: Double(48000).bitPattern.bigEndian) { [UInt8]($0) }
    let description =
      rate + text(format) + big(0, 4) + big(packet.bytes, 4) + big(packet.frames, 4) + big(1, 4)
      + big(16, 4)
    let data = [UInt8](repeating: 0, count: 4 + (count ?? frames * 2))
    return text("caff") + big(1, 2) + big(0, 2) + text("desc") + big(32, 8) + description
      + text("data") + [UInt8](repeating: 0xFF, count: 8) + data
  }

  static func m4a(
    brand: String, seconds: Int, handlers: [String] = ["soun"], configuration: [UInt8]? = nil
  ) -> [UInt8] {
    let entry =
      big(0, 8) + big(0, 8) + big(2, 2) + big(16, 2) + big(0, 4) + big(44100, 2) + big(0, 2)
    let stream = configuration.map { box("esds", big(0, 4) + descriptors($0)) } ?? []
    // A sample for each second, all at the beginning of `mdat`, of one byte each.
    let tables =
      box("stsd", big(0, 4) + big(1, 4) + box("mp4a", entry + stream))
      + box("stts", big(0, 4) + big(1, 4) + big(seconds, 4) + big(44100, 4))
      + box("stsc", big(0, 4) + big(1, 4) + big(1, 4) + big(seconds, 4) + big(1, 4))
      + box("stsz", big(0, 4) + big(1, 4) + big(seconds, 4))
      + box("stco", big(0, 4) + big(1, 4) + big(28, 4))
    let header = big(0, 4) + big(0, 8) + big(44100, 4) + big(44100 * seconds, 4) + big(0, 4)
    let tracks = handlers.flatMap { handler in
      let media =
        box("mdhd", header) + box("hdlr", big(0, 8) + text(handler) + big(0, 8))
        + box("minf", box("stbl", tables))
      return box("trak", box("mdia", media))
    }
    return box("ftyp", text(brand) + big(0, 4) + text("isom"))
      + box("mdat", big(0, max(seconds, 1)))
      + box("moov", box("mvhd", header) + tracks)
  }

  /// The descriptors of an AAC stream, the first length written in four bytes as encoders do.
  static func descriptors(_ configuration: [UInt8]) -> [UInt8] {
    let specific = [5, UInt8(configuration.count)] + configuration
    let decoder = [4, UInt8(13 + specific.count), 0x40, 0x15] + big(0, 8) + big(0, 3) + specific
    return [3, 0x80, 0x80, 0x80, UInt8(3 + decoder.count)] + big(1, 2) + [0] + decoder
  }

  static func box(_ name: String, _ body: [UInt8]) -> [UInt8] {
    big(body.count + 8, 4) + text(name) + body
  }

  static func text(_ text: String) -> [UInt8] { Array(text.utf8) }

  static func big(_ value: Int, _ count: Int) -> [UInt8] {
    (0..<count).reversed().map { $0 < 8 ? UInt8(truncatingIfNeeded: value >> (8 * $0)) : 0 }
  }

  static func little(_ value: Int, _ count: Int) -> [UInt8] {
    big(value, count).reversed()
  }
}
