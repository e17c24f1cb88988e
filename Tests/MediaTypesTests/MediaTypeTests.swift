import MediaTypes
import Testing

@Suite struct MediaTypeTests {
  @Test(arguments: [
    ("image/png", "image/png"), ("Audio/MPEG; rate=1", "audio/mpeg"),
    (" text/plain ;charset=utf-8", "text/plain"),
  ])
  func `reads the essence of a declared type`(declared: String, value: String) {
    #expect(MediaType(declared)?.value == value)
  }

  @Test(arguments: ["", "image", "image/", "/png", "image/png/x", "ima ge/png", "image/p\u{0}ng"])
  func `refuses what is no type and subtype`(declared: String) {
    #expect(MediaType(declared) == nil)
  }

  @Test(arguments: [
    ("image/jpeg", "jpg"), ("audio/mp4", "m4a"), ("audio/aiff", "aiff"), ("x/y", "bin"),
  ])
  func `gives the extension by which a phone knows an attachment`(
    declared: String, name: String
  ) throws {
    #expect(try #require(MediaType(declared)).fileExtension == name)
  }
}
