import Foundation
import RichPushClient
import Testing

/// `richpush asset`, as a content team types it.
@Suite(.timeLimit(.minutes(5))) struct AssetCommandTests {
  @Test func `adds, lists, shows and removes`() async throws {
    try await RunningServer.lend { server in
      let remote = ["--server", server.endpoint.absoluteString]
      let picture = try server.scratch.drop(
        Package.bytes("assets/img/beach.jpg"), as: "my beach.jpg")
      let text = try server.scratch.drop(Array("no picture".utf8), as: "text.png")
      let added = try await Child.run(
        "richpush", ["asset", "add", "--type", "img", picture.path] + remote)
      #expect(added.exitCode == 0 && added.output == ["ready img/my beach.jpg"], "\(added)")
      let refused = try await Child.run(
        "richpush", ["asset", "add", "--type", "img", picture.path, text.path] + remote)
      #expect(refused.exitCode == 65 && refused.errors.contains("text/plain"))
      let list = try await Child.run("richpush", ["asset", "list", "--type", "img"] + remote)
      #expect(list.output.first?.hasPrefix("STATE") == true)
      #expect(list.output.contains { $0.contains("img/my beach.jpg") && $0.contains("image/jpeg") })
      let json = try await Child.run(
        "richpush", ["asset", "list", "--state", "ready", "--json"] + remote)
      let assets = try json.output.map { try JSONDecoder().decode(Asset.self, from: Data($0.utf8)) }
      #expect(assets.contains { $0.name == "my beach.jpg" && $0.details.width.integer == 1200 })
      let shown = try await Child.run("richpush", ["asset", "show", "img/my beach.jpg"] + remote)
      #expect(shown.output.contains { $0.hasPrefix("width") && $0.hasSuffix("1200") })
      let removed = try await Child.run(
        "richpush", ["asset", "remove", "img/my beach.jpg"] + remote)
      #expect(removed.exitCode == 0)
      let gone = try await Child.run("richpush", ["asset", "show", "img/my beach.jpg"] + remote)
      #expect(gone.exitCode == 66)
    }
  }

  @Test func `watches what happens`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try await eventually("the samples are ready") { try await alice.assetCounts().ready == 4 }
      let watch = try Child(
        "richpush", ["asset", "watch", "--server", server.endpoint.absoluteString])
      var lines = watch.lines.makeAsyncIterator()
      #expect(await lines.next()?.hasPrefix("watching") == true)
      let file = try server.scratch.drop(Array("?".utf8), as: "assets/img/text.png")
      #expect(await lines.next()?.hasPrefix("refused img/text.png: ") == true)
      try FileManager.default.removeItem(at: file)
      #expect(await lines.next() == "removed img/text.png")
      watch.send(SIGKILL)
    }
  }

  @Test func `checks a folder without a server`() async throws {
    let scratch = try Scratch()
    for name in ["img", "sound", "url"] {
      let manifest = "plugins/\(name)/plugin.json"
      try scratch.drop(Package.bytes(manifest), as: manifest)
    }
    try scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "photos/beach.jpg")
    try scratch.drop(Picture.padded(to: 3_000_000), as: "photos/large.jpg")
    let words = ["asset", "check", "--type", "img", "--plugins", scratch.folder.path + "/plugins"]
    let photos = scratch.folder.path + "/photos"
    let good = try await Child.run("richpush", words + [photos])
    #expect(good.exitCode == 0, "\(good.errors)")
    #expect(good.output.contains { $0.hasPrefix("ready") && $0.contains("img/beach.jpg") })
    #expect(good.output.contains { $0.contains("img/large.jpg") && $0.contains("MB original") })
    let truncated = try Package.bytes("assets/img/beach.jpg").prefix(9000)
    try scratch.drop(Array(truncated), as: "photos/half.jpg")
    let bad = try await Child.run("richpush", words + [photos])
    #expect(bad.exitCode == 65 && bad.errors.contains("1 of 3 refused"))
    #expect(bad.output.contains { $0.hasPrefix("refused") && $0.contains("truncated") })
    let nowhere = try await Child.run("richpush", words + [scratch.folder.path + "/nowhere"])
    #expect(nowhere.exitCode == 1 && nowhere.errors.contains("No such file"))
  }
}
