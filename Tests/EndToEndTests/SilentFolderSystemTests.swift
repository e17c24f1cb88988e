import Foundation
import RichPushClient
import Testing
import Waiting

/// Where the kernel tells not all that happens in the folder, or nothing, looks find it.
@Suite(.timeLimit(.minutes(5))) struct SilentFolderSystemTests {
  private func isReady(_ name: String, on server: RunningServer) async throws -> Bool {
    try await server.client("alice").assets(richType: "img", state: .ready).contains {
      $0.name == name
    }
  }

  @Test func `looks at everything when more happened than the kernel keeps`() async throws {
    let path = "/proc/sys/fs/inotify/max_queued_events"
    let limit = try String(contentsOfFile: path, encoding: .utf8)
    let most = try #require(Int(limit.trimmingCharacters(in: .whitespacesAndNewlines)))
    try await RunningServer.lend { server in
      try await eventually("the samples are seen") { try await isReady("logo.png", on: server) }
      let folder = server.scratch.folder.path + "/assets/img/"
      let picture = try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "last.png")
      server.send(SIGSTOP)
      // Each makes more than one event, of a name that is passed over.
      for number in 0..<most {
        close(open("\(folder).\(number)", O_WRONLY | O_CREAT, 0o644))
        unlink("\(folder).\(number)")
      }
      try FileManager.default.moveItem(atPath: picture.path, toPath: folder + "last.png")
      server.send(SIGCONT)
      try await eventually("the loss is noticed") { server.log.contains("too many changes") }
      try await eventually("the last is found") { try await isReady("last.png", on: server) }
    }
  }

  @Test(arguments: ["max_inotify_watches", "max_inotify_instances"])
  func `scans the folder when the kernel grants no watch`(_ limit: String) async throws {
    // A user namespace has limits of its own (namespaces(7)): the machine's stay as they are.
    let script = "echo 1 >/proc/sys/user/\(limit); exec \"$0\" \"$@\""
    let wrapper = ["/usr/bin/unshare", "--user", "--map-root-user", "/bin/sh", "-c", script]
    try await RunningServer.lend(through: wrapper) { server in
      try await eventually("it is told") {
        server.log.contains("cannot be watched; scanning it instead")
      }
      let picture = try server.scratch.drop(
        Package.bytes("assets/img/logo.png"), as: "assets/img/new.png")
      try await eventually("the new one is found") { try await isReady("new.png", on: server) }
      try FileManager.default.removeItem(at: picture)
      try await eventually("it is forgotten") { try await !isReady("new.png", on: server) }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounts a file system"))
  func `finds what comes, changes and goes on a share that tells nothing`() async throws {
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend { scratch in
      let root = scratch.folder.path
      try FileManager.default.moveItem(atPath: root + "/assets", toPath: root + "/share")
      for name in ["assets", "lower", "work"] { try scratch.makeFolder(name) }
      // What is done to the folder below an overlay makes no event in it, as on another machine.
      let mount = try await Child.run(
        "/bin/mount",
        ["-t", "overlay", "overlay", root + "/assets", "-o"]
          + ["lowerdir=\(root)/lower,upperdir=\(root)/share,workdir=\(root)/work"])
      try #require(mount.exitCode == 0, "\(mount.errors)")
      mounted = root + "/assets"
    } to: { server in
      try await eventually("the samples are seen") { try await isReady("logo.png", on: server) }
      let share = server.scratch.folder.path + "/share/img"
      let beach = try Package.bytes("assets/img/beach.jpg")
      try server.scratch.drop(beach, as: "share/img/new.jpg")
      try await eventually("the new one is found") { try await isReady("new.jpg", on: server) }
      let larger = try Picture.padded(to: 300_000)
      // In place: an overlay keeps to the file that it has found once under a name.
      try Data(larger).write(to: URL(filePath: share + "/new.jpg"))
      try await eventually("its new content is found") {
        try await server.client("alice").assets(richType: "img").contains {
          $0.name == "new.jpg" && $0.bytes == larger.count && $0.state == .ready
        }
      }
      try FileManager.default.removeItem(atPath: share + "/logo.png")
      try await eventually("what went is forgotten") { try await !isReady("logo.png", on: server) }
    }
  }

  @Test(.enabled(if: getuid() == 0, "mounts a file system"), arguments: ["assets", "assets/img"])
  func `sees what is mounted over a folder, and what is there again afterwards`(
    folder: String
  ) async throws {
    var mounted = ""
    defer { if !mounted.isEmpty { umount2(mounted, Int32(MNT_DETACH)) } }
    try await RunningServer.lend { server in
      try await eventually("the samples are seen") { try await isReady("logo.png", on: server) }
      let root = server.scratch.folder.path
      let mount = try await Child.run(
        "/bin/mount", ["-t", "tmpfs", "tmpfs", root + "/" + folder])
      try #require(mount.exitCode == 0, "\(mount.errors)")
      mounted = root + "/" + folder
      let start = ContinuousClock.now
      try await eventually("what is covered is forgotten") {
        try await !isReady("logo.png", on: server)
      }
      // A scan that nothing has asked for comes after half a minute at the earliest.
      #expect(ContinuousClock.now - start < .seconds(20))
      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/new.jpg")
      try await eventually("the new one is found") { try await isReady("new.jpg", on: server) }
      #expect(umount2(mounted, Int32(MNT_DETACH)) == 0)
      mounted = ""
      try await eventually("what was covered is found") {
        try await isReady("logo.png", on: server)
      }
      try await eventually("what was mounted is forgotten") {
        try await !isReady("new.jpg", on: server)
      }
    }
  }
}
