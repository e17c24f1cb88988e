import Foundation
import Testing

/// Sounds that need a decoder, made here by FFmpeg.
@Suite struct CodedSoundTests {
  private static let chime = PluginRun.repository.appending(path: "assets/sound/chime.wav")
  /// A second of silence, then a second of a tone.
  private static let halfSilent = [
    "-f", "lavfi", "-i", "sine=d=1", "-af", "adelay=1000:all=1",
  ]

  @Test(arguments: ["mp3", "mp2", "m4a", "aac", "caf"])
  func `hears in MP3 and AAC the peak of what they were made of`(ending: String) async throws {
    let original = try #require(try Self.facts(of: Self.chime)["peak"] as? Double)
    let file = try await Self.encoded(["-i", Self.chime.path], as: ending)
    let peak = try #require(try Self.facts(of: file.url)["peak"] as? Double)
    #expect(abs(peak - original) < 1.5, "\(peak) instead of \(original)")
  }

  @Test(arguments: ["mp3", "m4a", "aac", "caf"])
  func `draws what is silent low and what is loud high`(ending: String) async throws {
    let file = try await Self.encoded(Self.halfSilent, as: ending)
    let picture = try TemporaryFile([UInt8](Self.waveform(of: file.url).body))
    let script = """
      import png, sys
      width, _, rows, _ = png.Reader(filename=sys.argv[1]).asRGBA8()
      rows = list(rows)
      print([sum(1 for row in rows for x in part if row[4 * x + 3] > 128)
        for part in (range(0, width * 4 // 10), range(width * 6 // 10, width))])
      """
    let run = try await Self.python(script, [picture.url.path])
    let counts = try #require(run.last).matches(of: /[0-9]+/).compactMap { Int($0.output) }
    #expect(counts.count == 2 && counts[0] * 5 < counts[1], "\(run)")
  }

  @Test func `refuses packets that are none`() async throws {
    let file = try await Self.encoded(["-i", Self.chime.path], as: "m4a")
    var bytes = [UInt8](try Data(contentsOf: file.url))
    let start = try #require(bytes.firstRange(of: Array("mdat".utf8))).upperBound
    let end = try #require(bytes.firstRange(of: Array("moov".utf8))).lowerBound - 4
    try #require(start < end)
    bytes.replaceSubrange(start..<end, with: repeatElement(0xFF, count: end - start))
    let damaged = try TemporaryFile(bytes)
    let run = try PluginRun("sound", verb: "validate", payload: "a", asset: damaged.url)
    #expect(run.status == 422)
    #expect(run.text == "This M4A is damaged. Export it again.")
  }

  @Test func `does not decode what takes long`() async throws {
    let silence = ["-f", "lavfi", "-i", "anullsrc=r=8000:cl=mono:d=1500", "-b:a", "8k"]
    let file = try await Self.encoded(silence, as: "mp3")
    let facts = try Self.facts(of: file.url)
    #expect((facts["duration"] as? Double ?? 0) > 1499)
    #expect(facts["peak"] == nil)
    let run = try Self.waveform(of: file.url)
    #expect(run.status == 415)
    #expect(run.text.contains("20 minutes at most"))
  }

  @Test func `refuses a film and says how to take its sound`() async throws {
    let film = ["-f", "lavfi", "-i", "testsrc=d=1", "-f", "lavfi", "-i", "sine=d=1"]
    let file = try await Self.encoded(film, as: "mp4")
    let run = try PluginRun("sound", verb: "validate", payload: "a.mp4", asset: file.url)
    #expect(run.status == 422)
    #expect(run.text == "This is a film, not a sound. Export its sound as M4A.")
  }

  /// As the recorders of Safari and Chrome write, and packagers for DASH.
  @Test(arguments: [
    ["+frag_keyframe+empty_moov"], ["+frag_keyframe+empty_moov", "-frag_duration", "500000"],
    ["+dash", "-frag_duration", "500000"],
  ])
  func `measures, hears and draws an M4A in fragments`(flags: [String]) async throws {
    let tone = ["-f", "lavfi", "-i", "sine=d=4:r=16000", "-c:a", "aac", "-b:a", "32k", "-movflags"]
    let file = try await Self.encoded(tone + flags, as: "m4a")
    let facts = try Self.facts(of: file.url)
    #expect(abs((facts["duration"] as? Double ?? 0) - 4) < 0.1)
    #expect(facts["peak"] is Double)
    #expect(facts["advice"] == nil)
    let run = try Self.waveform(of: file.url)
    #expect((run.status, run.fields["Content-Type"]) == (200, "image/png"))
  }

