import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// What people and disks do to a folder: each is handled, none is fatal, each can be seen.
@Suite(.timeLimit(.minutes(5))) struct HostileFolderTests {
  /// What lies in the folder, and a word of what is said about it; empty where it is taken.
  private func makeMess(in folder: String, outside: String) throws -> [String: String] {
    try FileManager.default.createDirectory(
      atPath: folder + "/a folder", withIntermediateDirectories: true)
    mkfifo(folder + "/fifo.png", 0o644)
    symlink("loop.png", folder + "/loop.png")
    try FileManager.default.copyItem(
      atPath: Package.root.path + "/assets/img/logo.png", toPath: outside)
    link(outside, folder + "/linked.png")
    let sparse = open(folder + "/sparse.png", O_WRONLY | O_CREAT, 0o644)
    ftruncate(sparse, 5 << 30)
    close(sparse)
    try makeSocket(folder + "/socket.png")
    let long = String(repeating: "x", count: 251) + ".png"
    let names = [long, "line\nbreak.png", "bell\u{7}.png", "gpj.\u{202E}exe", "cafe\u{301}.png"]
    for name in names + ["na\u{EF}ve.png", "nai\u{308}ve.png"] {
      link(outside, folder + "/" + name)
    }
    for name in ["logo.png.notify.json", "logo.png.notify.error.txt", "logo.png.part"] {
      try Data("{}".utf8).write(to: URL(filePath: folder + "/" + name))
    }
    link(outside, "\(folder)/LINKED.png")
    let latin = Array("caf".utf8CString.dropLast()) + [CChar(bitPattern: 0xE9), 0]
    let path = Array((folder + "/").utf8CString.dropLast()) + latin
    link(outside, path)
    var mess: [String: String] = [
      "a folder": "folder", "fifo.png": "pipe", "loop.png": "link", "linked.png": "",
      "LINKED.png": "", "sparse.png": "larger", "socket.png": "socket",
      "na\u{EF}ve.png": "", #"nai\u{308}ve.png"#: "accents", "logo.png.notify.json": "--publish-as",
      long: "", #"line\u{A}break.png"#: "control", #"bell\u{7}.png"#: "control",
      #"gpj.\u{202E}exe"#: "direction", "caf\u{E9}.png": "", #"caf\x{E9}"#: "UTF-8",
    ]
    if mknod(folder + "/device.png", S_IFCHR | 0o644, 0x103) == 0 { mess["device.png"] = "device" }
    return mess
  }

  private func makeSocket(_ path: String) throws {
    let folder = (path as NSString).deletingLastPathComponent
    let script = "import socket;socket.socket(socket.AF_UNIX).bind('socket.png')"
    try StartedProgram("/usr/bin/python3", ["-c", script], folder: folder).waitForEnd()
  }

  @Test func `sees every oddity for what it is, also on the terminal and in a dry run`()
    async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let root = server.scratch.folder.path
      var mess = try makeMess(in: root + "/assets/img", outside: root + "/outside.png")
      for sample in ["logo.png", "beach.jpg"] { mess[sample] = "" }
      for place in ["mine.png", "outbox/img/late.png", "outbox/loose.png", "nosuch/a.png"] {
        try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/" + place)
      }
      var assets: [String: Asset] = [:]
      try await eventually("all is seen") {
        let counts = try await alice.assetCounts()
        assets = Dictionary(
          uniqueKeysWithValues: try await alice.assets(richType: "img").map { ($0.name, $0) })
        return Set(assets.keys) == Set(mess.keys) && counts.preparing == 0
          && counts.ready + counts.refused == mess.count + 6
      }
      #expect(Set(assets.keys) == Set(mess.keys))
      for (name, word) in mess {
        let asset = try #require(assets[name])
        #expect(asset.state == (word.isEmpty ? .ready : .refused), "\(name): \(asset)")
        if !word.isEmpty { #expect(asset.reason?.contains(word) == true, "\(asset)") }
      }
      #expect(assets["linked.png"]?.advice?.contains("LINKED.png") == true)
      try await server.expectHealthy()

      let list = try await Child.run(
        "richpush", ["asset", "list", "--server", server.endpoint.absoluteString])
      for name in mess.keys {
        #expect(list.output.contains { $0.contains("img/" + name) }, "\(name)")
      }
      let check = try await Child.run(
        "richpush",
        ["asset", "check", root + "/assets", "--plugins", root + "/plugins", "--json"])
      #expect(check.exitCode == 65)
      let said = try check.output.map(Asset.init(line:))
      let shown = try await alice.assets()
      #expect(Set(said.map(Self.line)) == Set(shown.map(Self.line)))
      #expect(said.count == shown.count && said.count == mess.count + 6)
    }
  }

  /// All that people read of an asset.
  private static func line(_ asset: Asset) -> String {
    "\(asset.state) \(asset.richType)/\(asset.name): \(asset.reason ?? "") \(asset.advice ?? "")"
  }

  @Test func `takes one of two forms of a name, and shows the other`() async throws {
    try await RunningServer.lend { server in
      let folder = server.scratch.folder.path + "/assets/img/"
      let source = folder + "logo.png"
      link(source, folder + "cafe\u{301}.png")
      link(source, folder + "caf\u{E9}.png")
      try await eventually("both are seen") {
        let assets = try await server.client("alice").assets(richType: "img")
        return assets.contains { $0.name == "caf\u{E9}.png" && $0.state == .ready }
          && assets.contains { $0.name == #"cafe\u{301}.png"# && $0.state == .refused }
      }
      unlink(folder + "caf\u{E9}.png")
      try await eventually("the other takes its place") {
        let assets = try await server.client("alice").assets(richType: "img")
        return assets.contains { $0.name == "caf\u{E9}.png" }
          && !assets.contains { $0.name.contains("301") }
      }
    }
  }

  @Test func `survives folders that cannot be read, go away and come back`() async throws {
    try await RunningServer.lend(unprivileged: true) { server in
      let alice = server.client("alice")
      let folder = server.scratch.folder.path + "/assets"
      try await eventually("the samples are ready") { try await alice.assetCounts().ready >= 2 }
      chmod(folder + "/img", 0)
      try await eventually("the trouble is seen") {
        try await alice.assets(richType: "img").contains {
          $0.name == "." && $0.reason?.contains("Permission denied") == true
        }
      }
      // What is known stays usable: the folder is only away.
      _ = try await alice.create(.logo(to: "alice"))
      chmod(folder + "/img", 0o755)
      try await eventually("it is over") {
        let names = try await alice.assets(richType: "img").map(\.name)
        return Set(names) == ["logo.png", "beach.jpg"]
      }
      try FileManager.default.moveItem(atPath: folder + "/img", toPath: folder + "/../gone")
      try await eventually("the names are gone") { try await alice.assets(richType: "img").isEmpty }
      try FileManager.default.moveItem(atPath: folder + "/../gone", toPath: folder + "/img")
      try await eventually("the names are back") {
        try await alice.assets(richType: "img").count == 2
      }
      try FileManager.default.moveItem(atPath: folder, toPath: folder + "-away")
      try await eventually("the root's absence is told") {
        try await alice.assets().contains { $0.richType == "." && $0.state == .refused }
      }
      #expect(try await alice.assets(richType: "img").count == 2)
      try FileManager.default.moveItem(atPath: folder + "-away", toPath: folder)
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/img/new.png")
      try await eventually("the new name is seen in the folder that came back") {
        try await alice.assets(richType: "img").contains { $0.name == "new.png" }
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounts a small file system"))
  func
    `waits for space when the disk is full, and stays of use`() async throws
  {
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend { scratch in
      let data = try scratch.makeFolder("var").path
      let mount = try await Child.run(
        "/bin/mount", ["-t", "tmpfs", "-o", "size=30m", "tmpfs", data])
      try #require(mount.exitCode == 0, "\(mount.errors)")
      mounted = data
    } to: { server in
      let alice = server.client("alice")
      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/known.jpg")
      try await eventually("one is ready") {
        try await alice.assets(richType: "img").contains {
          $0.name == "known.jpg" && $0.state == .ready
        }
      }
      for number in 0..<4 {
        var bytes = try Picture.padded(to: 5_000_000)
        bytes[10] = UInt8(number)
        try server.scratch.drop(bytes, as: "assets/img/\(number).jpg")
      }
      try await eventually("there is no space for some") {
        let assets = try await alice.assets(richType: "img").filter { $0.name.count == 5 }
        return assets.count == 4 && assets.allSatisfy { $0.state != .preparing }
          && assets.contains { $0.reason?.contains("disk is full") == true }
      }
      let new = try server.scratch.drop(Picture.padded(to: 5_500_000), as: "new.jpg")
      // `drop` would remove the old one first.
      #expect(rename(new.path, server.scratch.folder.path + "/assets/img/known.jpg") == 0)
      try await eventually("what was known is still of use") {
        try await alice.assets(richType: "img").contains {
          $0.state == .ready && $0.advice?.contains("disk is full") == true
        }
      }
      try await server.expectHealthy()
      let space = try await Child.run("/bin/mount", ["-o", "remount,size=200m", mounted])
      #expect(space.exitCode == 0, "\(space.errors)")
      try await eventually("all are taken") {
        let assets = try await alice.assets(richType: "img")
        return !assets.contains { ($0.reason ?? $0.advice)?.contains("disk is full") == true }
      }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounts a small file system"))
  func
    `an upload for whose copy the drop folder has no space leaves nothing`() async throws
  {
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend { scratch in
      let assets = scratch.folder.path + "/assets"
      let mount = try await Child.run(
        "/bin/mount", ["-t", "tmpfs", "-o", "size=20m", "tmpfs", assets])
      try #require(mount.exitCode == 0, "\(mount.errors)")
      mounted = assets
    } to: { server in
      /// The sizes of stored content; the demonstration's picture is among it.
      func sizes() throws -> [Int] {
        let folder = server.scratch.folder.appendingPathComponent("var/blobs")
        let files = FileManager.default.enumerator(
          at: folder, includingPropertiesForKeys: [.fileSizeKey])
        return try (files?.allObjects as? [URL] ?? []).compactMap {
          try $0.resourceValues(forKeys: [.fileSizeKey]).fileSize
        }
      }
      func upload(_ size: Int) async throws {
        let file = server.scratch.folder.appendingPathComponent("\(size).jpg")
        try Data(Picture.padded(to: size)).write(to: file)
        _ = try await server.client("shop").upload(file, richType: "img")
      }
      await #expect {
        try await upload(8_000_000)
      } throws: { ($0 as? RichPushError)?.status == 507 }
      #expect(try sizes().allSatisfy { $0 < 500_000 })
      try await upload(1_000_000)
      #expect(try sizes().contains { $0 > 500_000 })
    }
  }

  @Test func `waits for a file that grows, and takes it when its writer is through`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let bytes = Data(try Package.bytes("assets/img/beach.jpg"))
      let path = server.scratch.folder.path + "/assets/img/slow.jpg"
      // Never closed before it is whole: an empty file would be refused, and what comes then not looked at soon.
      let file = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0o644)
      try #require(file >= 0)
      let writer = FileHandle(fileDescriptor: file, closeOnDealloc: true)
      try writer.write(contentsOf: bytes.prefix(1000))
      try await eventually("it is shown as coming") {
        try await alice.assets(richType: "img").contains {
          $0.name == "slow.jpg" && $0.state == .preparing
            && $0.reason?.contains("being written") == true
        }
      }
      try writer.write(contentsOf: bytes.dropFirst(1000))
      try writer.close()
      try await eventually("it is taken whole") {
        try await alice.asset("slow.jpg", richType: "img").bytes == bytes.count
      }
    }
  }

  @Test func `tells who drops a file beside the folders where it belongs`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/mine.png")
      try await eventually("it is told") {
        try await server.client("alice").assets().contains {
          $0.name == "mine.png" && $0.richType == "." && $0.reason?.contains("img") == true
        }
      }
    }
  }
}
