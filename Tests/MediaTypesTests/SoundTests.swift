import MediaTypes
import Testing

@Suite struct SoundTests {
  @Test(arguments: [1, 2], [8, 16, 24, 32])
  func `reads a WAV file`(channels: Int, bits: Int) throws {
    let sound = try Sound.read(SoundFile.wav(channels: channels, bits: bits, frames: 4000))
    #expect(sound.type.value == "audio/wav")
    #expect(sound.codec == .pcm)
    #expect((sound.channels, sound.sampleRate) == (channels, 8000))
    #expect(sound.duration == 0.5)
    #expect(sound.samples?.frames == 4000)
  }

  @Test func `counts the samples that are there and not those a header claims`() throws {
    let whole = SoundFile.wav(channels: 1, bits: 16, frames: 8000, claimed: 0xFFFF_FFFF)
    #expect(try Sound.read(whole).duration == 1)
    #expect(try Sound.read([UInt8](whole.prefix(44 + 8000))).duration == 0.5)
  }

  @Test func `reads an AIFF file and its 80-bit sample rate`() throws {
    let sound = try Sound.read(SoundFile.aiff(frames: 44100))
    #expect(sound.type.value == "audio/aiff")
    #expect((sound.channels, sound.sampleRate, sound.duration) == (2, 44100, 1))
    #expect(sound.samples?.isBigEndian == true)
  }

  @Test func `reads little-endian AIFF-C`() throws {
    let sound = try Sound.read(SoundFile.aiff(frames: 100, compression: "sowt"))
    #expect(sound.codec == .pcm)
    #expect(sound.samples?.isBigEndian == false)
  }

  @Test func `reads a CAF file with plain samples`() throws {
    let sound = try Sound.read(SoundFile.caf(frames: 24000))
    #expect(sound.type.value == "audio/x-caf")
    #expect((sound.codec, sound.channels, sound.sampleRate) == (.pcm, 1, 48000))
    #expect(sound.duration == 0.5)
  }

  @Test func `reads a CAF file with IMA4 packets`() throws {
    let sound = try Sound.read(
      SoundFile.caf(frames: 0, format: "ima4", packet: (34, 64), data: 34 * 750))
    #expect((sound.codec, sound.duration) == (.ima4, 1))
    #expect(sound.samples?.frames == 48000)
  }

  @Test func `counts the frames of an MP3 file behind its ID3 tag`() throws {
    let tag: [UInt8] = [0x49, 0x44, 0x33, 4, 0, 0, 0, 0, 1, 0] + [UInt8](repeating: 0, count: 128)
    let frames = (0..<100).flatMap { _ in Sample.mp3Frame() }
    let sound = try Sound.read(
      tag + frames + [UInt8]("TAG".utf8) + [UInt8](repeating: 0, count: 125))
    #expect((sound.codec, sound.channels, sound.sampleRate) == (.mp3, 2, 44100))
    #expect(abs((sound.duration ?? 0) - 100 * 1152 / 44100.0) < 1e-9)
  }

  @Test(arguments: ["M4A ", "mp42"])
  func `reads the sound track of an MPEG-4 file`(brand: String) throws {
    let sound = try Sound.read(SoundFile.m4a(brand: brand, seconds: 3))
    #expect(sound.type.value == "audio/mp4")
    #expect((sound.codec, sound.channels, sound.sampleRate) == (.aac, 2, 44100))
    #expect(sound.duration == 3)
  }

  @Test(
    arguments: [
      ([0x12, 0x08], 1, 44100), ([0x11, 0x90], 2, 48000), ([0x2B, 0x11, 0x88], 2, 48000),
      ([0xEB, 0x09, 0x88], 2, 48000),
    ] as [([UInt8], Int, Int)])
  func `believes the AAC configuration and not the track's fields`(
    configuration: [UInt8], channels: Int, rate: Int
  ) throws {
    let file = SoundFile.m4a(brand: "M4A ", seconds: 1, configuration: configuration)
    let sound = try Sound.read(file)
    #expect((sound.codec, sound.channels, sound.sampleRate) == (.aac, channels, rate))
  }

  @Test func `tells a film from a sound in the same container`() {
    let error = #expect(throws: SoundError.self) {
      try Sound.read(SoundFile.m4a(brand: "mp42", seconds: 1, handlers: ["soun", "vide"]))
    }
    #expect(error?.reason.contains("is a film") == true)
    #expect(throws: SoundError.self) {
      try Sound.read(SoundFile.m4a(brand: "mp42", seconds: 1, handlers: ["vide"]))
    }
  }

  @Test func `counts AAC frames without a container`() throws {
    let sound = try Sound.read((0..<43).flatMap { _ in Sample.adtsFrame })
    #expect((sound.codec, sound.channels, sound.sampleRate) == (.aac, 2, 44100))
    #expect(abs((sound.duration ?? 0) - 43 * 1024 / 44100.0) < 1e-9)
  }

  @Test func `says of a picture that it is no sound`() {
    let error = #expect(throws: SoundError.self) { try Sound.read([UInt8]("GIF89a..".utf8)) }
    #expect(error?.reason == "This is a GIF picture, not a sound. Drop an M4A, MP3, WAV or AIFF.")
  }

  @Test(
    arguments: [
      (SoundFile.aiff(frames: 20).filter { $0 != UInt8(ascii: "C") }, "AIFF is damaged", "COMM"),
      (
        [UInt8](SoundFile.wav(channels: 1, bits: 8, frames: 9).prefix(38)), "WAV is damaged",
        "no samples"
      ),
      ([UInt8]("fLaC".utf8), "FLAC is damaged", "STREAMINFO"),
      ([UInt8](SoundFile.m4a(brand: "M4A ", seconds: 1).prefix(24)), "sound is incomplete", "moov"),
    ] as [([UInt8], String, String)])
  func `tells the owner of a broken sound what to do, and the log what is broken`(
    bytes: [UInt8], sentence: String, detail: String
  ) {
    let error = #expect(throws: SoundError.self) { try Sound.read(bytes) }
    #expect(
      error?.reason.wholeMatch(of: /This [A-Za-z0-9]+ is [a-z]+\. (Copy or e|E)xport it again\./)
        != nil)
    #expect(error?.reason.contains(sentence) == true, "\(error?.reason ?? "")")
    #expect(error?.detail?.contains(detail) == true, "\(error?.detail ?? "")")
  }

  @Test(arguments: SoundFile.all)
  func `survives truncation and damage of every byte of a header`(file: Sample) {
    for count in stride(from: 0, to: min(file.bytes.count, 600), by: 1) {
      _ = try? Sound.read([UInt8](file.bytes.prefix(count)))
    }
    for index in 0..<min(file.bytes.count, 600) {
      for value: UInt8 in [0, 0x7F, 0x80, 0xFF] {
        var bytes = file.bytes
        bytes[index] = value
        _ = try? Sound.read(bytes).packets(in: bytes)
      }
    }
  }
}
