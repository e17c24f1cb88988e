import Foundation
import RichPushClient
import Testing

/// How much the server writes for an upload of 100 MB (proc(5), `io`).
@Suite(.serialized, .timeLimit(.minutes(5))) struct UploadWritesSystemTests {
  private static let size = 100_000_000

  /// A rich type that takes every file, and of which nothing is rendered in advance.
  private func addType(_ scratch: Scratch) throws {
    let script = "#!/bin/sh\nprintf 'Content-Type: application/json\\n\\n{}'\n"
    try scratch.drop(Array(script.utf8), as: "plugins/odd/odd", executable: true)
    let manifest = #"""
      {"protocol":1,"name":"odd","version":"1","executable":"odd","mode":"cgi","accepts":["*/*"],
       "verbs":["validate"],"produces":["*/*"],"perNotification":true}
      """#
    try scratch.drop(Array(manifest.utf8), as: "plugins/odd/plugin.json")
  }

  /// How often the plugin was called.
  private func calls(_ server: RunningServer) throws -> Int {
    let page = try RawConnection(port: server.port).exchange("GET /metrics HTTP/1.1\r\n").text
    return page.split(separator: "\n")
      .filter { $0.hasPrefix("richpush_plugin_seconds_count") && $0.contains("odd") }
      .compactMap { $0.split(separator: " ").last.flatMap { Int($0) } }.reduce(0, +)
  }

  /// The bytes that the server has given to write(2) and the like, and those it has made the kernel store.
  private func written(_ server: RunningServer) throws -> (calls: Int, disk: Int) {
    let io = try #require(
      FileManager.default.contents(atPath: "/proc/\(server.processIdentifier)/io"))
    func value(_ name: String) -> Int {
      String(decoding: io, as: UTF8.self).split(separator: "\n")
        .first { $0.hasPrefix(name + ": ") }?.split(separator: " ").last.flatMap { Int($0) } ?? 0
    }
    return (value("wchar"), value("write_bytes"))
  }

  /// Whether files of a folder can share their content (FICLONE).
  private func canShare(in folder: URL) throws -> Bool {
    let paths = ["one", "two"].map { folder.appending(path: $0).path }
    defer { for path in paths { unlink(path) } }
    try Data("x".utf8).write(to: URL(filePath: paths[0]))
    let (source, target) = (open(paths[0], O_RDONLY), open(paths[1], O_WRONLY | O_CREAT, 0o600))
    defer { for file in [source, target] { close(file) } }
    return ioctl(target, 0x4004_9409, source) == 0
  }

  /// Mounts an XFS file system, on which files can share their content, as the server's folder.
  private func mountXFS(as scratch: Scratch) async throws {
    let folder = scratch.folder.path
    let image = folder + ".xfs"
    try #require(FileManager.default.createFile(atPath: image, contents: nil))
    // The mounted file system keeps it until it is unmounted.
    defer { unlink(image) }
    try #require(truncate(image, 1 << 30) == 0)
    let made = try await Child.run("/sbin/mkfs.xfs", ["-q", image])
    try #require(made.exitCode == 0, "\(made.errors)")
    let mounted = try await Child.run("/bin/mount", ["-o", "loop", image, folder])
    guard mounted.exitCode == 0 else { try Test.cancel("no loop device: \(mounted.errors)") }
    try scratch.dropSamples()
  }

  @Test(.enabled(if: getuid() == 0, "a file system is mounted, which takes root"))
  func `an upload is written once where files can share their content`() async throws {
    var mounted = ""
    defer {
      if !mounted.isEmpty {
        umount2(mounted, Int32(MNT_DETACH))
        rmdir(mounted)
      }
    }
    try await upload { scratch in
      try await mountXFS(as: scratch)
      mounted = scratch.folder.path
      try #require(try canShare(in: scratch.folder))
    } writing: {
      #expect($0 < 1.1 && $1 < 1.1, "times its size: \($0) in calls, \($1) on the disk")
    }
  }

  @Test func `an upload is written twice where they cannot`() async throws {
    try await upload {
      guard try !canShare(in: $0.folder) else { try Test.cancel("they can") }
    } writing: {
      #expect($0 < 2.1 && $1 < 2.1, "times its size: \($0) in calls, \($1) on the disk")
    }
  }

  /// Uploads 100 MB into a folder that is prepared first, and tells how often that was written.
  private func upload(
    to prepare: (Scratch) async throws -> Void, writing check: (Double, Double) -> Void
  ) async throws {
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try await prepare(scratch)
      try addType(scratch)
    } to: { server in
      let alice = server.client("alice")
      let file = server.scratch.folder.appending(path: "large")
      var random = SystemRandomNumberGenerator()
      let piece = (0..<Self.size / 1000).flatMap { _ in withUnsafeBytes(of: random.next()) { $0 } }
      var content = Data(capacity: Self.size)
      while content.count < Self.size { content.append(contentsOf: piece) }
      try content.prefix(Self.size).write(to: file)
      let (before, called) = (try written(server), try calls(server))
      let asset = try await alice.upload(file, name: "large", richType: "odd")
      #expect(asset.state == .ready && asset.bytes == Self.size)
      let after = try written(server)
      #expect(try calls(server) == called + 1, "it is validated once")
      check(
        Double(after.calls - before.calls) / Double(Self.size),
        Double(after.disk - before.disk) / Double(Self.size))
      // The file is a copy of its own: a program that writes to it changes no content that is stored.
      let copy = server.scratch.folder.appending(path: "assets/odd/large").path
      let status = try FileManager.default.attributesOfItem(atPath: copy)
      #expect(status[.referenceCount] as? Int == 1 && status[.size] as? Int == Self.size)
    }
  }
}
