import Testing

@testable import PluginHost

/// Names, media types and the rules that a plugin's manifest makes for its answers.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PluginTests {
  @Test func `has a name of lower-case letters, digits and hyphens that begins with a letter`() {
    for name in ["a", "img", "a-1", "z9-", String(repeating: "a", count: 32)] {
      #expect(Plugin.isValidName(name), "\(name)")
    }
    for name in [
      "", "1a", "-a", "A", "aB", "a_b", "a.b", "a/b", "ä", "aä", "a\0", "{", "`", "a{", "a`",
      String(repeating: "a", count: 33),
    ] {
      #expect(!Plugin.isValidName(name), "\(name)")
    }
  }

  @Test(arguments: [
    ("image/png", "image/png", true), ("image/*", "IMAGE/PNG; q=1", true),
    ("*/*", "audio/wav", true), ("Image/Png", "image/png\t;a=b", true),
    ("image/png", "image/pngx", false), ("image/*", "audio/png", false),
    ("image/*", "image", false), ("*/*", "", false), ("image/png", "image/p ng", false),
  ])
  func `accepts a media type that a range covers`(range: String, type: String, isCovered: Bool) {
    var manifest = Manifest()
    manifest.accepts = ["text/never", range]
    #expect(PluginFixture.plugin(manifest).accepts(type) == isCovered)
  }

  @Test(arguments: [
    "image", "image/", "/png", "*/png", "image/png/x", "image/p ng", "i:m/png", "ä/b",
  ])
  func `has no media range that is malformed`(text: String) {
    #expect(MediaRange(text) == nil)
  }

  @Test(arguments: [
    "text/html", "TEXT/HTML; charset=utf-8", "image/svg+xml", "application/xhtml+xml", "text/xml",
    "application/xml", "text/css", "text/javascript", "application/javascript",
    "multipart/x-mixed-replace",
  ])
  func `never serves what a browser would run, whatever its manifest says`(type: String) {
    #expect(PluginFixture.plugin(Manifest()).objection(to: type)?.contains("never served") == true)
  }

  @Test func `serves what its manifest produces`() {
    var manifest = Manifest()
    manifest.produces = ["image/*", "application/json"]
    let plugin = PluginFixture.plugin(manifest)
    #expect(plugin.objection(to: "image/png") == nil)
    #expect(plugin.objection(to: "application/json; charset=utf-8") == nil)
    #expect(plugin.objection(to: "text/plain")?.contains("not in \"produces\"") == true)
    #expect(plugin.objection(to: "nonsense")?.contains("no media type") == true)
  }

  @Test func `is another version when anything of it differs`() {
    var manifest = Manifest()
    manifest.perUser = true
    let plugin = PluginFixture.plugin(Manifest())
    #expect(plugin == PluginFixture.plugin(Manifest()))
    for other in [
      PluginFixture.plugin(manifest), PluginFixture.plugin(Manifest(), identity: "b"),
      PluginFixture.plugin(Manifest(), problem: "It is broken."),
    ] {
      #expect(plugin != other)
    }
  }

  @Test func `quotes at most 80 bytes of what a plugin wrote, control characters escaped`() {
    #expect(MalformedOutput.quoted("a\r\n\u{1}\u{7F}é".utf8) == #""a\r\n\x1\x7f\xc3\xa9""#)
    let long = MalformedOutput.quoted([UInt8](repeating: 0x61, count: 81))
    #expect(long == "\"" + String(repeating: "a", count: 80) + "\"…")
    #expect(!MalformedOutput.quoted([UInt8](repeating: 0x61, count: 80)).hasSuffix("…"))
  }
}
