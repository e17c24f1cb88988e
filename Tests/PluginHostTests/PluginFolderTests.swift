import Foundation
import Testing

@testable import PluginHost

@Suite(.serialized, .timeLimit(.minutes(2))) struct PluginFolderTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test func `finds a plugin by its exact name only`() throws {
    try fixture.script("coupon", "exit 0")
    #expect(fixture.host.plugin("coupon") != nil)
    for name in ["Coupon", "coupon/", "./coupon", "", "..", "coupon\0", "1coupon", "a_b"] {
      #expect(fixture.host.plugin(name) == nil)
    }
    try fixture.write("plugins/UPPER", "#!/bin/sh\n")
    #expect(fixture.host.plugins().map(\.richType) == ["coupon"])
  }

  @Test func `takes an added, changed and removed plugin without a restart`() async throws {
    #expect(fixture.host.plugin("coupon") == nil)
    try fixture.script("coupon", "echo 'Content-Type: text/plain'; echo; echo one")
    let first = try #require(fixture.host.plugin("coupon"))
    #expect(try await fixture.text("coupon") == "one\n")
    try fixture.script("coupon", "echo 'Content-Type: text/plain'; echo; echo two")
    #expect(try await fixture.text("coupon") == "two\n")
    #expect(fixture.host.plugin("coupon")?.identity != first.identity)
    try FileManager.default.removeItem(atPath: first.executable)
    #expect(fixture.host.plugin("coupon") == nil)
  }

  @Test func `notices a file in a folder that was empty`() throws {
    let place = "\(fixture.folder)/plugins"
    let folder = PluginFolder(
      PluginConfiguration(
        folder: place, executables: nil, launcher: "/none", temporaryFolder: fixture.folder))
    try FileManager.default.createDirectory(
      atPath: place + "/late", withIntermediateDirectories: true)
    #expect(folder.plugins().isEmpty)
    while folder.noticeChanges() {}
    try fixture.write("plugins/late/late", "#!/bin/sh\n")
    #expect(folder.noticeChanges())
    #expect(folder.plugins().map(\.richType) == ["late"])
  }

  @Test func `takes a plugin whose file and TMPDIR are of another century`() async throws {
    try fixture.script(
      "late",
      "touch -d 2300-01-01 $TMPDIR; echo 'Content-Type: text/plain'; echo; echo hi")
    let time = timespec(tv_sec: 10_413_792_000, tv_nsec: 0)
    #expect(utimensat(AT_FDCWD, "\(fixture.folder)/plugins/late", [time, time], 0) == 0)
    for _ in 0..<2 { #expect(try await fixture.text("late") == "hi\n") }
    for seconds in [Int.min, .max] {
      let time = FileStamp.nanoseconds(timespec(tv_sec: seconds, tv_nsec: 999_999_999))
      #expect(time.signum() == seconds.signum())
    }
  }

  @Test func `has another identity when any of its files changes`() throws {
    try fixture.script("coupon", manifest: "{}", "exit 0")
    let first = fixture.host.plugin("coupon")?.identity
    #expect(fixture.host.plugin("coupon")?.identity == first)
    try fixture.write("plugins/coupon/data/list.txt", "a")
    let second = fixture.host.plugin("coupon")?.identity
    #expect(second != first)
    try fixture.write("plugins/coupon/data/list.txt", "b")
    #expect(fixture.host.plugin("coupon")?.identity != second)
    try fixture.write("plugins/coupon/data/list.txt", "a")
    #expect(fixture.host.plugin("coupon")?.identity == second)
    #expect(chmod("\(fixture.folder)/plugins/coupon/data/list.txt", 0o700) == 0)
    #expect(fixture.host.plugin("coupon")?.identity != second)
  }

  @Test(arguments: ["coupon.dpkg-new", "coupon.dpkg-tmp", ".coupon.swp"])
  func `stays the same while a file of another version is unpacked beside it`(name: String) throws {
    try fixture.script("coupon", manifest: "{}", "exit 0")
    let first = try #require(fixture.host.plugin("coupon"))
    try fixture.write("plugins/coupon/\(name)", "#!/bin/sh\n", mode: 0)
    #expect(fixture.host.plugin("coupon")?.identity == first.identity)
    #expect(fixture.host.plugin("coupon")?.problem == nil)
  }

  @Test func `looks an executable up beside the program`() throws {
    try fixture.write("plugins/img/plugin.json", #"{"name":"img"}"#, mode: 0o644)
    #expect(
      fixture.host.plugin("img")?.problem
        == "its executable \(fixture.folder)/plugins/img/img is missing")
    try fixture.write("binaries/img", "#!/bin/sh\n")
    let plugin = try #require(fixture.host.plugin("img"))
    #expect(plugin.problem == nil)
    #expect(plugin.executable == "\(fixture.folder)/binaries/img")
    #expect(plugin.folder == "\(fixture.folder)/plugins/img")
    try fixture.write("binaries/img", "#!/bin/sh\n#2\n")
    #expect(fixture.host.plugin("img")?.identity != plugin.identity)
  }

  @Test func `takes further programs from beside its executable, which may lack them`() throws {
    try fixture.write(
      "plugins/img/plugin.json", #"{"name":"img","programs":["decode"]}"#, mode: 0o644)
    try fixture.write("binaries/img", "#!/bin/sh\n")
    let plugin = try #require(fixture.host.plugin("img"))
    #expect(plugin.problem == nil)
    try fixture.write("binaries/decode", "#!/bin/sh\n")
    try fixture.write("binaries/img", "#!/bin/sh\n#2\n")
    let second = try #require(fixture.host.plugin("img"))
    #expect(second.roots.last == "\(fixture.folder)/binaries/decode")
    try fixture.write("binaries/decode", "#!/bin/sh\n#2\n")
    #expect(fixture.host.plugin("img")?.identity != second.identity)
  }

  @Test func `looks for no programs elsewhere if the executable is in the plugin's folder`() throws
  {
    try fixture.write("binaries/decode", "#!/bin/sh\n")
    try fixture.script("coupon", manifest: #"{"programs":["decode"]}"#, "exit 0")
    #expect(fixture.host.plugin("coupon")?.roots == ["\(fixture.folder)/plugins/coupon"])
  }

  @Test func `takes a plugin that ships until the operator's folder has one of that name`()
    async throws
  {
    let shipped = "\(fixture.folder)/shipped"
    let fixture = try PluginFixture { $0.furtherFolders = [shipped] }
    for name in ["img", "url"] {
      try self.fixture.write(
        "shipped/\(name)", "#!/bin/sh\necho 'Content-Type: text/plain'; echo; echo shipped\n")
    }
    try fixture.script("own", "exit 0")
    #expect(fixture.host.plugins().map(\.richType) == ["img", "own", "url"])
    #expect(try await fixture.text("img") == "shipped\n")
    let first = fixture.host.plugin("img")
    try fixture.script("img", "echo 'Content-Type: text/plain'; echo; echo own")
    #expect(try await fixture.text("img") == "own\n")
    #expect(fixture.host.plugin("url")?.folder == shipped)
    try FileManager.default.removeItem(atPath: "\(fixture.folder)/plugins/img")
    #expect(try await fixture.text("img") == "shipped\n")
    #expect(fixture.host.plugin("img") == first)
  }

  @Test func `runs nothing from a shipped folder that every user can change`() async throws {
    let shipped = "\(fixture.folder)/shipped"
    let fixture = try PluginFixture { $0.furtherFolders = [shipped] }
    try self.fixture.write("shipped/img", "#!/bin/sh\n")
    #expect(chmod(shipped, 0o777) == 0)
    #expect(
      fixture.host.plugin("img")?.problem?.contains("every user of this machine can change")
        == true)
  }
}
