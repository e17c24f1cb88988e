import Foundation
import RichPushClient
import Testing
import Waiting

/// A name gets another content, or goes: what was sent keeps what it had.
@Suite(.timeLimit(.minutes(5))) struct ReplacementTests {
  private func send(_ name: String, by alice: RichPushClient) async throws -> Int {
    try await alice.create(
      NewNotification("m", richType: "img", payload: name, to: .users(["alice"]))
    ).id
  }

  /// What a device gets: the original, and a rendition.
  private func media(_ id: Int, _ alice: RichPushClient) async throws -> [Data] {
    [
      Data(try await alice.media(id).bytes),
      Data(try await alice.media(id, options: MediaOptions(width: 160)).bytes),
    ]
  }

  @Test(arguments: ["copied over", "renamed over", "uploaded"])
  func `new notifications use a file's new content, those already sent keep theirs`(
    _ way: String
  ) async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let place = server.scratch.folder.path + "/assets/img/logo.png"
      let beach = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "beach")
      let first = try await send("logo.png", by: alice)
      let before = try await media(first, alice)
      switch way {
      case "copied over":
        #expect(try await Child.run("/bin/cp", [beach.path, place]).exitCode == 0)
      case "renamed over":
        #expect(try await Child.run("/bin/mv", ["-f", beach.path, place]).exitCode == 0)
      default: _ = try await alice.upload(beach, name: "logo.png", richType: "img")
      }
      // At once: whoever publishes after the change was made gets the change.
      let second = try await send("logo.png", by: alice)
      #expect(try await alice.media(second).contentType == "image/jpeg")
      #expect(try await media(first, alice) == before)
      try await server.restart(by: SIGKILL)
      #expect(try await media(first, alice) == before)
      #expect(try await alice.media(second).contentType == "image/jpeg")
    }
  }

  @Test func `a deleted name is gone, and what was sent of it stays until it expires`() async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let sent = try await send("logo.png", by: alice)
      let before = try await media(sent, alice)
      unlink(server.scratch.folder.path + "/assets/img/logo.png")
      try await eventually("the name is gone") {
        try await !alice.assets(richType: "img").contains { $0.name == "logo.png" }
      }
      await #expect(throws: RichPushError.self) { try await send("logo.png", by: alice) }
      #expect(try await media(sent, alice) == before)
    }
  }

  @Test func `a refused file keeps its name, bytes, time and rights`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let bytes = Array("no picture".utf8)
      let file = try server.scratch.drop(bytes, as: "assets/img/menu.png").path
      chmod(file, 0o440)
      let times = [
        timeval(tv_sec: 1_000_000_000, tv_usec: 123_456),
        timeval(tv_sec: 1_100_000_000, tv_usec: 1),
      ]
      utimes(file, times)
      var before = stat()
      lstat(file, &before)
      for isAgain in [false, true] {
        try await eventually("it is refused") {
          try await alice.assets(richType: "img", state: .refused).map(\.name) == ["menu.png"]
        }
        var after = stat()
        #expect(lstat(file, &after) == 0 && after.st_ino == before.st_ino)
        #expect(after.st_mode == before.st_mode && after.st_uid == before.st_uid)
        #expect(after.st_mtim.tv_sec == 1_100_000_000 && after.st_mtim.tv_nsec == 1000)
        #expect(after.st_ctim.tv_sec == before.st_ctim.tv_sec)
        #expect(after.st_ctim.tv_nsec == before.st_ctim.tv_nsec && after.st_nlink == 1)
        #expect(FileManager.default.contents(atPath: file) == Data(bytes))
        if !isAgain { try await server.restart(by: SIGTERM) }
      }
    }
  }
}
