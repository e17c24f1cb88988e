import Foundation
import Testing

@testable import PluginHost

@Suite struct PluginFolderTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test func `finds a plugin by its exact name only`() throws {
    try workshop.script("coupon", "exit 0")
    #expect(workshop.host.plugin("coupon") != nil)
    for name in ["Coupon", "coupon/", "./coupon", "", "..", "coupon\0", "1coupon", "a_b"] {
      #expect(workshop.host.plugin(name) == nil)
    }
    try workshop.write("plugins/UPPER", "#!/bin/sh\n")
    #expect(workshop.host.plugins().map(\.richType) == ["coupon"])
  }

  @Test func `takes an added, changed and removed plugin without a restart`() async throws {
    #expect(workshop.host.plugin("coupon") == nil)
    try workshop.script("coupon", "echo 'Content-Type: text/plain'; echo; echo one")
    let first = try #require(workshop.host.plugin("coupon"))
    #expect(try await workshop.text("coupon") == "one\n")
    try workshop.script("coupon", "echo 'Content-Type: text/plain'; echo; echo two")
    #expect(try await workshop.text("coupon") == "two\n")
    #expect(workshop.host.plugin("coupon")?.identity != first.identity)
    try FileManager.default.removeItem(atPath: first.executable)
    #expect(workshop.host.plugin("coupon") == nil)
  }

  @Test func `hears of what comes into a folder that was empty`() throws {
    let place = "\(workshop.folder)/plugins"
    let folder = PluginFolder(path: place, binaries: nil, ceiling: Manifest().limits)
    try FileManager.default.createDirectory(
      atPath: place + "/late", withIntermediateDirectories: true)
    #expect(folder.plugins().isEmpty)
    while folder.watch.hasChanged {}
    try workshop.write("plugins/late/late", "#!/bin/sh\n")
    #expect(folder.watch.hasChanged)
    #expect(folder.plugins().map(\.richType) == ["late"])
  }

  @Test func `has another identity when any of its files changes`() throws {
    try workshop.script("coupon", manifest: "{}", "exit 0")
    let first = workshop.host.plugin("coupon")?.identity
    #expect(workshop.host.plugin("coupon")?.identity == first)
    try workshop.write("plugins/coupon/data/list.txt", "a")
    let second = workshop.host.plugin("coupon")?.identity
    #expect(second != first)
    try workshop.write("plugins/coupon/data/list.txt", "b")
    #expect(workshop.host.plugin("coupon")?.identity != second)
    try workshop.write("plugins/coupon/data/list.txt", "a")
    #expect(workshop.host.plugin("coupon")?.identity == second)
  }

  @Test func `looks an executable up beside the program`() throws {
    try workshop.write("plugins/img/plugin.json", #"{"name":"img"}"#, mode: 0o644)
    #expect(workshop.host.plugin("img")?.problem == "its executable img is missing")
    try workshop.write("binaries/img", "#!/bin/sh\n")
    let plugin = try #require(workshop.host.plugin("img"))
    #expect(plugin.problem == nil)
    #expect(plugin.executable == "\(workshop.folder)/binaries/img")
    #expect(plugin.folder == "\(workshop.folder)/plugins/img")
    try workshop.write("binaries/img", "#!/bin/sh\n#2\n")
    #expect(workshop.host.plugin("img")?.identity != plugin.identity)
  }
}
