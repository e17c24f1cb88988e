import Foundation
import PluginHost
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Media

@Suite(.timeLimit(.minutes(1))) struct RenditionOptionsTests {
  /// The pairs of a query in which nothing is escaped.
  private func items(_ query: String) -> [(name: String, value: String)] {
    query.split(separator: "&").map { pair in
      let parts = pair.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
      return (String(parts[0]), parts.count == 2 ? String(parts[1]) : "")
    }
  }

  private func text(
    _ query: String, declaring keys: [String] = [], defaults: [String: String] = [:]
  ) throws -> String {
    try RenditionOptions(items(query), declaring: keys, defaults: defaults).items
      .map { "\($0.name)=\($0.value)" }.joined(separator: "&")
  }

  @Test(arguments: [
    ("", ""),
    ("width=320", "width=320"),
    ("width=321", "width=400"),
    ("width=1", "width=64"),
    ("width=99999", "width=2560"),
    ("width=200&dpr=2", "width=400"),
    ("width=321&dpr=0.5", "width=240"),
    ("height=100&width=100", "width=128&height=128"),
    ("fit=contain&width=64", "width=64"),
    ("fit=cover&width=64", "width=64&fit=cover"),
    ("fit=cover", ""),
    ("profile=thumb&fit=cover", "profile=thumb&fit=cover"),
    ("profile=thumb&fit=contain", "profile=thumb"),
    ("profile=ios", "profile=ios"),
  ])
  func `equal requests have equal text`(_ query: String, _ canonical: String) throws {
    #expect(try text(query) == canonical)
  }

  @Test(arguments: [
    "width=0", "width=-3", "width=abc", "width=1e3", "width=64&width=96", "profile=desktop",
    "fit=stretch", "dpr=0", "dpr=nan", "dpr=99", "colour=red", "width=",
  ])
  func `rejects unknown options`(_ query: String) throws {
    let error = try #require(throws: ServiceError.self) { try text(query) }
    #expect([.invalidRequest, .unknownField].contains(error.code))
  }

  @Test(arguments: [
    ("widh=64", "Unknown query parameter “widh”. Did you mean “width”?"),
    ("vieuw=waveform", "Unknown query parameter “vieuw”. Did you mean “view”?"),
    ("colour=red", "There are profile, width, height, fit, dpr, view."),
  ])
  func `suggests the intended option for a misspelled one`(_ query: String, _ said: String) throws {
    let error = try #require(throws: ServiceError.self) { try text(query, declaring: ["view"]) }
    #expect(error.code == .unknownField)
    #expect(error.reason.contains(said), "\(error.reason)")
  }

  @Test func `keeps the keys that the plugin declares, in the order of their names`() throws {
    #expect(
      try text("view=waveform&a=1&width=64", declaring: ["view", "a"])
        == "width=64&a=1&view=waveform")
  }

  @Test func `limits the length of what the plugin declares`() throws {
    let longest = String(repeating: "x", count: 256)
    #expect(try text("a=" + longest, declaring: ["a"]) == "a=" + longest)
    #expect(throws: ServiceError.self) { try text("a=x" + longest, declaring: ["a"]) }
  }

  @Test(arguments: [("page=1", ""), ("page=2", "page=2"), ("page=", "page=")])
  func `an option at the plugin's default is the same as none`(
    _ query: String, _ canonical: String
  ) throws {
    #expect(try text(query, declaring: ["page"], defaults: ["page": "1"]) == canonical)
  }

  @Test(arguments: [
    ("", "0.2,0.6", ""), ("width=64", nil, "width=64"),
    ("width=64", "0.2,0.6", "width=64&focus=0.2,0.6"), ("width=64", "0.5,0.5", "width=64"),
    ("profile=ios", "0.2,0.6", "profile=ios&focus=0.2,0.6"),
    ("width=64&focus=1,1", "0.2,0.6", "width=64&focus=1,1"),
    ("width=64&focus=0.5,0.5", "0.2,0.6", "width=64"),
  ])
  func `the focus of an asset counts where a request names none, and is part of the key`(
    _ query: String, _ focus: String?, _ canonical: String
  ) throws {
    let media = try MediaFixture {
      try $0.installPlugin("note", manifest: #"{"query":["focus=0.5,0.5"]}"#, "exit 1")
    }
    let plugin = try #require(media.host.plugin("note"))
    let options = try RenditionOptions(
      items(query), declaring: ["focus"], defaults: ["focus": "0.5,0.5"])
    func request(_ focus: String?) -> RenditionRequest {
      RenditionRequest(
        source: RenditionSource(richType: "note", message: "m", payload: "p", focus: focus),
        options: options, plugin: plugin)
    }
    let items = request(focus).options.items.map { "\($0.name)=\($0.value)" }
    #expect(items.joined(separator: "&") == canonical)
    let isOther = canonical.hasSuffix("focus=0.2,0.6")
    #expect((request(focus).key != request(nil).key) == isOther)
  }

  @Test func `a plugin that does not declare a focus gets none`() throws {
    let media = try MediaFixture { try $0.installPlugin("plain", manifest: "{}", "exit 1") }
    let plugin = try #require(media.host.plugin("plain"))
    let options = try RenditionOptions(items("width=64"), declaring: [])
    func request(_ focus: String?) -> RenditionRequest {
      RenditionRequest(
        source: RenditionSource(richType: "plain", message: "m", payload: "p", focus: focus),
        options: options, plugin: plugin)
    }
    #expect(request("0.2,0.6").key == request(nil).key)
  }

  @Test func `a profile sets the limits that a plugin gets, and a size replaces them`() throws {
    let limits = try RenditionOptions(items("profile=watch"), declaring: []).limits
    #expect(limits.profile == "watch" && limits.maxBytes == 60_000)
    #expect(limits.width == 400 && limits.height == 480)
    let sized = try RenditionOptions(items("profile=watch&width=64"), declaring: []).limits
    #expect(sized.width == 64 && sized.height == nil && sized.maxBytes == 60_000)
  }

  @Test(arguments: [
    ("original", "original"), ("ios", "ios"), ("w640", "w640"), ("w641", "w750"), ("h90", "h96"),
    ("w100h90-cover", "w128h96-cover"), ("original;view=waveform", "original;view=waveform"),
    ("w100;view=a.b", "w128;view=a.b"), ("ios;view=a;page=2", "ios;page=2;view=a"),
  ])
  func `a rendition has one name`(name: String, canonical: String) throws {
    #expect(try RenditionOptions(name: name, declaring: ["view", "page"]).name == canonical)
  }

  @Test(arguments: [
    "", "-cover", "w", "w0", "x640", "ios ", "w640h", "w9999999", "ios;", "ios;look=a",
    "ios;view=a b", "ios;view=a;view=b",
  ])
  func `rejects invalid names`(name: String) {
    #expect(throws: ServiceError.self) { try RenditionOptions(name: name, declaring: ["view"]) }
  }
}
