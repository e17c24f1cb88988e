import Foundation
import RichPushClient
import Testing
import Waiting

/// What becomes of a dropped file in the background.
@Suite(.timeLimit(.minutes(5))) struct PreparingTests {
  /// A rich type whose plugin writes down each rendition it makes, slowly; with `until` it makes two
  /// and then waits until a file of that name is there.
  private func addSlowType(_ scratch: Scratch, seconds: Double, until gate: String? = nil) throws {
    let count = scratch.folder.path + "/count"
    let isOpen = gate.map { "[ -e \(scratch.folder.path)/\($0) ]" } ?? "true"
    try scratch.drop(
      Array(
        """
        #!/bin/sh
        echo "$RICH_PROFILE $RICH_ASSET_SHA256" >> \(count)
        sleep \(seconds)
        while [ $(wc -l <\(count)) -gt 2 ] && ! \(isOpen); do sleep 0.05; done
        printf 'Content-Type: text/plain\\n\\nx'

        """.utf8), as: "plugins/slow/slow", executable: true)
    try scratch.drop(
      Array(
        #"{"protocol":1,"name":"slow","version":"1","executable":"slow","mode":"cgi","#.utf8)
        + Array(#""verbs":["render"],"accepts":["*/*"],"produces":["text/plain"]}"#.utf8),
      as: "plugins/slow/plugin.json")
  }

  private let flags = ["--demo", "--sandbox", "off"]

  @Test func `makes every rendition once for identical content, also when it is killed`()
    async throws
  {
    try await RunningServer.lend(flags: flags) { scratch in
      try addSlowType(scratch, seconds: 0.15)
      for (name, text) in [("a", "same"), ("b", "same"), ("c", "other")] {
        try scratch.drop(Array(text.utf8), as: "assets/slow/\(name).txt")
      }
    } to: { server in
      let count = server.scratch.folder.path + "/count"
      let lines = {
        ((try? String(contentsOfFile: count, encoding: .utf8)) ?? "").split(separator: "\n")
      }
      try await eventually("some are made") { lines().count >= 3 }
      try await server.restart(by: SIGKILL)
      try await eventually("all are ready") {
        let assets = try await server.client("alice").assets(richType: "slow")
        return assets.count == 3 && assets.allSatisfy { $0.state == .ready }
      }
      // Two contents, each cleaned and for five profiles; the kill may have cost one its answer.
      #expect(Set(lines()).count == 12 && (12...13).contains(lines().count), "\(lines())")
    }
  }

  @Test func `shows how far the preparation of each has come`() async throws {
    try await RunningServer.lend(flags: flags) { scratch in
      try addSlowType(scratch, seconds: 0.05, until: "go")
      try scratch.drop([1], as: "assets/slow/a.txt")
    } to: { server in
      let alice = server.client("alice")
      try await eventually("the third is being made") {
        let asset = try await alice.assets(richType: "slow", state: .preparing).first
        return asset?.progress?.made == 2 && asset?.progress?.total == 6
      }
      #expect(try await alice.asset("a.txt", richType: "slow").progress?.made == 2)
      let list = try await Child.run(
        "richpush",
        ["asset", "list", "--state", "preparing"]
          + ["--server", server.endpoint.absoluteString])
      #expect(list.output.contains { $0.contains("slow/a.txt") && $0.contains("2 of 6 made") })
      try server.scratch.drop([], as: "go")
      try await eventually("it is ready") {
        let asset = try await alice.asset("a.txt", richType: "slow")
        return asset.state == .ready && asset.progress == nil
      }
    }
  }

  @Test func `a whole folder does not keep more renditions than the cache may hold`() async throws {
    try await RunningServer.lend(flags: ["--demo", "--rendition-cache", "1"]) { server in
      let beach = try Package.bytes("assets/img/beach.jpg")
      for number in 0..<12 {
        let comment: [UInt8] = [0xFF, 0xFE, 0, 3, UInt8(number)]
        try server.scratch.drop(beach[..<2] + comment + beach[2...], as: "assets/img/\(number).jpg")
      }
      let alice = server.client("alice")
      try await eventually("all are ready") { try await alice.assetCounts().ready == 16 }
      #expect(try server.measured(#"richpush_renditions_total{outcome="made"}"#) >= 12 * 6)
      try await eventually("the coldest are gone") {
        try await Self.size(of: server.scratch.folder.path + "/var/renditions") <= 1 << 20
      }
      // The server counts them after removing them.
      try await eventually("they are counted") {
        try server.measured(#"richpush_renditions_total{outcome="evicted"}"#) > 0
      }
      let id = try await alice.create(
        NewNotification("m", richType: "img", payload: "0.jpg", to: .users(["alice"]))
      ).id
      #expect(try await alice.media(id, options: MediaOptions(profile: "ios")).bytes.count > 0)
    }
  }

  /// The bytes of all files below a folder.
  private static func size(of folder: String) async throws -> Int {
    let found = try await Child.run("/usr/bin/find", [folder, "-type", "f", "-printf", "%s\n"])
    return found.output.compactMap(Int.init).reduce(0, +)
  }

  @Test func `steps aside for those who wait, and can be used meanwhile`() async throws {
    try await RunningServer.lend(flags: flags) { scratch in
      try addSlowType(scratch, seconds: 0.1)
      for number in 0..<40 {
        try scratch.drop(Array("text \(number)".utf8), as: "assets/slow/\(number).txt")
      }
    } to: { server in
      let alice = server.client("alice")
      try await eventually("all are seen") { try await alice.assetCounts().preparing > 30 }
      _ = try await alice.create(
        NewNotification("m", richType: "slow", payload: "39.txt", to: .users(["alice"])))
      #expect(try await alice.assetCounts().preparing > 20)
    }
  }

  @Test func `says what devices get of a large original`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop(Picture.padded(to: 2_500_000), as: "assets/img/large.jpg")
      let alice = server.client("alice")
      try await eventually("it is ready") {
        try await alice.assets(richType: "img").contains {
          $0.name == "large.jpg" && $0.state == .ready
        }
      }
      let advice = try #require(try await alice.asset("large.jpg", richType: "img").advice)
      #expect(advice.hasPrefix("2.4 MB original; devices get ") && advice.contains("kB"))
      #expect(try await alice.asset("logo.png", richType: "img").advice == nil)
    }
  }

  @Test func `refuses in the end what its plugin cannot render, in its words`() async throws {
    try await RunningServer.lend(flags: flags) { scratch in
      try scratch.drop(
        Array("#!/bin/sh\nprintf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is bent.'\n".utf8),
        as: "plugins/slow", executable: true)
      try scratch.drop([1], as: "assets/slow/bent")
    } to: { server in
      try await eventually("it is refused") {
        let asset = try await server.client("alice").assets(richType: "slow").first
        return asset?.state == .refused && asset?.reason?.contains("bent") == true
      }
    }
  }

  @Test func `tells every step as an event, and goes on behind one`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try await eventually("the samples are ready") { try await alice.assetCounts().ready == 4 }
      let file = try server.scratch.drop(
        Package.bytes("assets/img/logo.png"), as: "assets/img/a.png")
      try await eventually("it is ready") {
        try await alice.asset("a.png", richType: "img").state == .ready
      }
      try FileManager.default.removeItem(at: file)
      var seen: [String] = []
      var last = ""
      for try await event in alice.assetEvents(after: "0") where event.name == "a.png" {
        seen.append(event.asset?.state.rawValue ?? "removed")
        last = event.id
        if event.asset == nil { break }
      }
      // Identical content is ready at once: logo.png was prepared before.
      #expect(seen == ["ready", "removed"])
      try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "assets/img/b.png")
      for try await event in alice.assetEvents(after: last) {
        #expect(event.name == "b.png")
        break
      }
    }
  }
}

/// Pictures that tests make of the samples.
enum Picture {
  /// The beach with so much metadata that it is about this large, in bytes.
  static func padded(to size: Int) throws -> [UInt8] {
    let beach = try Package.bytes("assets/img/beach.jpg")
    let segment = [0xFF, 0xEF, 0xFF, 0xFF] + [UInt8](repeating: 7, count: 0xFFFD)
    let count = max(0, (size - beach.count) / segment.count)
    return Array(beach[..<2]) + Array(repeatElement(segment, count: count).joined()) + beach[2...]
  }
}
