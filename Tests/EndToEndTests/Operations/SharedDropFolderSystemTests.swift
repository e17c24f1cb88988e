import Foundation
import RichPushClient
import Testing
import Waiting

/// A drop folder that a team shares by a group, as the package sets it up.
@Suite(
  .enabled(if: getuid() == 0, "only root may start programs as other users"),
  .timeLimit(.minutes(5)))
struct SharedDropFolderSystemTests {
  /// The server's user, a member of the team, and the team's group.
  private static let (server, member, team) = ("65534", "65533", "60123")

  private static func wrapper(_ user: String) -> [String] {
    ["/usr/bin/setpriv", "--reuid", user, "--regid", user, "--groups", team]
  }

  @Test
  func `a member of the team uses folders that the server made, and what is put there is sent`()
    async throws
  {
    let wrapper = Self.wrapper(Self.server) + ["--pdeathsig", "KILL"]
    try await RunningServer.lend(
      flags: ["--demo", "--publish-as", "shop"], through: wrapper,
      prepare: { scratch in
        let (folder, assets) = (scratch.folder.path, scratch.folder.path + "/assets")
        for words in [
          ["chown", "-R", Self.server + ":" + Self.server, folder],
          ["rm", "-r", assets + "/sound"],
          ["chown", ":" + Self.team, assets], ["chmod", "2775", assets],
        ] {
          let done = try await Child.run("/usr/bin/env", words)
          #expect(done.exitCode == 0, "\(done.errors)")
        }
      }
    ) { server in
      let assets = server.scratch.folder.path + "/assets"
      func member(_ script: String, _ words: String...) async throws {
        let wrapper = Self.wrapper(Self.member)
        let done = try await Child.run(
          wrapper[0], wrapper.dropFirst() + ["/bin/sh", "-c", "umask 002; " + script, "sh"] + words)
        #expect(done.exitCode == 0, "\(script): \(done.errors)")
      }
      let shop = server.client("shop")
      let sound = try #require(
        try FileManager.default.contentsOfDirectory(atPath: Package.root.path + "/assets/sound")
          .first)
      let sample = Package.root.path + "/assets/sound/" + sound
      // The server makes the folder, and the file in it.
      _ = try await shop.upload(URL(filePath: sample), name: sound, richType: "sound")
      let logo = Package.root.path + "/assets/img/logo.png"
      try await member(#"cat "$1" > "$2/sound/theirs-$3""#, sample, assets, sound)
      try await member(#"cat "$1" > "$2/sound/$3""#, sample, assets, sound)
      try await eventually("theirs is accepted") {
        let found = try? await shop.asset("theirs-" + sound, richType: "sound")
        return found?.state == .ready
      }
      try await shop.removeAsset("theirs-" + sound, richType: "sound")

      // The server has made the outbox; a folder in it is the member's.
      try await member(
        #"""
        mkdir "$2/outbox/img"
        echo '{"message": "From the team", "to": ["username:alice"]}' > "$2/outbox/img/a.png.notify.json"
        cat "$1" > "$2/outbox/img/a.png"
        """#, logo, assets)
      try await eventually("it is sent") {
        try await server.client("alice").inbox().notifications.map(\.message) == ["From the team"]
      }
      try await eventually("the sender is told") {
        FileManager.default.fileExists(atPath: assets + "/outbox/img/a.png.notify.sent.json")
      }
    }
  }
}
