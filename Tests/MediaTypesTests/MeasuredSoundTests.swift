import MediaTypes
import Testing

/// How long a sound is, is measured: a header that says another length than the file has is not believed.
@Suite struct MeasuredSoundTests {
  // MARK: - MP3

  @Test(arguments: ["Xing", "Info", "VBRI"], [0, 1, 33, 100, 1000, 0xFFFF_FFFF])
  func `an MP3 lasts as long as its frames, whatever its first one claims`(
    tag: String, claimed: Int
  ) throws {
    let sound = try Sound.read(SoundFile.mp3(frames: 100, tag: tag, claimed: claimed))
    #expect(sound.duration.isClose(to: 100 * SoundFile.mp3Frame))
  }

  @Test func `an MP3 that was cut lasts as long as what is left of it`() throws {
    let whole = SoundFile.mp3(frames: 100, claimed: 100)
    let half = try Sound.read([UInt8](whole.prefix(whole.count / 2)))
    #expect(half.duration.isClose(to: 49 * SoundFile.mp3Frame))
  }

  @Test(arguments: [0, 5000, 200_000])
  func `joined MP3s last as long as all of them, with a tag and a cover between`(cover: Int) throws
  {
    let between = cover == 0 ? [] : SoundFile.id3([UInt8](repeating: 0xFF, count: cover))
    let joined =
      SoundFile.mp3(frames: 60, claimed: 60) + between + SoundFile.mp3(frames: 40, claimed: 40)
    // The second one's first frame has no sound, but takes its time.
    #expect(try Sound.read(joined).duration.isClose(to: 101 * SoundFile.mp3Frame))
  }

  @Test func `finds the next frames of an MP3 behind bytes that are none`() throws {
    let sound = SoundFile.mp3(frames: 20, claimed: 20)
    let damaged =
      sound + (0..<3000).map { UInt8($0 & 255) } + SoundFile.mp3(frames: 20, claimed: 20)
    #expect(try Sound.read(damaged).duration.isClose(to: 41 * SoundFile.mp3Frame))
  }

  @Test func `finds the frames of an MP3 behind a tag with a wrong length`() throws {
    var tag = SoundFile.id3([UInt8](repeating: 0, count: 300))
    tag.replaceSubrange(6..<10, with: [0x7F, 0x7F, 0x7F, 0x7F])
    let sound = SoundFile.mp3(frames: 20, claimed: 20)
    #expect(try Sound.read(tag + sound).duration.isClose(to: 20 * SoundFile.mp3Frame))
    #expect(try Sound.read(sound + tag + sound).duration.isClose(to: 41 * SoundFile.mp3Frame))
  }

  @Test func `leaves out the silence that an encoder says it has added`() throws {
    var file = SoundFile.mp3(frames: 100, claimed: 100)
    file.replaceSubrange(48..<57, with: "LAME3.100".utf8)
    file.replaceSubrange(69..<72, with: [0x24, 0x04, 0x80])  // 576 in front, 1152 behind
    let samples = 100 * 1152 - 576 - 1152
    #expect(try Sound.read(file).duration.isClose(to: Double(samples) / 44100))
  }

  @Test func `a tag in front of AAC or FLAC makes no MP3 of it`() throws {
    let tag = SoundFile.id3([UInt8](repeating: 0, count: 300))
    let aac = (0..<43).flatMap { _ in Sample.adtsFrame }
    let sound = try Sound.read(tag + aac)
    #expect(sound.type.value == "audio/aac")
    #expect(sound.duration.isClose(to: 43 * SoundFile.aacPacket))
    #expect(sound.packets(in: tag + aac)?.packets.count == 43)
    #expect(try Sound.read(tag + SoundFile.flac(frames: 3, claimed: 0)).type.value == "audio/flac")
  }

  // MARK: - WAV, AIFF

  @Test(arguments: [0, 0xFFFF_FFFF, 0x7FFF_FFFF, 0x8000_0000, 2_000_000_000, 0xFFFF_FFFD, 16100])
  func `a WAV without a true size lasts as long as its samples`(claimed: Int) throws {
    let file = SoundFile.wav(channels: 1, bits: 16, frames: 8000, claimed: claimed)
    let sound = try Sound.read(file)
    #expect(sound.duration == 1)
    #expect(sound.samples?.frames == 8000)
  }

  @Test func `a WAV in which nothing was recorded is empty, whatever stands behind`() throws {
    let empty = SoundFile.wav(channels: 1, bits: 16, frames: 0)
    #expect(try Sound.read(empty).duration == 0)
    let list = SoundFile.text("LIST") + SoundFile.little(26, 4) + [UInt8](repeating: 32, count: 26)
    #expect(try Sound.read(empty + list).duration == 0)
  }

