import Foundation
import Testing

@Suite struct SoundPluginTests {
  private let chime = PluginRun.repository.appending(path: "assets/sound/chime.wav")

  @Test func `tells what the sample sound is`() throws {
    let facts = try PluginRun("sound", verb: "validate", payload: "chime.wav", asset: chime).json
    #expect(facts["contentType"] as? String == "audio/wav")
    #expect(facts["codec"] as? String == "pcm")
    #expect(facts["channels"] as? Int == 1)
    #expect(facts["sampleRate"] as? Int == 44100)
    #expect(facts["duration"] as? Double == 1.6)
    #expect(facts["advice"] == nil)
  }

  @Test func `hands the original to the server without copying it`() throws {
    let run = try PluginRun("sound", verb: "render", payload: "chime.wav", asset: chime)
    #expect(run.status == 200)
    #expect(run.fields["Content-Type"] == "audio/wav")
    #expect(run.fields["X-Sendfile"] == "asset")
    #expect(run.body.isEmpty)
  }

  @Test(arguments: ["Not a sound at all.", "", "RIFF\u{24}\0\0\0WAVE"])
  func `refuses what is no sound with a sentence`(content: String) throws {
    let run = try Self.run(on: Data(content.utf8))
    #expect(run.status == 422)
    #expect(run.text.hasSuffix("."))
  }

  @Test func `refuses a payload that names no file`() throws {
    let run = try PluginRun("sound", verb: "validate", payload: "https://example.com/a.mp3")
    #expect(run.status == 422)
    #expect(run.text.contains("assets/sound"))
  }

  @Test func `warns of a sound that is too large and too long for an iPhone`() throws {
    let whole = try Data(contentsOf: chime)
    let long = whole.prefix(40) + Data([0xFF, 0xFF, 0xFF, 0xFF]) + Data(count: 6_000_000)
    let advice = try #require(Self.run(on: long).json["advice"] as? [String])
    #expect(
      advice.contains("Too big for iPhones: 6.1 MB, the limit is 5 MB. Save it as M4A."))
    #expect(advice.contains { $0.contains("30 seconds at most") })
  }

  @Test func `warns of a format that an iPhone does not attach`() throws {
    let amr = Data("#!AMR\n".utf8) + Data(repeating: 0x3C, count: 3200)
    let facts = try Self.run(on: amr).json
    #expect(facts["duration"] as? Double == 2)
    let advice = try #require(facts["advice"] as? [String])
    #expect(advice.first == "iPhones don't play AMR in a notification. Save it as M4A.")
  }

  private static func run(on content: Data) throws -> PluginRun {
    let file = FileManager.default.temporaryDirectory.appending(path: "richpush-\(UUID())")
    try content.write(to: file)
    defer { try? FileManager.default.removeItem(at: file) }
    return try PluginRun("sound", verb: "validate", payload: "a.wav", asset: file)
  }
}
