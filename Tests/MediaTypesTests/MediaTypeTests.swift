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

  @Test func `matches patterns as a manifest writes them`() throws {
    let type = try #require(MediaType("audio/wav"))
    #expect(["audio/wav", "audio/*", "*/*"].allSatisfy(type.matches))
    #expect(!["audio/*wav", "image/*", "audio", ""].contains(where: type.matches))
  }

  @Test(arguments: [
    "text/html", "application/xhtml+xml", "image/svg+xml", "text/xml", "application/atom+xml",
    "text/javascript", "application/javascript", "application/x-httpd-php", "text/x-shellscript",
    "multipart/mixed", "text/css",
  ])
  func `never serves what a browser or a shell would run`(declared: String) throws {
    #expect(try !#require(MediaType(declared)).isServable)
  }

  @Test(arguments: [
    "image/png", "image/heic", "audio/x-caf", "video/mp4", "text/plain", "application/json",
    "application/vnd.apple.pkpass", "application/octet-stream", "application/pdf",
  ])
  func `serves media, documents and data`(declared: String) throws {
    #expect(try #require(MediaType(declared)).isServable)
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
