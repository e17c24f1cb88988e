import Foundation
import RichPushClient
import Testing
import Waiting

/// Files whose plugin has its troubles: they are told of, and taken as soon as it can.
@Suite(.timeLimit(.minutes(5))) struct TroubledPluginTests {
  private func addType(_ scratch: Scratch, _ script: String) throws {
    try scratch.drop(
      Array("#!/bin/sh\n\(script)\n".utf8), as: "plugins/odd/odd", executable: true)
    let manifest = #"""
      {"protocol":1,"name":"odd","version":"1","executable":"odd","mode":"cgi","accepts":["*/*"],
       "verbs":["validate"],"produces":["*/*"],"workers":{"max":1}}
      """#
    try scratch.drop(Array(manifest.utf8), as: "plugins/odd/plugin.json")
  }

  private static let answer = #"printf 'Content-Type: application/json\n\n{"advice":"odd"}'"#

  @Test func `shows a file on which its plugin dies, and takes it when that is mended`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try addType(scratch, "kill -9 $$")
      try scratch.drop([1], as: "assets/odd/a")
    } to: { server in
      let alice = server.client("alice")
      try await eventually("it is told") {
        let asset = try await alice.assets(richType: "odd").first
        return asset?.state == .refused && asset?.reason?.contains("odd") == true
      }
      try addType(server.scratch, Self.answer)
      try await eventually("it is taken when somebody asks for it") {
        try await alice.asset("a", richType: "odd").state == .ready
      }
    }
  }

  @Test func `says that a used name's new content cannot be checked, and keeps the former`()
    async throws
  {
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try addType(scratch, "grep -q bad \"$RICH_ASSET_PATH\" && kill -9 $$; " + Self.answer)
      try scratch.drop(Array("good".utf8), as: "assets/odd/a")
    } to: { server in
      let alice = server.client("alice")
      try await eventually("it is ready") {
        try await alice.assets(richType: "odd").first?.state == .ready
      }
      let good = try await alice.asset("a", richType: "odd").sha256
      try replace(with: "bad", in: server.scratch)
      let remote = ["--server", server.endpoint.absoluteString]
      try await eventually("the list says why") {
        try await Child.run("richpush", ["asset", "list", "--type", "odd"] + remote).output
          .contains { $0.hasPrefix("ready") && $0.contains("new content is not used") }
      }
      #expect(try await alice.asset("a", richType: "odd").sha256 == good)
      _ = try await alice.create(
        NewNotification("m", richType: "odd", payload: "a", to: .users(["alice"])))
      try replace(with: "good", in: server.scratch)
      try await eventually("there is nothing more to say") {
        let asset = try await alice.assets(richType: "odd").first
        return asset?.state == .ready && asset?.advice == "odd."
      }
    }
  }

  /// Gives the file another content in one step, so that its name never goes.
  private func replace(with text: String, in scratch: Scratch) throws {
    let next = try scratch.drop(Array(text.utf8), as: "next").path
    #expect(rename(next, scratch.folder.path + "/assets/odd/a") == 0)
  }

  @Test func `a crowd of files leaves a slow plugin room for those who wait`() async throws {
    try await RunningServer.lend(flags: ["--demo", "--sandbox", "off"]) { scratch in
      try addType(scratch, "sleep 0.2; " + Self.answer)
      for number in 0..<40 { try scratch.drop([UInt8(number), 0xFF], as: "assets/odd/\(number)") }
    } to: { server in
      let alice = server.client("alice")
      try await eventually("some are taken") { try await !alice.assets(richType: "odd").isEmpty }
      _ = try await alice.create(
        NewNotification("m", richType: "odd", payload: "39", to: .users(["alice"])))
      try await eventually("all are ready") {
        let assets = try await alice.assets(richType: "odd")
        return assets.count == 40 && assets.allSatisfy { $0.state == .ready }
      }
      #expect(try server.measured(#"richpush_plugin_refused_total{type="odd"}"#) == 0)
    }
  }
}
