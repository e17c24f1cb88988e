import Foundation
import RichPushClient
import Testing
import Waiting

/// The drop folder, over HTTP and as a folder.
@Suite(.timeLimit(.minutes(5))) struct AssetTests {
  @Test func `takes an upload, tells what it is, and forgets it again`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let source = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "beach.jpg")
      let asset = try await alice.upload(source, name: "summer day.png", richType: "img")
      #expect(asset.contentType == "image/jpeg" && asset.state != .refused)
      let notification = try await alice.create(
        NewNotification("m", richType: "img", payload: "summer day.png", to: .users(["alice"])))
      try await alice.removeAsset("summer day.png", richType: "img")
      let names = try await alice.assets(richType: "img").map(\.name)
      #expect(!names.contains("summer day.png"))
      #expect(try await alice.media(notification.id).contentType == "image/jpeg")
    }
  }

  @Test func `refuses an upload that its plugin refuses, and keeps what was there`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let text = try server.scratch.drop(Array("not a picture".utf8), as: "text")
      await #expect(throws: RichPushError.self) {
        try await alice.upload(text, name: "logo.png", richType: "img")
      }
      let kept = try Data(contentsOf: server.scratch.folder.appending(path: "assets/img/logo.png"))
      let isTheLogo = [UInt8](kept) == (try Package.bytes("assets/img/logo.png"))
      #expect(isTheLogo)
    }
  }

  @Test func `an upload is complete when its name appears, also to whoever watches the folder`()
    async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let logo = try Package.bytes("assets/img/logo.png")
      let sources = try (0..<20).map {
        try server.scratch.drop(logo + [UInt8($0)], as: "\($0).png").path
      }
      let uploads = try await Child.run(
        "/usr/bin/curl",
        ["-sSf", "-u", "alice:alice", "-T", "{\(sources.joined(separator: ","))}"]
          + ["\(server.endpoint)/api/assets/img/"])
      #expect(uploads.exitCode == 0, "\(uploads.errors)")
      try await alice.removeAsset("19.png", richType: "img")
      for try await event in alice.assetEvents(after: "0") {
        #expect(event.asset?.reason == nil, "\(event)")
        if event.asset == nil { break }
      }
    }
  }

  @Test func `an upload to a disk that tells nothing of its writers is taken at once`()
    async throws
  {
    // The kernel of a share refuses leases (fcntl(2)); here a filter of system calls does (seccomp(2)).
    let script = #"""
      import ctypes, os, struct, sys
      nr, arch = {"x86_64": (72, 0xC000003E), "aarch64": (25, 0xC00000B7)}[os.uname().machine]
      steps = [(0x20, 0, 0, 4), (0x15, 0, 5, arch), (0x20, 0, 0, 0), (0x15, 0, 3, nr), (0x20, 0, 0, 24),
               (0x15, 0, 1, 1024), (0x06, 0, 0, 0x50016), (0x06, 0, 0, 0x7FFF0000)]
      code = ctypes.create_string_buffer(b"".join(struct.pack("HBBI", *step) for step in steps))
      program = ctypes.create_string_buffer(struct.pack("HxxxxxxQ", len(steps), ctypes.addressof(code)))
      prctl = ctypes.CDLL(None).prctl
      assert prctl(38, 1, 0, 0, 0) == 0 and prctl(22, 2, program) == 0
      os.execv(sys.argv[1], sys.argv[1:])
      """#
    try await RunningServer.lend(through: ["/usr/bin/python3", "-c", script]) { server in
      let alice = server.client("alice")
      let source = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "source")
      let asset = try await alice.upload(source, name: "new.jpg", richType: "img")
      #expect(asset.sha256 != nil && asset.reason == nil, "\(asset)")
    }
  }

  @Test func `lists what was dropped, with the reason of what is refused`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try server.scratch.drop(Array("hello".utf8), as: "assets/img/text.png")
      try server.scratch.drop([], as: "assets/img/empty.png")
      try server.scratch.drop(Array("half".utf8), as: "assets/img/.draft.png")
      var assets: [String: Asset] = [:]
      try await eventually("the folder was looked at") {
        assets = Dictionary(
          uniqueKeysWithValues: try await alice.assets(richType: "img").map { ($0.name, $0) })
        return Set(assets.keys) == ["logo.png", "beach.jpg", "text.png", "empty.png"]
          && assets["logo.png"]?.state == .ready
      }
      #expect(assets["text.png"]?.reason?.hasPrefix("This is text, not a picture.") == true)
      #expect(assets["empty.png"]?.reason?.contains("empty") == true)
      try FileManager.default.removeItem(
        at: server.scratch.folder.appending(path: "assets/img/text.png"))
      try await eventually("the removed name is gone") {
        !(try await alice.assets(richType: "img").contains { $0.name == "text.png" })
      }
    }
  }
}
