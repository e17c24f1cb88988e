import Foundation
import RichPushClient
import Testing
import Waiting

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
      #expect(refused.exitCode == 65 && refused.errors.contains("This is text, not a picture"))
      let list = try await Child.run("richpush", ["asset", "list", "--type", "img"] + remote)
      #expect(list.output.first?.hasPrefix("STATE") == true)
      #expect(list.output.contains { $0.contains("img/my beach.jpg") && $0.contains("image/jpeg") })
      let json = try await Child.run(
        "richpush", ["asset", "list", "--state", "ready", "--json"] + remote)
      let assets = try json.output.map(Asset.init(line:))
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

  @Test func `restores what was replaced and removed, and sorts`() async throws {
    try await RunningServer.lend { server in
      let remote = ["--server", server.endpoint.absoluteString]
      func run(_ arguments: String...) async throws -> Child.Result {
        try await Child.run("richpush", ["asset"] + arguments + remote)
      }
      for sample in ["img/beach.jpg", "img/logo.png"] {
        let file = try server.scratch.drop(Package.bytes("assets/" + sample), as: "one.png")
        #expect(try await run("add", "--type", "img", file.path).exitCode == 0)
      }
      let second = try await Asset(line: run("show", "--json", "img/one.png").output[0])
      let versions = try await run("versions", "img/one.png")
      let line = try #require(versions.output.dropFirst().first, "\(versions)")
      #expect(line.contains("img/one.png") && line.contains("image/jpeg"))
      let start = String(line.prefix(6))
      #expect(try await run("restore", "--version", start, "img/one.png").exitCode == 0)
      let first = try await Asset(line: run("show", "--json", "img/one.png").output[0])
      #expect(first.sha256?.hasPrefix(start) == true && first.sha256 != second.sha256)
      let wrong = try await run("restore", "--version", "zz", "img/one.png")
      #expect(wrong.exitCode == 66 && wrong.errors.contains("asset versions img/one.png"))
      #expect(try await run("remove", "img/one.png").exitCode == 0)
      #expect(try await run("removed").output.contains { $0.contains("img/one.png") })
      #expect(try await run("restore", "img/one.png").exitCode == 0)
      let again = try await Asset(line: run("show", "--json", "img/one.png").output[0])
      #expect(again.sha256 == first.sha256)
      #expect(try await run("restore", "img/none.png").exitCode == 66)
      let sorted = try await run("list", "--sort", "largest", "--json", "--type", "img")
      let sizes = try sorted.output.map { try Asset(line: $0).bytes ?? 0 }
      #expect(sizes.count > 1 && sizes == sizes.sorted(by: >))
      #expect(try await run("list", "--sort", "date").exitCode == 64)
    }
  }

  @Test func `shows where an asset was used, which are not, those with a label, and renames`()
    async throws
  {
    try await RunningServer.lend { server in
      let remote = ["--server", server.endpoint.absoluteString]
      func run(_ arguments: String...) async throws -> Child.Result {
        try await Child.run("richpush", ["asset"] + arguments + remote)
      }
      #expect(
        try await run("list", "--unused").output.contains { $0.contains("img/beach.jpg") })
      let sent = try await Child.run(
        "richpush", ["notify", "--to", "alice", "--payload", "beach.jpg", "At the sea"] + remote)
      #expect(sent.exitCode == 0, "\(sent)")
      let uses = try await run("uses", "img/beach.jpg")
      #expect(uses.output.contains { $0.hasPrefix("sent") && $0.contains("At the sea") }, "\(uses)")
      let unused = try await run("list", "--unused").output
      #expect(!unused.contains { $0.contains("img/beach.jpg") } && unused.count > 1)
      #expect(try await run("uses", "img/none.jpg").exitCode == 66)
      let files = ["img/beach.jpg", "img/logo.png"]
      let labelled = try await Child.run(
        "richpush", ["asset", "describe", "--label", "summer", "--label", "sale"] + files + remote)
      #expect(labelled.exitCode == 0, "\(labelled)")
      #expect(try await run("describe", "--label", "sale", "img/logo.png").exitCode == 0)
      let summer = try await run("list", "--label", "summer").output
      #expect(summer.count == 2 && summer[1].contains("img/beach.jpg"), "\(summer)")
      let labels = try await run("labels").output.map {
        $0.split(separator: " ").joined(separator: " ")
      }
      #expect(labels == ["LABEL ASSETS", "sale 2", "summer 1"])
      let renamed = try await run("rename", "img/beach.jpg", "img/sea.jpg")
      #expect(renamed.exitCode == 0 && renamed.output.first?.contains("img/sea.jpg") == true)
      #expect(try await run("list", "--label", "summer").output[1].contains("img/sea.jpg"))
      #expect(try await run("rename", "img/sea.jpg", "logo.png").exitCode == 65)
      #expect(try await run("rename", "img/beach.jpg", "b.jpg").exitCode == 66)
      #expect(try await run("describe", "--remove", "labels", "img/logo.png").exitCode == 0)
      #expect(try await run("list", "--label", "sale").output.count == 2)
      #expect(try await run("show", "--unused", "img/beach.jpg").exitCode == 64)
    }
  }

  @Test
  func `adds the files beside a folder, a pipe and what is not there, and names each of these`()
    async throws
  {
    try await RunningServer.lend { server in
      let scratch = server.scratch
      let folder = try scratch.makeFolder("photos").path
      mkfifo(folder + "/pipe.png", 0o644)
      symlink("pipe.png", folder + "/link.png")
      let good = try scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "good.jpg").path
      symlink(good, folder + "/linked.jpg")
      let files = [
        folder, folder + "/pipe.png", folder + "/link.png", "/dev/null", folder + "/none.png", good,
        folder + "/linked.jpg",
      ]
      let start = ContinuousClock.now
      let added = try await Child.run(
        "richpush",
        ["asset", "add", "--type", "img", "--server", server.endpoint.absoluteString] + files)
      #expect(ContinuousClock.now - start < .seconds(20))
      #expect(added.exitCode == 66, "\(added)")
      #expect(added.output == ["ready img/good.jpg", "ready img/linked.jpg"])
      let told = added.errors.split(separator: "\n")
      #expect(told.count == 6 && told.last == "richpush: 5 of 7 not added", "\(added.errors)")
      #expect(
        told.first == "richpush: \(folder) is not added: It is a folder; name the files in it.")
      for (line, file) in zip(told.dropLast(), files) { #expect(line.contains(file)) }
    }
  }

  @Test func `without a type each file gets the one of its content`() async throws {
    try await RunningServer.lend { server in
      let samples = ["img/beach.jpg", "sound/chime.wav", "url/welcome.url"]
      let files = try samples.map { sample in
        let name = "new-" + sample.split(separator: "/")[1]
        return try server.scratch.drop(Package.bytes("assets/" + sample), as: name).path
      }
      let added = try await Child.run(
        "richpush", ["asset", "add", "--server", server.endpoint.absoluteString] + files)
      #expect(added.exitCode == 0, "\(added)")
      let types = added.output.map { String($0.prefix { $0 != ":" }) }
      #expect(types == samples.map { "ready " + $0.replacing("/", with: "/new-") })
    }
  }

  @Test func `a time that is past is refused with a sentence`() async throws {
    try await RunningServer.lend { server in
      let remote = ["--server", server.endpoint.absoluteString]
      let words = ["notify", "--to", "alice", "--payload", "beach.jpg", "Hello"] + remote
      for command in [words, ["amend", "0"] + remote] {
        let past = try await Child.run(
          "richpush", command + ["--not-before", "2026-01-01T00:00:00Z"])
        #expect(past.exitCode == 64 && past.errors.contains("--not-before is past"), "\(past)")
      }
      let now = Date(timeIntervalSinceNow: -20).formatted(.iso8601)
      let sent = try await Child.run("richpush", words + ["--not-before", now])
      #expect(sent.exitCode == 0, "\(sent)")
    }
  }

  @Test func `a file larger than the server takes does not keep the next one back`() async throws {
    try await RunningServer.lend { server in
      let large = try server.scratch.drop([], as: "large.png").path
      try #require(truncate(large, (1 << 30) + (1 << 20)) == 0)  // sparse: no block is written
      let good = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "good.jpg").path
      let added = try await Child.run(
        "richpush",
        ["asset", "add", "--type", "img", "--server", server.endpoint.absoluteString, large, good])
      #expect(added.output == ["ready img/good.jpg"], "\(added)")
      #expect(added.exitCode == 65, "\(added)")
      #expect(added.errors.contains("large.png is refused: "), "\(added.errors)")
    }
  }

  @Test func `a file on which the plugin fails does not keep the next one back`() async throws {
    try await RunningServer.lend { scratch in
      let script =
        "#!/bin/sh\ngrep -q bad $RICH_ASSET_PATH && exit 1\nprintf 'Content-Type: text/plain\\n\\nfine'"
      try scratch.drop(Array(script.utf8), as: "plugins/card/card", executable: true)
      try scratch.drop(
        Array(#"{"verbs":["validate","render"]}"#.utf8), as: "plugins/card/plugin.json")
    } to: { server in
      let files = try ["bad", "good"].map {
        try server.scratch.drop(Array($0.utf8), as: $0 + ".txt").path
      }
      let added = try await Child.run(
        "richpush",
        ["asset", "add", "--type", "card", "--server", server.endpoint.absoluteString] + files)
      #expect(added.exitCode == 70 && added.output == ["ready card/good.txt"], "\(added)")
      #expect(added.errors.contains("bad.txt is not added: "))
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
    #expect(bad.output.contains { $0.hasPrefix("refused") && $0.contains("incomplete") })
    let nowhere = try await Child.run("richpush", words + [scratch.folder.path + "/nowhere"])
    #expect(nowhere.exitCode == 1 && nowhere.errors.contains("No such file"))
  }
}

extension Asset {
  /// Reads a line that `--json` prints.
  init(line: String) throws {
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    self = try decoder.decode(Asset.self, from: Data(line.utf8))
  }
}