  @Test(arguments: [
    (0x11, 256, 505), (0x11, 1024, 2041), (2, 256, 500), (0x31, 65, 320),
  ])
  func `a compressed WAV lasts as long as its blocks, not as its bytes a second claim`(
    tag: Int, block: Int, samples: Int
  ) throws {
    let form =
      SoundFile.little(tag, 2) + SoundFile.little(1, 2) + SoundFile.little(8000, 4)
      + SoundFile.little(32000, 4) + SoundFile.little(block, 2)
      + SoundFile.little(tag == 0x31 ? 0 : 4, 2)
    let file =
      SoundFile.text("RIFF") + SoundFile.little(0xFFFF_FFFF, 4) + SoundFile.text("WAVEfmt ")
      + SoundFile.little(16, 4) + form + SoundFile.text("data") + SoundFile.little(0xFFFF_FFFF, 4)
      + [UInt8](repeating: 0, count: 12 * block)
    #expect(try Sound.read(file).duration == Double(12 * samples) / 8000)
  }

  @Test func `a WAV may describe its samples behind them`() throws {
    let file = SoundFile.wav(channels: 1, bits: 16, frames: 8000)
    let moved = [UInt8](file[..<12]) + file[36...] + file[12..<36]
    let sound = try Sound.read(moved)
    #expect((sound.duration, sound.samples?.frames) == (1, 8000))
  }

  @Test func `an RF64 ends where its long size says`() throws {
    let file = SoundFile.wav(channels: 1, bits: 16, frames: 8000, claimed: 0xFFFF_FFFF)
    let sizes =
      SoundFile.text("ds64") + SoundFile.little(28, 4) + SoundFile.little(0, 8)
      + SoundFile.little(16000, 8) + SoundFile.little(0, 12)
    let long = SoundFile.text("RF64") + file[4..<12] + sizes + file[12...]
    #expect(try Sound.read(long + [UInt8](repeating: 32, count: 4000)).duration == 1)
  }

  @Test(arguments: [0, 1, 44099, 0x7FFF_FFFF])
  func `an AIFF lasts as long as its samples, whatever it counts`(claimed: Int) throws {
    var file = SoundFile.aiff(frames: 44100)
    file.replaceSubrange(22..<26, with: SoundFile.big(claimed, 4))
    #expect(try Sound.read(file).duration == 1)
    file.replaceSubrange(42..<46, with: SoundFile.big(0, 4))
    #expect(try Sound.read(file).duration == 1)
  }

  // MARK: - FLAC, Ogg

  @Test(arguments: [0, 1, 10 * 4096, 1 << 35])
  func `a FLAC lasts as long as its frames, whatever it claims`(claimed: Int) throws {
    let sound = try Sound.read(SoundFile.flac(frames: 10, claimed: claimed))
    #expect(sound.duration == 10 * 4096 / 44100.0)
  }

  @Test func `a FLAC that was cut lasts as long as its whole frames`() throws {
    let whole = SoundFile.flac(frames: 10, claimed: 10 * 4096)
    let cut = try Sound.read([UInt8](whole.dropLast(400)))
    #expect(cut.duration == 8 * 4096 / 44100.0)
  }

  @Test func `joined FLACs have no length, as players play different parts of them`() throws {
    let sound = SoundFile.flac(frames: 10, claimed: 10 * 4096)
    #expect(try Sound.read(sound + sound).duration == nil)
  }

  @Test(arguments: [1, 2])
  func `a chained Ogg lasts as long as all of its links`(serial: Int) throws {
    let chained = SoundFile.opus(packets: 150) + SoundFile.opus(packets: 200, serial: serial)
    #expect(try Sound.read(chained).duration.isClose(to: 7 - 2 * 312 / 48000.0))
  }

  @Test func `an Ogg of a broadcast lasts as long as what was recorded of it`() throws {
    let sound = try Sound.read(SoundFile.opus(packets: 100, firstPosition: 3600 * 48000))
    #expect(sound.duration.isClose(to: 2 - 312 / 48000.0))
  }

  @Test func `an Ogg that was cut or lost pages lasts as long as what is left of it`() throws {
    let whole = SoundFile.opus(packets: 100)
    let cut = try Sound.read([UInt8](whole.dropLast(10)))
    #expect(cut.duration.isClose(to: 1.98 - 312 / 48000.0))
    let hole = [UInt8](whole[..<1000]) + whole[3000...]
    let left = try #require(try Sound.read(hole).duration)
    #expect(left < 1.3 && left > 0.9)
  }

  // MARK: - M4A

  @Test(arguments: SoundFile.Lengths.allCases, [nil, 0, 1, 1 << 31])
  func `a fragmented M4A lasts as long as its fragments`(
    lengths: SoundFile.Lengths, claimed: Int?
  ) throws {
    let file = SoundFile.fragmented(5, lengths: lengths, claimed: claimed)
    let sound = try Sound.read(file)
    #expect(sound.duration.isClose(to: 50 * SoundFile.aacPacket))
    let packets = try #require(sound.packets(in: file)).packets
    #expect(packets.count == 50)
    #expect(packets.allSatisfy { $0.count == 9 && file[$0].allSatisfy { $0 == 0 } })
  }

  @Test func `a fragmented M4A that was cut lasts as long as its whole packets`() throws {
    let file = [UInt8](SoundFile.fragmented(5).dropLast(41))
    #expect(try Sound.read(file).duration.isClose(to: 45 * SoundFile.aacPacket))
  }

