/// Streams of frames and pages, with headers that say what a test wants.
extension SoundFile {
  /// Seconds of a frame of `Sample.mp3Frame()`, and of one of `fragmented`.
  static let mp3Frame = 1152 / 44100.0
  static let aacPacket = 1024 / 44100.0

  /// An MP3 of so many frames with sound, behind one whose tag claims other ones.
  static func mp3(frames: Int, tag: String = "Xing", claimed: Int) -> [UInt8] {
    var first = Sample.mp3Frame()
    let fields = text(tag) + (tag == "VBRI" ? big(0, 10) : big(1, 4)) + big(claimed, 4)
    first.replaceSubrange(36..<36 + fields.count, with: fields)
    return first + (0..<frames).flatMap { _ in Sample.mp3Frame() }
  }

  static func id3(_ content: [UInt8]) -> [UInt8] {
    let size = (0..<4).reversed().map { UInt8(content.count >> (7 * $0) & 127) }
    return text("ID3") + [4, 0, 0] + size + content
  }

  /// FLAC with frames of 4096 samples at 44.1 kHz, of one channel; their content is not valid, but their checksums are.
  static func flac(frames: Int, claimed: Int) -> [UInt8] {
    let facts = 44100 << 44 | 15 << 36 | claimed
    let form = big(4096, 2) + big(4096, 2) + big(0, 6) + big(facts, 8) + big(0, 16)
    let stream = (0..<frames).flatMap { number -> [UInt8] in
      var head: [UInt8] = [0xFF, 0xF8, 0xC9, 0x08, UInt8(number)]
      head.append(UInt8(remainder(of: head, bits: 8, polynomial: 7)))
      let frame = head + [UInt8](repeating: 0x55, count: 300)
      return frame + big(remainder(of: frame, bits: 16, polynomial: 0x8005), 2)
    }
    return text("fLaC") + [0x80] + big(34, 3) + form + stream
  }

  /// A cyclic redundancy check.
  private static func remainder(of bytes: [UInt8], bits: Int, polynomial: Int) -> Int {
    bytes.reduce(0) { sum, byte in
      (0..<8).reduce(sum ^ Int(byte) << (bits - 8)) { sum, _ in
        (sum << 1 ^ (sum >> (bits - 1) & 1 == 0 ? 0 : polynomial)) & (1 << bits - 1)
      }
    }
  }

  /// Opus with a packet of 20 ms in each page; a broadcast begins at another position than 0.
  static func opus(packets: Int, serial: Int = 1, firstPosition: Int = 0) -> [UInt8] {
    let head = text("OpusHead") + [1, 1] + little(312, 2) + little(48000, 4) + [0, 0, 0]
    let pages = (1...packets).flatMap { number in
      page(
        serial: serial, sequence: number + 1, position: firstPosition + 960 * number,
        [0x98] + [UInt8](repeating: 0, count: 20))
    }
    return page(serial: serial, sequence: 0, position: 0, flags: 2, head)
      + page(serial: serial, sequence: 1, position: 0, text("OpusTags") + little(0, 8)) + pages
  }

  private static func page(
    serial: Int, sequence: Int, position: Int, flags: UInt8 = 0, _ packet: [UInt8]
  ) -> [UInt8] {
    text("OggS") + [0, flags] + little(position, 8) + little(serial, 4) + little(sequence, 4)
      + little(0, 4) + [1, UInt8(packet.count)] + packet
  }

  /// Where a fragment has the lengths of its samples.
  enum Lengths: CaseIterable { case samples, fragment, movie }

  /// An M4A as browsers record it: so many fragments of ten AAC packets, and no length in its head but
  /// `claimed`, in `mehd`.
  ///
  /// Each fragment says that it has `packets`.
  static func fragmented(
    _ fragments: Int, lengths: Lengths = .samples, claimed: Int? = nil, packets: Int = 10
  ) -> [UInt8] {
    var movie = m4a(brand: "M4A ", seconds: 0, configuration: [0x12, 0x08])
    let start = movie.count - moovBytes(of: movie)
    let content = [UInt8](movie[(start + 8)...])
    let inAll = lengths == .movie
    let extends =
      (claimed.map { box("mehd", big(0, 4) + big($0, 4)) } ?? [])
      + box(
        "trex",
        big(0, 8) + big(1, 4) + big(inAll ? 1024 : 0, 4) + big(inAll ? 9 : 0, 4) + big(0, 4))
    movie = movie[..<start] + box("moov", content + box("mvex", extends))
    for number in 0..<fragments {
      let head: [UInt8] =
        lengths == .fragment
        ? big(0x020018, 4) + big(0, 4) + big(1024, 4) + big(9, 4) : big(0x020000, 4) + big(0, 4)
      let samples =
        lengths == .samples ? (0..<10).flatMap { _ in big(1024, 4) + big(9, 4) } : []
      let flags = lengths == .samples ? 0x301 : 1
      let bytes = 8 + 16 + 8 + 8 + head.count + 8 + 12 + samples.count
      let run = big(flags, 4) + big(packets, 4) + big(bytes + 8, 4) + samples
      movie +=
        box(
          "moof",
          box("mfhd", big(0, 4) + big(number, 4))
            + box("traf", box("tfhd", head) + box("trun", run)))
        + box("mdat", [UInt8](repeating: 0, count: 90))
    }
    return movie
  }

  private static func moovBytes(of movie: [UInt8]) -> Int {
    let name = Array("moov".utf8)
    let place = (0..<movie.count - 4).first { Array(movie[$0..<$0 + 4]) == name } ?? 4
    return movie.count - place + 4
  }
}
