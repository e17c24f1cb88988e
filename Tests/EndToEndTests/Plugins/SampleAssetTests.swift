import Foundation
import MediaTypes
import Testing

/// The samples in `assets/`, which the first minutes with the program depend on.
@Suite struct SampleAssetTests {
  @Test(arguments: [
    ("img/logo.png", "image/png", 512, 512), ("img/beach.jpg", "image/jpeg", 1200, 800),
  ])
  func `ships pictures of the type that their names say`(
    path: String, type: String, width: Int, height: Int
  ) throws {
    let bytes = try bytes(path)
    #expect(MediaType.sniff(bytes).value == type)
    let size = try #require(PixelSize.read(bytes))
    #expect((size.width, size.height) == (width, height))
  }

  @Test func `ships a sound short enough for an alert`() throws {
    let sound = try Sound.read(bytes("sound/chime.wav"))
    #expect(sound.type.value == "audio/wav")
    #expect((0.5...2).contains(sound.duration ?? 0))
  }

  @Test func `ships a link as a shortcut that a browser writes`() throws {
    let text = String(decoding: try bytes("url/welcome.url"), as: UTF8.self)
    #expect(text.hasPrefix("[InternetShortcut]\nURL=https://"))
  }

  private func bytes(_ path: String) throws -> [UInt8] {
    [UInt8](try Data(contentsOf: PluginRun.repository.appending(path: "assets/\(path)")))
  }
}