  @Test func `an M4A with many fragments is measured to its end`() throws {
    let sound = try Sound.read(SoundFile.fragmented(6000))
    #expect(sound.duration.isClose(to: 60_000 * SoundFile.aacPacket))
  }

  @Test func `an M4A lasts as long as its samples, whatever its head claims`() throws {
    let file = SoundFile.m4a(brand: "M4A ", seconds: 10)
    let name = Array("mdhd".utf8)
    let place = try #require((0..<file.count).first { file[$0...].starts(with: name) }) + 20
    var wrong = file
    wrong.replaceSubrange(place..<place + 4, with: SoundFile.big(44100 * 99, 4))
    #expect(try Sound.read(wrong).duration == 10)
  }

  @Test(arguments: ["drms", "drmi", "enca"])
  func `refuses an M4A that is protected, and says why`(code: String) {
    let file = Self.coded(code)
    let error = #expect(throws: SoundError.self) { try Sound.read(file) }
    #expect(error?.reason.contains("protected against copying") == true)
  }

  @Test(arguments: [("ac-4", Codec.ac4), ("apac", .apac), ("mha1", .mpegh), ("zzzz", .other)])
  func `names how an M4A is coded`(code: String, codec: Codec) throws {
    #expect(try Sound.read(Self.coded(code)).codec == codec)
  }

  private static func coded(_ code: String) -> [UInt8] {
    let file = SoundFile.m4a(brand: "M4A ", seconds: 3)
    let name = Array("mp4a".utf8)
    guard let place = (0..<file.count).first(where: { file[$0...].starts(with: name) }) else {
      return []
    }
    return file[..<place] + Array(code.utf8) + file[(place + 4)...]
  }

  // MARK: - Hostile

  /// Puts a number of 32 bits into the first box of a name.
  private static func set(
    _ file: inout [UInt8], _ name: String, at offset: Int, to number: Int
  ) throws {
    let place = try #require((0..<file.count).first { file[$0...].starts(with: name.utf8) })
    let start = place + 4 + offset
    file.replaceSubrange(start..<start + 4, with: SoundFile.big(number, 4))
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1, 0xFFFF_FFFF])
  func `a table that claims billions of samples takes no time`(size: Int) throws {
    var file = SoundFile.m4a(brand: "M4A ", seconds: 3)
    try Self.set(&file, "stsz", at: 4, to: size)
    for (name, offset) in [("stsz", 8), ("stts", 8), ("stsc", 12)] {
      try Self.set(&file, name, at: offset, to: 0xFFFF_FFFF)
    }
    let sound = try Sound.read(file)
    _ = sound.packets(in: file)
    #expect(sound.codec == .aac)
  }

  @Test(.timeLimit(.minutes(1)), arguments: [1, 0xFFFF_FFFF])
  func `fragments that claim billions of samples take no time`(size: Int) throws {
    var file = SoundFile.fragmented(6000, lengths: .movie, packets: 0xFFFF_FFFF)
    try Self.set(&file, "trex", at: 12, to: 0)
    try Self.set(&file, "trex", at: 16, to: size)
    let sound = try Sound.read(file)
    #expect(sound.packets(in: file)?.packets.count ?? 0 <= 1 << 16)
  }

  @Test func `a fragment without the fields that it announces has no samples`() throws {
    var file = SoundFile.fragmented(1)
    try Self.set(&file, "trun", at: -8, to: 16)
    try Self.set(&file, "trun", at: 0, to: 0x305)
    #expect(try Sound.read(file).duration == 0)
  }

  @Test func `only the packets that an edit list plays are decoded`() throws {
    var file = SoundFile.m4a(brand: "M4A ", seconds: 10, configuration: [0x12, 0x08])
    let all = try #require(Sound.read(file).packets(in: file)).packets
    #expect(all.count == 10)
    let list =
      SoundFile.big(0, 4) + SoundFile.big(1, 4) + SoundFile.big(0, 4)
      + SoundFile.big(44100 * 4, 4) + SoundFile.big(1 << 16, 4)
    let edits = SoundFile.box("edts", SoundFile.box("elst", list))
    for name in ["moov", "trak"] {
      let place = try #require((0..<file.count).first { file[$0...].starts(with: name.utf8) })
      let size = file[place - 4..<place].reduce(0) { $0 << 8 | Int($1) } + edits.count
      try Self.set(&file, name, at: -8, to: size)
    }
    let track = try #require((0..<file.count).first { file[$0...].starts(with: "trak".utf8) })
    file.insert(contentsOf: edits, at: track + 4)
    #expect(try Sound.read(file).packets(in: file)?.packets == Array(all.dropFirst(4)))
  }

  @Test func `millions of tiny boxes are not all read`() throws {
    let boxes = (0..<300_000).flatMap { _ in SoundFile.box("free", []) }
    let file = SoundFile.fragmented(1) + boxes
    #expect(try Sound.read(file).duration == nil)
  }
}

extension Double? {
  /// Whether it is there, and the same but for rounding.
  fileprivate func isClose(to other: Double) -> Bool { map { abs($0 - other) < 1e-6 } ?? false }
}
