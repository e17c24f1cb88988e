import HTTP
import PluginHost
import Testing

@testable import Origin

@Suite struct RenditionOptionsTests {
  private func text(_ query: String, declaring keys: [String] = []) throws -> String {
    let request = try Request("GET", "/?" + query)
    return try RenditionOptions(request.query, declaring: keys).items
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  @Test(arguments: [
    ("", ""),
    ("width=320", "width=320"),
    ("width=321", "width=400"),
    ("width=1", "width=64"),
    ("width=99999", "width=2560"),
    ("width=200&dpr=2", "width=400"),
    ("height=100&width=100", "width=128&height=128"),
    ("fit=contain&width=64", "width=64"),
    ("fit=cover&width=64", "width=64&fit=cover"),
    ("fit=cover", ""),
    ("profile=thumb&fit=cover", "profile=thumb&fit=cover"),
    ("profile=thumb&fit=contain", "profile=thumb"),
    ("profile=ios", "profile=ios"),
  ])
  func `equal wishes have equal text`(_ query: String, _ canonical: String) throws {
    #expect(try text(query) == canonical)
  }

  @Test(arguments: [
    "width=0", "width=-3", "width=abc", "width=1e3", "width=64&width=96", "profile=desktop",
    "fit=stretch", "dpr=0", "dpr=nan", "dpr=99", "colour=red", "width=",
  ])
  func `refuses what it does not understand`(_ query: String) throws {
    let error = try #require(throws: TheRefusal.self) { try text(query) }
    #expect(error.status == 400)
  }

  @Test func `keeps the keys that the plugin declares, in the order of their names`() throws {
    #expect(
      try text("view=waveform&a=1&width=64", declaring: ["view", "a"])
        == "width=64&a=1&view=waveform")
  }

  @Test(arguments: [("page=1", ""), ("page=2", "page=2"), ("page=", "page=")])
  func `to say what a plugin takes anyway is to say nothing`(
    _ query: String, _ canonical: String
  ) throws {
    let request = try Request("GET", "/?" + query)
    let options = try RenditionOptions(
      request.query, declaring: ["page"], defaults: ["page": "1"])
    #expect(options.items.map { "\($0.name)=\($0.value)" }.joined() == canonical)
  }

  @Test func `a profile sets the limits that a plugin gets`() throws {
    let request = try Request("GET", "/?profile=watch")
    let limits = try RenditionOptions(request.query, declaring: []).limits
    #expect(limits.profile == "watch")
    #expect(limits.width == 400 && limits.height == 480)
    #expect(limits.maxBytes == 60_000)
  }
}
