import Foundation
import RichPushClient
import Testing
import Waiting

/// The limits of where a file will be shown, as its author is told of them.
@Suite(.timeLimit(.minutes(5))) struct DeviceLimitTests {
  /// A rich type whose plugin makes every rendition as large as the file's text says.
  private func addBulkyType(_ scratch: Scratch) throws {
    let script = """
      #!/bin/sh
      printf 'Content-Type: image/png\\n\\n'
      exec head -c "$(cat "$RICH_ASSET_PATH")" /dev/zero

      """
    try scratch.drop(Array(script.utf8), as: "plugins/bulky/bulky", executable: true)
    let manifest = #"""
      {"protocol":1,"name":"bulky","version":"1","executable":"bulky","mode":"cgi","accepts":["*/*"],
       "verbs":["render"],"produces":["image/png"]}
      """#
    try scratch.drop(Array(manifest.utf8), as: "plugins/bulky/plugin.json")
  }

  @Test func `tells of pictures that Android or iOS will not show, in the list and the dry run`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try addBulkyType(scratch)
      for (name, size) in [("fine", 900_000), ("android", 1_200_000), ("both", 10_500_000)] {
        try scratch.drop(Array(String(size).utf8), as: "assets/bulky/" + name)
      }
    } to: { server in
      let alice = server.client("alice")
      var advice: [String: String] = [:]
      try await eventually("all are ready") {
        let assets = try await alice.assets(richType: "bulky")
        advice = Dictionary(uniqueKeysWithValues: assets.map { ($0.name, $0.advice ?? "") })
        return assets.count == 3 && assets.allSatisfy { $0.state == .ready }
      }
      let android = "Too big for Android: "
      #expect(advice["fine"]?.isEmpty == true)
      #expect(advice["android"] == android + "1.2 MB, the limit is 1 MB.")
      #expect(
        advice["both"] == "Too big for iPhones: 11 MB, the limit is 10 MB. " + android
          + "11 MB, the limit is 1 MB.")
      let list = try await Child.run(
        "richpush", ["asset", "list", "--server", server.endpoint.absoluteString])
      #expect(list.output.contains { $0.contains("bulky/android") && $0.contains(android) })
      let root = server.scratch.folder.path
      let check = try await Child.run(
        "richpush",
        ["asset", "check", root + "/assets", "--plugins", root + "/plugins", "--json"])
      let said = try check.output.map(Asset.init(line:))
      for asset in said where asset.richType == "bulky" {
        #expect(asset.advice ?? "" == advice[asset.name], "\(asset)")
      }
      #expect(said.count { $0.richType == "bulky" } == 3)
    }
  }
}
