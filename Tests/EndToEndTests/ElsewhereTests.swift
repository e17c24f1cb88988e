import Foundation
import RichPushClient
import Testing
import Waiting

/// The program where it is started outside the repository, with nothing beside it in the current folder.
@Suite(.timeLimit(.minutes(5))) struct ElsewhereTests {
  private let scratch: Scratch

  init() throws { scratch = try Scratch() }

  /// Lays the program out as `make install` does: the programs, `plugins` and `assets` in one folder.
  ///
  /// Returns the link to `richpush` that is in another folder, `bin`.
  private func install() throws -> URL {
    let home = try scratch.makeFolder("lib/richpush")
    for name in ["richpush", "richpush-exec"] {
      try FileManager.default.copyItem(at: Package.program(name), to: home.appending(path: name))
    }
    for name in ["img", "sound", "url"] {
      let folder = try scratch.makeFolder("lib/richpush/plugins/\(name)")
      try FileManager.default.copyItem(at: Package.program(name), to: folder.appending(path: name))
      try scratch.drop(
        Package.bytes("plugins/\(name)/plugin.json"),
        as: "lib/richpush/plugins/\(name)/plugin.json")
    }
    try FileManager.default.copyItem(
      at: Package.program("img-decode"), to: home.appending(path: "plugins/img/img-decode"))
    try scratch.dropSamples(into: "lib/richpush/assets")
    let link = try scratch.makeFolder("bin").appending(path: "richpush")
    try FileManager.default.createSymbolicLink(
      at: link, withDestinationURL: home.appending(path: "richpush"))
    return link
  }

  /// Starts an installed server in a folder and gives its lines and its address.
  private func serve(
    _ flags: String..., in folder: URL
  ) async throws -> (child: Child, lines: AsyncStream<String>.Iterator, address: String) {
    let bin = scratch.folder.appending(path: "bin/richpush")
    let program = FileManager.default.fileExists(atPath: bin.path) ? bin : try install()
    let child = try Child(
      "/bin/sh",
      ["-c", "cd \"$0\" && exec \"$@\"", folder.path, program.path, "serve"]
        + ["--listen", "127.0.0.1:0"] + flags)
    var lines = child.lines.makeAsyncIterator()
    let line = try #require(await lines.next(), "\(child.errors)")
    let address = try #require(line.split(separator: " ").last.map(String.init))
    return (child, lines, address)
  }

  private func expectEnd(of child: Child) async {
    child.send(SIGTERM)
    #expect(await child.exitCode() == 0, "\(child.errors)")
  }

  @Test func `the demonstration's own printed command works in an empty folder`() async throws {
    let folder = try scratch.makeFolder("elsewhere")
    let (child, rest, address) = try await serve("--demo", in: folder)
    var (lines, command) = (rest, Substring?.none)
    while command == nil, let line = await lines.next() {
      command = line.firstRange(of: "curl ").map { line[$0.lowerBound...] }
    }
    let sent = try await Child.run(
      "/bin/sh", ["-c", try String(#require(command)) + " -sS -o /dev/null -w '%{http_code}'"])
    #expect(sent.output.first?.hasPrefix("20") == true, "\(sent) \(child.errors)")
    let alice = RichPushClient(
      endpoint: try #require(URL(string: address)), user: "alice", password: "alice")
    #expect(try await alice.media(0, options: MediaOptions(width: 96)).contentType == "image/png")
    try await eventually("the samples are there") {
      Set(try await alice.assets().map(\.richType)) == ["img", "sound", "url"]
    }
    let names = try FileManager.default.subpathsOfDirectory(atPath: folder.path + "/assets")
    #expect(Set(names) == Set(Scratch.samples).union(["img", "sound", "url"]))
    await expectEnd(of: child)
  }

  @Test
  func
    `the demonstration brings its picture into a drop folder that lacks it, and touches nothing else`()
    async throws
  {
    try scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/mine.jpg")
    let (child, _, address) = try await serve("--demo", in: scratch.folder)
    let alice = RichPushClient(
      endpoint: try #require(URL(string: address)), user: "alice", password: "alice")
    _ = try await alice.create(.logo(to: "alice"))
    await expectEnd(of: child)
    let names = FileManager.default.subpaths(atPath: scratch.folder.path + "/assets") ?? []
    #expect(Set(names) == ["img", "img/mine.jpg", "img/logo.png"])
  }

  @Test func `the demonstration copies files only, and says what it could not copy`() async throws {
    let home = try install().resolvingSymlinksInPath().deletingLastPathComponent()
    let assets = home.appending(path: "assets")
    #expect(mkfifo(assets.path + "/img/pipe", 0o644) == 0)
    try scratch.makeFolder("lib/richpush/assets/img/album")
    try FileManager.default.createSymbolicLink(
      atPath: assets.path + "/img/link.png", withDestinationPath: "/etc/passwd")
    let folder = try scratch.makeFolder("elsewhere")
    // A file where the folder of a rich type would be.
    try scratch.drop([], as: "elsewhere/assets/img")
    let (child, _, _) = try await serve("--demo", in: folder)
    #expect(child.errors.contains("the sample img/logo.png is not copied"), "\(child.errors)")
    await expectEnd(of: child)
    let fresh = try scratch.makeFolder("fresh")
    let (second, _, _) = try await serve("--demo", in: fresh)
    #expect(!second.errors.contains("is not copied"), "\(second.errors)")
    await expectEnd(of: second)
    let names = try FileManager.default.subpathsOfDirectory(atPath: fresh.path + "/assets")
    #expect(Set(names) == Set(Scratch.samples).union(["img", "sound", "url"]))
  }

  @Test func `what make install copies of assets is what ships, whatever lies beside it`() throws {
    let makefile = String(decoding: try Package.bytes("Makefile"), as: UTF8.self)
    let line = try #require(makefile.split(separator: "\n").first { $0.hasPrefix("SAMPLES := ") })
    #expect(
      Set(line.split(separator: " ").dropFirst(2).map(String.init))
        == Set(Scratch.samples.map { "assets/" + $0 }))
    #expect(!makefile.contains("assets/*"))
  }

  @Test func `an installed program finds its plugins beside itself, and the user's before them`()
    async throws
  {
    let program = try install().path
    let folder = try scratch.makeFolder("elsewhere")
    try scratch.drop(
      Array("#!/bin/sh\nprintf 'Content-Type: text/plain\\n\\nmine'\n".utf8),
      as: "elsewhere/plugins/coupon", executable: true)
    let list = try await Child.run(
      "/bin/sh",
      ["-c", "cd \"$0\" && exec \"$@\"", folder.path, program, "plugin", "list"]
        + ["--server", "http://127.0.0.1:9"])
    let types = list.output.compactMap { $0.split(separator: " ").first }
    #expect(types.contains("coupon") && types.contains("img"), "\(list)")
    #expect(list.output.contains { $0.hasPrefix("img ") && $0.contains("ready") }, "\(list)")
    let named = try await Child.run(
      "/bin/sh",
      ["-c", "cd \"$0\" && exec \"$@\"", folder.path, program, "plugin", "list"]
        + ["--server", "http://127.0.0.1:9", "--plugins", "plugins"])
    #expect(!named.output.contains { $0.hasPrefix("img ") }, "a named folder is all there is")
  }

  @Test func `a server says at the start that its drop folder is not there`() async throws {
    let (child, _, _) = try await serve("--assets", "nowhere", in: scratch.folder)
    #expect(child.errors.contains("there is no folder nowhere"), "\(child.errors)")
    await expectEnd(of: child)
  }
}
