import Foundation
import RichPushClient
import Testing
import Waiting

/// What the programs that `img` and `video` start may reach: nothing but what the plugin itself may.
@Suite(.timeLimit(.minutes(2))) struct ForeignProgramSystemTests {
  /// Attacks with a shell's own commands, and says as `img-decode` does what it saw.
  ///
  /// The port, a secret file and a file to write are in the picture's second line.
  private static let decoder = #"""
    #!/bin/bash
    exec 2>/dev/null
    { read -r _; read -r port secret target; }
    seen=saw:
    { :; } 3<>/dev/tcp/127.0.0.1/$port && seen+=network,
    { read -r _; } <"$secret" && seen+=secret,
    { echo x; } >"$target" && seen+=written,
    printf 'img1'
    printf '\0%.0s' {1..28}
    printf -v length '%02x' ${#seen}
    printf "\1\0\0\0\\x$length\0\0\0%s" "$seen"
    """#

  /// The same by `ffmpeg`, in a plugin that answers with what it saw.
  private static let film = #"""
    #!/bin/bash
    { read -r _; read -r port secret target; } <"$RICH_ASSET_PATH"
    if [ "$RICH_VERB" = validate ]; then
      printf 'Content-Type: application/json\n\n{"contentType":"video/mp4"}'
      exit
    fi
    copy() { ffmpeg -v error -y -f rawvideo -video_size 1x1 -pix_fmt gray -i "$1" -frames:v 1 -f rawvideo "$2" 2>/dev/null; }
    seen=saw:
    copy "$RICH_ASSET_PATH" "$TMPDIR/own" && seen+=own,
    copy "http://127.0.0.1:$port/healthz" "$TMPDIR/network" && seen+=network,
    copy "$secret" "$TMPDIR/secret" && seen+=secret,
    copy "$RICH_ASSET_PATH" "$target" && seen+=written,
    printf 'Status: 422\nContent-Type: text/plain\n\n%s' "$seen"
    """#

  /// A file that looks like a picture or a film, whose second line is for the program.
  private static func bait(_ brand: String, _ server: RunningServer) throws -> [UInt8] {
    let secret = try server.scratch.drop(Array("secret\n".utf8), as: "var/secret").path
    let target = server.scratch.folder.path + "/assets/img/written"
    let head: [UInt8] = [0, 0, 0, 16] + Array("ftyp\(brand)\0\0\0\0\n".utf8)
    return head + Array("\(server.port) \(secret) \(target)\n".utf8)
  }

  @Test func `img-decode reaches neither the network nor other files`() async throws {
    try await RunningServer.lend { scratch in
      let program = [UInt8](try Data(contentsOf: Package.program("img")))
      try scratch.drop(program, as: "plugins/img/img", executable: true)
      try scratch.drop(
        Array(Self.decoder.utf8), as: "plugins/img/img-decode", executable: true)
    } to: { server in
      let picture = try Self.bait("heic", server)
      let file = try server.scratch.drop(picture, as: "picture")
      let program = server.scratch.folder.path + "/plugins/img/img-decode"
      let free = try await Child.run(
        "/bin/bash", ["-c", "\(program) <\(file.path) | tr '\\0' ' '"])
      #expect(free.output.joined().hasSuffix("saw:network,secret,written,"), "\(free)")
      try? FileManager.default.removeItem(
        atPath: server.scratch.folder.path + "/assets/img/written")
      try server.scratch.drop(picture, as: "assets/img/a.heic")
      try await eventually("the picture is refused") { server.log.contains("saw:") }
      #expect(server.log.split(separator: "\n").contains { $0.contains("saw:") })
      for what in ["network", "secret", "written"] {
        #expect(!server.log.contains("saw:\(what)") && !server.log.contains(",\(what)"), "\(what)")
      }
    }
  }

  @Test func `ffmpeg reaches neither the network nor other files`() async throws {
    try await RunningServer.lend { scratch in
      try scratch.drop(Package.bytes("plugins/video/plugin.json"), as: "plugins/video/plugin.json")
      try scratch.drop(Array(Self.film.utf8), as: "plugins/video/video", executable: true)
    } to: { server in
      let film = try Self.bait("isom", server)
      let file = try server.scratch.drop(film, as: "film")
      let free = try await Child.run(
        server.scratch.folder.path + "/plugins/video/video", [],
        environment: [
          "RICH_VERB": "render", "RICH_ASSET_PATH": file.path, "PATH": "/usr/bin:/bin",
          "TMPDIR": server.scratch.folder.path,
        ])
      #expect(free.output.last == "saw:own,network,secret,written,", "\(free)")
      try server.scratch.drop(film, as: "assets/video/a.mp4")
      let alice = server.client("alice")
      try await eventually("the film is refused") {
        try await alice.assets(richType: "video").first?.state == .refused
      }
      #expect(try await alice.assets(richType: "video").first?.reason == "saw:own,")
    }
  }
}
