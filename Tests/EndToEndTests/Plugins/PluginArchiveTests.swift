import Foundation
import Testing

/// `richpush plugin pack` and `install`: a plugin as one file, from anybody.
@Suite(.timeLimit(.minutes(5))) struct PluginArchiveTests {
  private let scratch: Scratch
  private var folder: String { scratch.folder.path }

  init() throws { scratch = try Scratch() }

  private func plugin(_ words: String...) async throws -> Child.Result {
    try await Child.run("richpush", ["plugin"] + words)
  }

  /// Everything below a folder, by path, with its mode.
  private func contents(_ folder: String) throws -> [String: Int] {
    let paths = try FileManager.default.subpathsOfDirectory(atPath: folder)
    return try paths.reduce(into: [:]) {
      let facts = try FileManager.default.attributesOfItem(atPath: folder + "/" + $1)
      $0[$1] = facts[.posixPermissions] as? Int
    }
  }

  private func copyExample(_ name: String, to place: String) throws -> String {
    let copy = try scratch.makeFolder(place).appending(path: name)
    try FileManager.default.copyItem(
      at: Package.root.appending(path: "plugins/examples/\(name)"), to: copy)
    return copy.path
  }

  @Test func `the same files make the same archive, which tar understands`() async throws {
    let first = try copyExample("poll", to: "one")
    let second = try copyExample("poll", to: "two")
    for name in [".git", "__pycache__"] { try scratch.makeFolder("two/poll/" + name) }
    try scratch.drop([0], as: "two/poll/__pycache__/poll.pyc")
    #expect(chmod(second + "/poll", 0o4700) == 0 && chmod(second + "/plugin.json", 0o600) == 0)
    let archives = ["a", "b"].map { "\(folder)/\($0).tar" }
    for (path, archive) in zip([first, second], archives) {
      let packed = try await plugin("pack", path, "--output", archive)
      #expect(packed.exitCode == 0 && packed.output == ["\(archive): 3 files"], "\(packed)")
      #expect(packed.errors.contains("left out: .git") == (path == second), "\(packed.errors)")
    }
    #expect(FileManager.default.contentsEqual(atPath: archives[0], andPath: archives[1]))
    let listed = try await Child.run("/usr/bin/tar", ["tf", archives[0]])
    #expect(listed.output == ["poll/plugin.json", "poll/poll", "poll/samples/drinks.payload"])
    let again = try await plugin("pack", first, "--output", archives[0])
    #expect(again.exitCode == 1 && again.errors.contains("--replace"))
    #expect(try await plugin("pack", first, "--output", archives[0], "--replace").exitCode == 0)
  }

  @Test func `an archive is checked and installed, and replaces another one only if told to`()
    async throws
  {
    let archive = folder + "/poll.tar"
    _ = try await plugin("pack", try copyExample("poll", to: "source"), "--output", archive)
    let target = try scratch.makeFolder("target").path
    let installed = try await plugin("install", archive, "--plugins", target)
    #expect(installed.exitCode == 0, "\(installed)")
    #expect(installed.output.first?.hasPrefix("1..") == true)
    #expect(installed.output.last == "installed \(target)/poll")
    let found = try contents(target)
    #expect(found["poll/poll"] == 0o755 && found["poll/plugin.json"] == 0o644, "\(found)")
    #expect(found["poll"] == 0o755 && found.count == 5, "\(found)")
    let payload = #"{"question":"Tea?","answers":["Yes","No"]}"#
    let run = try await plugin("run", "poll", "--payload", payload, "--plugins", target)
    #expect(run.exitCode == 0, "\(run)")
    let again = try await plugin("install", archive, "--plugins", target)
    #expect(again.exitCode == 1 && again.errors.contains("--replace"), "\(again)")
    #expect(try contents(target) == found)
    // What the operator has put there is not lost.
    try scratch.drop(Array("mine".utf8), as: "target/poll/settings.json")
    for number in 1...2 {
      let replaced = try await plugin("install", archive, "--plugins", target, "--replace")
      #expect(replaced.exitCode == 0, "\(replaced)")
      let former = "\(target)/.poll.before-\(number)"
      #expect(replaced.output.last == "the one before is kept as \(former)")
      let isKept = FileManager.default.fileExists(atPath: former + "/settings.json")
      #expect(isKept == (number == 1))
    }
    let names = try FileManager.default.contentsOfDirectory(atPath: target).sorted()
    #expect(names == [".poll.before-1", ".poll.before-2", "poll"])
  }

  @Test func `a plugin that fails a check is not installed`() async throws {
    let source = try copyExample("poll", to: "source")
    try scratch.drop(
      Array("#!/bin/sh\nkill -9 $$\n".utf8), as: "source/poll/poll", executable: true)
    _ = try await plugin("pack", source, "--output", folder + "/poll.tar")
    let target = try scratch.makeFolder("target").path
    let installed = try await plugin("install", folder + "/poll.tar", "--plugins", target)
    #expect(installed.exitCode == 65 && installed.errors.contains("nothing was installed"))
    #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
  }

  @Test func `a folder with a link, a pipe or a foreign executable is not packed`() async throws {
    let source = try copyExample("poll", to: "source")
    symlink("/etc/passwd", source + "/link")
    let linked = try await plugin("pack", source, "--output", folder + "/a.tar")
    #expect(linked.exitCode == 1 && linked.errors.contains("link is a link"), "\(linked)")
    unlink(source + "/link")
    mkfifo(source + "/pipe", 0o644)
    #expect(try await plugin("pack", source, "--output", folder + "/a.tar").exitCode == 1)
    unlink(source + "/pipe")
    for path in [Package.root.appending(path: "plugins/img").path, source + "/poll", "/etc"] {
      let refused = try await plugin("pack", path, "--output", folder + "/a.tar")
      #expect(refused.exitCode == 1, "\(path)")
    }
    #expect(!FileManager.default.fileExists(atPath: folder + "/a.tar"))
    #expect(try await plugin("pack", source, "--output", folder + "/a.tar").exitCode == 0)
  }

  /// Makes hostile archives, each of a plugin that works otherwise.
  private static let program = #"""
    import io, sys, tarfile
    kind, target, source = sys.argv[1:]
    def member(name, data=b"x", mode=0o644, type=tarfile.REGTYPE, link=""):
        info = tarfile.TarInfo(name)
        info.size, info.mode, info.type, info.linkname = len(data), mode, type, link
        return info, io.BytesIO(data)
    extra = {
        "parent": [member("../evil")], "absolute": [member("/tmp/richpush-evil")],
        "inner parent": [member("poll/../../evil")], "dot": [member("poll/./evil")],
        "empty name": [member("poll//evil")], "link": [member("poll/evil", b"", type=tarfile.SYMTYPE, link="/etc")],
        "through a link": [member("poll/evil", b"", type=tarfile.SYMTYPE, link=".."), member("poll/evil/out")],
        "hard link": [member("poll/evil", b"", type=tarfile.LNKTYPE, link="/etc/passwd")],
        "pipe": [member("poll/evil", b"", type=tarfile.FIFOTYPE)],
        "device": [member("poll/evil", b"", type=tarfile.CHRTYPE)],
        "setuid": [member("poll/evil", mode=0o4755)], "setgid": [member("poll/evil", mode=0o2755)],
        "sticky": [member("poll/evil", b"", mode=0o1777, type=tarfile.DIRTYPE)],
        "second folder": [member("other/evil")], "no folder": [member("evil")],
        "hidden": [member("poll/.evil")], "compiled": [member("poll/__pycache__/poll.pyc")],
        "twice": [member("poll/poll", b"#!/bin/sh\n", mode=0o755)],
        "file as folder": [member("poll/poll/evil")],
        "folder as file": [member("poll/samples")],
        "control": [member("poll/ev\nil")], "many": [member("poll/%d" % n) for n in range(5000)],
        "deep": [member("poll/" + "a/" * 40 + "b")], "long": [member("poll/" + "n" * 400)],
    }.get(kind, [])
    out = io.BytesIO()
    style = tarfile.PAX_FORMAT if kind == "long" else tarfile.USTAR_FORMAT
    with tarfile.open(fileobj=out, mode="w", format=style) as archive:
        for name in ("plugin.json", "poll", "samples/drinks.payload"):
            with open(source + "/" + name, "rb") as file:
                archive.addfile(*member("poll/" + name, file.read(), 0o755 if name == "poll" else 0o644))
        for info, data in extra:
            archive.addfile(info, data)
    data = bytearray(out.getvalue())
    if kind == "huge":
        info = member("poll/huge", b"")[0]
        info.size = 7 << 30
        data = data[:3 * 1024] + info.tobuf(tarfile.USTAR_FORMAT)
    elif kind == "sparse": info = member("poll/huge", b"")[0]
    elif kind == "truncated": data = data[:2000]
    elif kind == "no end": data = data[:len(data) // 10240 * 10240 - 9000]
    elif kind == "behind": data += b"evil" + bytes(508)
    elif kind == "damaged": data[0] ^= 1
    elif kind == "random": data = bytes(range(256)) * 40
    elif kind == "empty": data = b""
    elif kind == "zeros": data = bytes(10240)
    with open(target, "wb") as file: file.write(data)
    if kind == "sparse":
        with open(target, "r+b") as file: file.truncate(1 << 40)
    """#

  @Test(arguments: [
    "parent", "absolute", "inner parent", "dot", "empty name", "link", "through a link",
    "hard link", "pipe", "device", "setuid", "setgid", "sticky", "second folder", "no folder",
    "hidden", "compiled", "twice", "file as folder", "folder as file", "control", "many", "deep",
    "long", "huge", "sparse", "truncated", "behind", "damaged", "random", "empty", "zeros",
  ])
  func `a hostile archive is refused at once, and leaves nothing`(kind: String) async throws {
    let source = Package.root.appending(path: "plugins/examples/poll").path
    let target = try scratch.makeFolder("outer/target").path
    let archive = folder + "/hostile.tar"
    let made = try await Child.run(
      "/usr/bin/python3", ["-c", Self.program, kind, archive, source])
    try #require(made.exitCode == 0, "\(made.errors)")
    let before = try contents(folder + "/outer")
    let refused = try await plugin("install", archive, "--plugins", target, "--replace")
    #expect(refused.exitCode == 65, "\(refused)")
    #expect(refused.errors.hasPrefix("richpush: \(archive): "), "\(refused.errors)")
    #expect(try contents(folder + "/outer") == before)
    #expect(!FileManager.default.fileExists(atPath: "/tmp/richpush-evil"))
  }

  @Test func `what is no file is no archive, and a folder must be there`() async throws {
    mkfifo(folder + "/pipe", 0o644)
    let target = try scratch.makeFolder("target").path
    for path in ["/", folder + "/pipe", folder + "/absent", "/dev/zero"] {
      let refused = try await plugin("install", path, "--plugins", target)
      #expect(refused.exitCode == 65, "\(path)")
    }
    let lost = try await plugin("install", "/etc/hostname", "--plugins", folder + "/absent")
    #expect(lost.exitCode == 65 && lost.errors.contains("--plugins"), "\(lost.errors)")
    #expect(try FileManager.default.contentsOfDirectory(atPath: target).isEmpty)
  }
}
