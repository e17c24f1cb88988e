import Foundation
import RichPushClient
import StandIns
import Testing
import Waiting

/// How people and programs hear what becomes of their files.
@Suite(.timeLimit(.minutes(5))) struct AssetTellingTests {
  @Test func `the operator's webhook hears of every asset, also when it goes`() async throws {
    let hub = try StandIn("hub")
    try hub.tell(["do": "rules", "rules": ["*": [["status": 204]]]])
    try await RunningServer.lend(environment: EventWebhookTests.environment(hub)) { server in
      let file = try server.scratch.drop(Array("?".utf8), as: "assets/img/text.png")
      var told: Set<String> = []
      try await eventually("the refusal and the samples are told") {
        told.formUnion(try Self.events(of: hub))
        return told.contains("img/text.png refused as text")
          && told.contains("img/logo.png preparing") && told.contains("img/logo.png ready")
      }
      try FileManager.default.removeItem(at: file)
      try await eventually("the removal is told") {
        try Self.events(of: hub).contains("img/text.png removed")
      }
    }
  }

  @Test func `adding files on a terminal shows which one, and how far each has come`() async throws
  {
    try await RunningServer.lend { server in
      let beach = try server.scratch.drop(Package.bytes("assets/img/beach.jpg"), as: "sea side.jpg")
      let large = try server.scratch.drop(Picture.padded(to: 400_000), as: "large.jpg")
      let shown = try await Self.onTerminal(
        "asset", ["add", "--type", "img", beach.path, large.path], server)
      #expect(shown.contains("\r\u{1B}[2Kuploading 2 of 2: \(large.path)"), "\(shown)")
      #expect(shown.contains("\r\u{1B}[2Kpreparing 2 of 2: img/large.jpg"), "\(shown)")
      #expect(shown.contains("\r\u{1B}[2Kready img/large.jpg"), "\(shown)")
    }
  }

  @Test func `a dry run on a terminal counts what it has checked`() async throws {
    try await RunningServer.lend { server in
      let folder = server.scratch.folder.path
      let shown = try await Self.onTerminal(
        "asset", ["check", folder + "/assets", "--plugins", folder + "/plugins"], server)
      #expect(shown.contains("\r\u{1B}[2K4 checked\r\u{1B}[2KSTATE"), "\(shown)")
    }
  }

  @Test func `a long name widens no other row, and a terminal gets it and notes wrapped by words`()
    async throws
  {
    try await RunningServer.lend { server in
      let long = String(repeating: "name ", count: 47) + "x.png"
      let sound = [UInt8]("#!AMR\n".utf8) + [UInt8](repeating: 0x3C, count: 3200)
      try server.scratch.drop(Package.bytes("assets/img/logo.png"), as: "assets/img/" + long)
      try server.scratch.drop(sound, as: "assets/sound/voice.amr")
      let alice = server.client("alice")
      try await eventually("all are ready") { try await alice.assetCounts().ready == 6 }
      let piped = try await Child.run(
        "richpush", ["asset", "list", "--server", server.endpoint.absoluteString])
      #expect(piped.output.count == 7)
      #expect(piped.output.contains("ready  img/logo.png     29.5 kB   image/png"), "\(piped)")
      let note = try #require(try await alice.asset("voice.amr", richType: "sound").advice)
      #expect(piped.output.contains { $0.hasSuffix(note) })

      let shown = try await Self.onTerminal("asset", ["list"], server, columns: 90)
      let lines = shown.split(whereSeparator: \.isNewline)
      #expect(lines.allSatisfy { $0.count <= 90 }, "\(shown)")
      let words = lines.joined(separator: " ").split(separator: " ").joined(separator: " ")
      #expect(words.contains("img/" + long) && words.contains(note), "\(shown)")
    }
  }

  @Test func `watching on a terminal keeps the counts below what happens`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      try await eventually("the samples are ready") { try await alice.assetCounts().ready == 4 }
      let words = try Self.words("asset", ["watch"], server)
      let watch = try Child("/usr/bin/script", Child.terminal(words))
      try await eventually("it listens") {
        try server.measured(#"richpush_streams{stream="events"}"#) == 1
      }
      var number = 0
      // The counts are shown a moment after each event: with the next line they can be read.
      try server.scratch.drop([1], as: "assets/img/0.png")
      for await line in watch.lines {
        if line.contains(" ready, 0 preparing, ") { break }
        number += 1
        guard number < 50 else { break }
        try server.scratch.drop([1], as: "assets/img/\(number).png")
      }
      #expect(number < 50)
      watch.send(SIGKILL)
    }
  }

  @Test func `the measurements count assets by state`() async throws {
    try await RunningServer.lend { server in
      try server.scratch.drop([1], as: "assets/img/bad.png")
      try await eventually("all are counted") {
        try server.measured(#"richpush_assets{state="ready"}"#) == 4
          && server.measured(#"richpush_assets{state="refused"}"#) == 1
          && server.measured(#"richpush_assets{state="preparing"}"#) == 0
      }
    }
  }

  /// `richpush` as a person at a terminal sees it.
  private static func onTerminal(
    _ command: String, _ arguments: [String], _ server: RunningServer, columns: Int = 0
  ) async throws -> String {
    let words = try words(command, arguments, server)
    return try await Child.run("/usr/bin/script", Child.terminal(words, columns: columns)).output
      .joined(separator: "\n")
  }

  private static func words(
    _ command: String, _ arguments: [String], _ server: RunningServer
  ) throws -> [String] {
    let words = [try Package.program("richpush").path, command] + arguments
    let remote =
      command == "asset" && arguments[0] == "check" ? [] : [server.endpoint.absoluteString]
    return words + remote.flatMap { ["--server", $0] }
  }

  private static func events(of hub: StandIn) throws -> Set<String> {
    let seen = try hub.tell(["do": "requests"])["requests"] as? [[String: Any]] ?? []
    return Set(
      try seen.compactMap { request in
        guard let body = request["body"] as? String else { return nil }
        let event = try JSONDecoder().decode(JSONValue.self, from: Data(body.utf8))
        guard event.type.text == "asset" else { return nil }
        let name = "\(event.richType.text ?? "")/\(event.name.text ?? "")"
        let said = name + " " + (event.state.text ?? "")
        return event.reason.text?.contains("This is text") == true ? said + " as text" : said
      })
  }
}
