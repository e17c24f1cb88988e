import Foundation
import MediaTypes
import Testing

@Suite struct WaveformTests {
  @Test(arguments: [
    ("", 640, 160), ("320", 320, 80), ("9999", 2560, 1440), ("1", 16, 16),
  ])
  func `draws the sample sound as a PNG of the width asked for`(
    width: String, expectedWidth: Int, expectedHeight: Int
  ) throws {
    let run = try Self.waveform(
      of: PluginRun.repository.appending(path: "assets/sound/chime.wav"), width: width)
    #expect(run.fields["Content-Type"] == "image/png")
    let size = try #require(PixelSize.read([UInt8](run.body)))
    #expect(size.width == expectedWidth)
    #expect(size.height == expectedHeight)
  }

  @Test(arguments: Recording.all)
  func `measures the same peak however samples are written`(recording: Recording) throws {
    let file = try TemporaryFile(recording.bytes)
    let facts = try PluginRun("sound", verb: "validate", payload: "a", asset: file.url).json
    let peak = try #require(facts["peak"] as? Double)
    #expect((-6.3 ... -5.7).contains(peak))
    #expect(facts["advice"] as? [String] == recording.advice)
  }

  @Test func `hears silence, distortion and what is too quiet`() throws {
    let cases: [(level: Int, part: String)] = [
      (0, "silent"), (32767, "distorted"), (400, "louder"),
    ]
    for (level, part) in cases {
      let file = try TemporaryFile(Recording.wav(level: level))
      let facts = try PluginRun("sound", verb: "validate", payload: "a", asset: file.url).json
      let advice = try #require(facts["advice"] as? [String])
      #expect(advice.contains { $0.contains(part) })
    }
  }

  @Test func `does not draw what it would have to decode`() throws {
    let file = try TemporaryFile([UInt8]("#!AMR\n".utf8) + [UInt8](repeating: 0x3C, count: 320))
    let run = try Self.waveform(of: file.url)
    #expect(run.status == 415)
    #expect(
      run.text == "No waveform can be drawn of this sound. Save it as an M4A of 20 minutes at most."
    )
  }

  private static func waveform(of file: URL, width: String = "") throws -> PluginRun {
    try PluginRun(
      "sound", verb: "render", payload: "a", asset: file, query: "view=waveform",
      variables: width.isEmpty ? [:] : ["RICH_WIDTH": width])
  }
}

/// A file that lasts as long as the test that wrote it.
struct TemporaryFile: ~Copyable {
  let url: URL

  init(_ bytes: [UInt8], ending: String = "bin") throws {
    url = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID()).\(ending)")
    try Data(bytes).write(to: url)
  }

  deinit { try? FileManager.default.removeItem(at: url) }
}
