import Foundation
import RichPushClient
import Testing

/// What others have written reaches no terminal as they wrote it, whichever command shows it.
@Suite(.timeLimit(.minutes(5))) struct TerminalTests {
  /// Sets the title, hides text in two ways, begins a line of its own, and reorders the rest.
  private static let hostile =
    "Hi\u{1B}]0;owned\u{7}\u{9B}8m\u{202E}\u{200B}\nrichpush: all is well"
  private static let shown =
    #"Hi\u{1B}]0;owned\u{7}\u{9B}8m\u{202E}\u{200B}\u{A}richpush: all is well"#

  private static func expectHarmless(_ result: Child.Result, _ what: String) {
    for text in result.output + [result.errors] {
      let obeyed = text.unicodeScalars.filter { scalar in
        scalar != "\n"
          && (scalar.properties.generalCategory == .control
            || scalar.properties.generalCategory == .format)
      }
      #expect(obeyed.isEmpty, "\(what): \(text.debugDescription)")
    }
    let lines = result.output + result.errors.split(separator: "\n").map(String.init)
    #expect(!lines.contains { $0.hasPrefix("richpush: all is well") }, "\(what): \(lines)")
  }

  @Test func `a publisher's message commands no terminal`() async throws {
    try await RunningServer.lend { server in
      func run(_ words: String...) async throws -> Child.Result {
        let result = try await Child.run(
          "richpush", words + ["--server", server.endpoint.absoluteString])
        Self.expectHarmless(result, words.prefix(2).joined(separator: " "))
        return result
      }
      let shop = server.client("shop")
      _ = try await shop.create(.logo(to: "alice", Self.hostile))
      let folder = server.scratch.folder.path + "/received"
      let device = try Child(
        Package.program("richpush").path,
        ["device", "--user", "alice", "--count", "1", "--folder", folder]
          + ["--server", server.endpoint.absoluteString])
      var lines = device.lines.makeAsyncIterator()
      _ = await lines.next()
      _ = try await shop.create(.logo(to: "alice", Self.hostile))
      let line = await lines.next() ?? ""
      #expect(line.contains("\"\(Self.shown)\": image/png"), "\(line.debugDescription)")
      #expect(await device.exitCode() == 0)

      let another = try await shop.create(.logo(to: "bob")).id
      let second = try await run("amend", "\(another)", "--message", Self.hostile, "--user", "shop")
      #expect(second.output == ["#\(another) is now \"\(Self.shown)\": img logo.png"])
      #expect(try await run("sent", "list", "--user", "shop").output.last?.contains("sent") == true)
      let json = try await run("sent", "list", "--user", "shop", "--json").output
      let entry = try JSONDecoder().decode(JSONValue.self, from: Data((json.last ?? "").utf8))
      #expect(entry.message.text == Self.hostile, "the value is the same")
      _ = try await run(
        "notify", "--dry-run", "--to", "alice", "--type", "img", "--payload", "logo.png",
        "--user", "shop", Self.hostile)
      _ = try await run("notify", "--to", Self.hostile, "--type", "img", "--payload", "x", "m")
      _ = try await run("audience", "--tags", Self.hostile, "--user", "shop")
      _ = try await run("people", "remove", Self.hostile)
      _ = try await run("asset", "show", "img/\(Self.hostile)", "--user", "shop")
      _ = try await run("asset", "list", "--type", Self.hostile, "--user", "shop")
      _ = try await run("outbox", "list", "--lane", Self.hostile)
      _ = try await run(Self.hostile)
    }
  }

  @Test func `what a plugin and a server say commands no terminal`() async throws {
    let scratch = try Scratch()
    try scratch.drop(
      Array(
        """
        #!/bin/sh
        printf 'careful \\033]0;owned\\007\\n' >&2
        printf 'Content-Type: text/plain\\nX-Odd: \\302\\2338m\\n\\n\\033[2J\\342\\200\\256\\nend'
        """.utf8), as: "plugins/show", executable: true)
    let plugins = scratch.folder.path + "/plugins"
    let shown = try await Child.run(
      "richpush", ["plugin", "run", "show", "--payload", Self.hostile, "--plugins", plugins])
    #expect(shown.exitCode == 0, "\(shown.errors)")
    Self.expectHarmless(shown, "plugin run")
    #expect(shown.output.suffix(2) == [#"\u{1B}[2J\u{202E}"#, "end"])
    #expect(shown.output.contains(#"! careful \u{1B}]0;owned\u{7}"#))
    #expect(shown.output.contains("> RICH_PAYLOAD=\(Self.shown)"))

    let body = try JSONSerialization.data(withJSONObject: ["detail": Self.hostile])
    let impostor = try LocalSite {
      $0.send(
        "HTTP/1.1 422 No\r\nContent-Type: application/problem+json\r\n"
          + "Content-Length: \(body.count)\r\nConnection: close\r\n\r\n"
          + String(String.UnicodeScalarView(body.map { Unicode.Scalar($0) })))
    }
    let refused = try await Child.run(
      "richpush", ["sent", "list", "--server", "http://127.0.0.1:\(impostor.port)"])
    #expect(refused.exitCode == 65)
    Self.expectHarmless(refused, "an error of a server")
    #expect(refused.errors.contains(Self.shown))
  }

  /// Otherwise it would stop when it reads from the terminal, and Ctrl-C would not reach it.
  @Test func `what a command starts is in the foreground of its terminal`() async throws {
    let scratch = try Scratch()
    let script = """
      #!/bin/sh
      read -r _ _ _ _ group _ _ front _ < /proc/$$/stat
      [ "$group" = "$front" ] && echo compiled in the foreground

      """
    let compiler = try scratch.drop(Array(script.utf8), as: "bin/swiftc", executable: true)
    let folder = compiler.deletingLastPathComponent().path
    let result = try await Child.run(
      "/usr/bin/script",
      Child.terminal([
        try Package.program("richpush").path, "plugin", "new", "card", "--language", "swift",
        "--plugins", scratch.folder.path + "/plugins",
      ]), environment: ["PATH": folder + ":/usr/bin:/bin"])
    #expect(result.exitCode == 0, "\(result)")
    #expect(result.output.contains { $0.hasPrefix("compiled in the foreground") }, "\(result)")
  }
}
