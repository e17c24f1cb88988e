import Foundation
import RichPushClient
import Testing
import Waiting

/// `richpush store` beside a running server.
@Suite(.timeLimit(.minutes(5))) struct StoreCommandTests {
  @Test func `checks, backs up and restores while files come and notifications are sent`()
    async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      let id = try await alice.create(.logo(to: "alice")).id
      let picture = try await alice.media(id).bytes
      let root = server.scratch.folder.path
      let coming = Task {
        for number in 0..<40 {
          let bytes = try Package.bytes("assets/img/logo.png") + [UInt8(number)]
          try server.scratch.drop(bytes, as: "assets/img/\(number).png")
          _ = try await alice.create(.logo(to: "alice", "\(number)"))
        }
      }
      let backup = try await Child.run(
        "richpush", ["store", "backup", root + "/backup", "--data", root + "/var"])
      #expect(backup.exitCode == 0, "\(backup.errors)")
      try await coming.value
      let check = try await Child.run("richpush", ["store", "check", "--data", root + "/var"])
      #expect(check.exitCode == 0, "\(check)")
      let restored = try await Child.run(
        "richpush", ["store", "restore", root + "/backup", "--data", root + "/second"])
      #expect(restored.exitCode == 0, "\(restored.errors)")
      let sound = try await Child.run("richpush", ["store", "check", "--data", root + "/second"])
      #expect(sound.exitCode == 0 && sound.output.last?.contains("verified") == true, "\(sound)")

      server.send(SIGSTOP)
      try FileManager.default.moveItem(atPath: root + "/var", toPath: root + "/former")
      try FileManager.default.moveItem(atPath: root + "/second", toPath: root + "/var")
      try await server.restart(by: SIGKILL)
      #expect(try await server.client("alice").media(id).bytes == picture)
    }
  }

  @Test func `finds a damaged blob, and with its repair the file is taken in again`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try await eventually("the samples are ready") { try await alice.assetCounts().ready == 4 }
      let root = server.scratch.folder.path
      let digest = try #require(try await alice.asset("logo.png", richType: "img").sha256)
      let blob = root + "/var/blobs/\(digest.prefix(2))/\(digest)"
      #expect(chmod(blob, 0o600) == 0)
      try Data("damage".utf8).write(to: URL(filePath: blob))
      let words = ["store", "check", "--data", root + "/var"]
      let check = try await Child.run("richpush", words)
      #expect(check.exitCode != 0 && "\(check)".contains(digest), "\(check)")
      _ = try await Child.run("richpush", words + ["--repair"])
      try await server.restart(by: SIGTERM)
      try await eventually("it is taken in again") {
        FileManager.default.contents(atPath: blob)?.count == 29_479
      }
      #expect(try await Child.run("richpush", words).exitCode == 0)
      try await server.expectHealthy()
    }
  }
}