  @Test func `hears all parts of joined MP3s`() async throws {
    let quiet = try await Self.encoded(["-i", Self.chime.path, "-af", "volume=-30dB"], as: "mp3")
    let loud = try await Self.encoded(["-i", Self.chime.path], as: "mp3")
    let joined = try TemporaryFile(
      [UInt8](try Data(contentsOf: quiet.url) + Data(contentsOf: loud.url)))
    let peak = try #require(try Self.facts(of: loud.url)["peak"] as? Double)
    let heard = try #require(try Self.facts(of: joined.url)["peak"] as? Double)
    #expect(abs(heard - peak) < 0.5)
    #expect(abs((try Self.facts(of: joined.url)["duration"] as? Double ?? 0) - 3.2) < 0.1)
  }

  @Test(arguments: [
    ("ac-4", "Most phones don't play Dolby AC-4 in this M4A. Save it as AAC or MP3."),
    (
      "apac",
      "Most phones don't play Apple's spatial audio (APAC) in this M4A. Save it as AAC or MP3."
    ),
    ("mha1", "Most phones don't play MPEG-H in this M4A. Save it as AAC or MP3."),
    ("zzzz", "Most phones don't play this kind of M4A. Save it as AAC or MP3."),
  ])
  func `says of an M4A that phones do not play what to save it as`(
    code: String, sentence: String
  ) async throws {
    let file = try TemporaryFile(try await Self.recoded(code))
    #expect(try Self.facts(of: file.url)["advice"] as? [String] == [sentence])
    let run = try Self.waveform(of: file.url)
    #expect(run.status == 415)
    #expect(!run.text.contains("as an M4A") && !run.text.contains("xport it again"), "\(run.text)")
  }

  @Test(arguments: ["drms", "drmi", "enca"])
  func `refuses an M4A with protection`(code: String) async throws {
    let file = try TemporaryFile(try await Self.recoded(code))
    let run = try PluginRun("sound", verb: "validate", payload: "a", asset: file.url)
    #expect(run.status == 422)
    #expect(
      run.text == "This M4A is protected against copying, so phones can't play it. "
        + "Use a version without protection.")
  }

  @Test(arguments: [
    (
      "m4a", "alac",
      "Android phones may not play Apple Lossless in this M4A. Save it as AAC or MP3."
    ),
    ("m4a", "ac3", "Most phones don't play Dolby Digital in this M4A. Save it as AAC or MP3."),
    ("wav", "adpcm_ima_wav", "Most phones don't play this kind of WAV. Save it as M4A."),
    ("wav", "adpcm_ms", "Most phones don't play this kind of WAV. Save it as M4A."),
    ("wav", "libmp3lame", "Most phones don't play this kind of WAV. Save it as M4A."),
    ("wav", "pcm_f64le", "Android phones may not play this kind of WAV. Save it as M4A."),
    ("mp2", "mp2", "Most phones don't play MP2. Save it as M4A."),
  ])
  func `says of each coding which phones do not play it`(
    ending: String, codec: String, sentence: String
  ) async throws {
    let file = try await Self.encoded(
      ["-f", "lavfi", "-i", "sine=d=1:r=44100", "-c:a", codec], as: ending)
    let advice = try Self.facts(of: file.url)["advice"] as? [String]
    #expect(advice?.first == sentence)
  }

  /// An M4A whose sample entry has another name.
  private static func recoded(_ code: String) async throws -> [UInt8] {
    let file = try await encoded(["-i", chime.path], as: "m4a")
    var bytes = [UInt8](try Data(contentsOf: file.url))
    for (old, new) in [("mp4a", code), ("esds", "dapa")] {
      bytes.replaceSubrange(try #require(bytes.firstRange(of: Array(old.utf8))), with: new.utf8)
    }
    return bytes
  }

  private static func facts(of file: URL) throws -> [String: Any] {
    try PluginRun("sound", verb: "validate", payload: "a", asset: file).json
  }

  private static func waveform(of file: URL) throws -> PluginRun {
    try PluginRun("sound", verb: "render", payload: "a", asset: file, query: "view=waveform")
  }

  private static func encoded(_ arguments: [String], as ending: String) async throws
    -> TemporaryFile
  {
    guard ending != "caf" else {
      let packed = try await encoded(arguments, as: "m4a")
      let file = try TemporaryFile(CoreAudioFile(packetsOf: packed.url).bytes, ending: ending)
      try await ffmpeg(["-xerror", "-i", file.url.path, "-f", "null", "-"])  // it is a good one
      return file
    }
    let file = try TemporaryFile([], ending: ending)
    try await ffmpeg(arguments + [file.url.path])
    return file
  }

  private static func ffmpeg(_ arguments: [String]) async throws {
    let script = """
      import imageio_ffmpeg, subprocess, sys
      subprocess.run([imageio_ffmpeg.get_ffmpeg_exe(), '-v', 'error', '-y'] + sys.argv[1:], check=True)
      """
    _ = try await python(script, arguments)
  }

  /// The lines that a script prints, with what `make tools` installs.
  private static func python(_ script: String, _ arguments: [String]) async throws -> [String] {
    let run = try await Tool.run("python", ["-c", script] + arguments)
    try #require(run.exitCode == 0, "\(run.errors)")
    return run.output
  }
}
