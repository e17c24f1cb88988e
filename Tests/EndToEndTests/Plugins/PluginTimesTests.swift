import Foundation
import RichPushClient
import Testing
import Waiting

/// When a plugin runs, how often and with what: as docs/PLUGINS.md says, on the bench and in the server.
@Suite(.timeLimit(.minutes(2))) struct PluginTimesTests {
  /// Says on standard error what it was asked, which is in the server's log.
  private static let script = """
    #!/bin/sh
    echo "asked: $RICH_VERB ${RICH_PROFILE-original} id=${RICH_ID-none} path=$PATH_INFO user=${REMOTE_USER-none}" >&2
    [ "$RICH_PAYLOAD" != no ] || { printf 'Status: 422\\nContent-Type: text/plain\\n\\nSay yes.'; exit; }
    printf 'Content-Type: text/plain\\n%s\\n%s' "$EXTRA" "$RICH_PAYLOAD"

    """

  private static let all = ["original", "ios", "android", "watch", "web", "thumb"].map {
    "render \($0) id=none path=/ user=none"
  }

  private func install(
    _ name: String, manifest: String? = nil, field: String = "", in scratch: Scratch
  ) throws {
    let text = Self.script.replacing("$EXTRA", with: field)
    let place = manifest == nil ? "plugins/\(name)" : "plugins/\(name)/\(name)"
    try scratch.drop(Array(text.utf8), as: place, executable: true)
    if let manifest { try scratch.drop(Array(manifest.utf8), as: "plugins/\(name)/plugin.json") }
  }

  /// What the server has asked a plugin until now.
  private func asked(_ name: String, _ server: RunningServer) -> [String] {
    server.log.split(separator: "\n").filter { $0.contains("plugin: \(name), ") }
      .compactMap { $0.split(separator: "says: asked: ").dropFirst().first.map(String.init) }
  }

  @discardableResult
  private func publish(
    _ type: String, _ payload: String = "yes", on server: RunningServer
  ) async throws -> Int {
    try await server.client("alice").create(
      NewNotification("m", richType: type, payload: payload, to: .users(["alice"]))
    ).id
  }

  @Test
  func
    `a bare plugin runs six times when a notification is created, and then only for another size`()
    async throws
  {
    try expectDocumented(
      "`render` six times: without options, and once for each profile "
        + "(`ios`, `android`, `watch`, `web`, `thumb`)")
    try await RunningServer.lend {
      try install("bare", in: $0)
    } to: { server in
      let first = try await publish("bare", on: server)
      #expect(asked("bare", server) == Self.all)
      let alice = server.client("alice")
      for options in [MediaOptions(), MediaOptions(profile: "ios")] {
        _ = try await alice.media(first, options: options)
      }
      let second = try await publish("bare", on: server)
      _ = try await alice.media(second)
      #expect(asked("bare", server).count == 6, "what is kept is not asked for again")
      for id in [first, second] { _ = try await alice.media(id, options: MediaOptions(width: 320)) }
      #expect(
        asked("bare", server).dropFirst(6) == ["render original id=none path=/ user=none"])
      let refused = await #expect(throws: RichPushError.self) {
        try await publish("bare", "no", on: server)
      }
      #expect(refused?.status == 422 && refused?.reason == "Say yes.")
    }
  }

  @Test
  func
    `a dropped file is validated once and rendered six times, and a notification of it not again`()
    async throws
  {
    let manifest = #"{"verbs":["validate","render"],"produces":["text/plain"]}"#
    try await RunningServer.lend { scratch in
      try install("file", manifest: manifest, in: scratch)
      try scratch.drop(Array("text".utf8), as: "assets/file/a.txt")
    } to: { server in
      let expected = ["validate original id=none path=/ user=none"] + Self.all
      // The validate's answer is no JSON object, which is no reason to refuse a file.
      try await eventually("it is ready") {
        try await server.client("alice").assets(richType: "file").first?.state == .ready
      }
      #expect(asked("file", server) == expected)
      let id = try await publish("file", "a.txt", on: server)
      _ = try await server.client("alice").media(id)
      #expect(asked("file", server) == expected)
      try await publish("file", "literal", on: server)
      #expect(asked("file", server) == expected + expected)
    }
  }

  @Test(arguments: ["Cache-Control: no-store\n", "Location: https://example.org/\n"])
  func `what is not kept is made once at notify, and with each fetch`(field: String) async throws {
    try expectDocumented(
      "the other five renders are skipped, and the plugin is called again for each fetch")
    try await RunningServer.lend {
      try install("live", field: field, in: $0)
    } to: { server in
      let id = try await publish("live", on: server)
      #expect(asked("live", server) == [Self.all[0]])
      for _ in 0..<2 {
        let answer = try RawConnection(port: server.port).exchange(
          "GET /api/notifications/\(id) HTTP/1.1\r\nAuthorization: Basic YWxpY2U6YWxpY2U=\r\n")
        #expect([200, 302].contains(answer.status))
      }
      #expect(asked("live", server) == Array(repeating: Self.all[0], count: 3))
    }
  }

  @Test
  func `the id and the user are told only to a plugin that asks for them, when somebody fetches`()
    async throws
  {
    try expectDocumented("with the id in `RICH_ID` and as `PATH_INFO` (`/7`)")
    try await RunningServer.lend {
      try install("ticket", manifest: #"{"perNotification":true}"#, in: $0)
      try install("own", manifest: #"{"perUser":true}"#, in: $0)
    } to: { server in
      let alice = server.client("alice")
      let ids = [try await publish("ticket", on: server), try await publish("ticket", on: server)]
      #expect(asked("ticket", server).isEmpty)
      for id in ids + ids { _ = try await alice.media(id) }
      #expect(
        asked("ticket", server) == ids.map { "render original id=\($0) path=/\($0) user=none" })
      let id = try await publish("own", on: server)
      _ = try await alice.media(id)
      #expect(asked("own", server) == ["render original id=none path=/ user=alice"])
    }
  }

  /// The bench hands over what the server does, so a plugin that works there works when it is published.
  @Test(arguments: [
    (nil, "/<id>", false), (nil, "/", true), (#"{"perNotification":true}"#, "/<id>", true),
  ])
  func `a Flask app fares on the bench as it does in the server`(
    manifest: String?, route: String, works: Bool
  ) async throws {
    let app = """
      #!/usr/bin/env python3
      from wsgiref.handlers import CGIHandler
      from flask import Flask, jsonify
      app = Flask("card")
      @app.get("\(route)")
      def card(id="none"): return jsonify(id)
      CGIHandler().run(app)

      """
    let place = manifest == nil ? "plugins/card" : "plugins/card/card"
    try await RunningServer.lend { scratch in
      try scratch.drop(Array(app.utf8), as: place, executable: true)
      if let manifest { try scratch.drop(Array(manifest.utf8), as: "plugins/card/plugin.json") }
    } to: { server in
      let bench = try await Child.run(
        "richpush",
        ["plugin", "run", "card", "--payload", "x", "--plugins"]
          + [server.scratch.folder.path + "/plugins"])
      #expect((bench.exitCode == 0) == works, "\(bench)")
      do {
        let id = try await publish("card", on: server)
        let card = try await server.client("alice").media(id).bytes
        #expect(works && String(decoding: card, as: UTF8.self).hasPrefix("\""))
      } catch let error as RichPushError {
        #expect(!works && error.status == 404, "\(error)")
      }
    }
  }

  private static let options: [(words: [String], said: [String])] = [
    (
      ["--profile", "ios"],
      [
        "QUERY_STRING=profile=ios", "RICH_PROFILE=ios", "RICH_WIDTH=1170",
        "RICH_MAX_BYTES=10000000",
      ]
    ),
    (["--width", "300"], ["QUERY_STRING=width=320", "RICH_WIDTH=320"]),
    (["--query", "view=a b"], ["QUERY_STRING=view=a%20b"]),
  ]

  @Test(arguments: options)
  func `the bench says what is asked for in the words of the server`(
    words: [String], said: [String]
  ) async throws {
    let scratch = try Scratch()
    try install("card", manifest: #"{"query":["view"]}"#, in: scratch)
    let result = try await Child.run(
      "richpush",
      ["plugin", "run", "card", "--plugins", scratch.folder.path + "/plugins"] + words)
    #expect(result.exitCode == 0)
    for line in said { #expect(result.output.contains("> \(line)"), "\(result.output)") }
  }

  @Test func `the bench refuses what the server would`() async throws {
    let scratch = try Scratch()
    try install("card", in: scratch)
    for words in [["--profile", "tv"], ["--width", "wide"], ["--query", "view=x"]] {
      let result = try await Child.run(
        "richpush",
        ["plugin", "run", "card", "--plugins", scratch.folder.path + "/plugins"] + words)
      #expect(result.exitCode == 64, "\(result)")
    }
  }

  private func expectDocumented(_ sentence: String) throws {
    let page = String(decoding: try Package.bytes("docs/PLUGINS.md"), as: UTF8.self)
      .replacing("\n", with: " ")
    #expect(page.contains(sentence), "docs/PLUGINS.md does not say: \(sentence)")
  }
}
