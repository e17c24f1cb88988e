import Foundation
import RichPushClient
import Testing

/// What httplint and redbot, who know HTTP's rules by heart, say of our answers.
@Suite(.timeLimit(.minutes(30))) struct JudgeSystemTests {
  /// Several ranges are left out: it wants a Content-Range, which RFC 9110 (15.3.7.2) forbids there.
  @Test func `httplint finds nothing wrong with media, JSON and errors`() async throws {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      let etag = try await alice.media(0).etag ?? ""
      let media = "GET /api/notifications/0"
      var answers: [[String]] = []
      for (request, fields, status) in [
        (media, "", 200), (media + "?width=320", "", 200), (media + "?profile=ios", "", 200),
        (media, "Range: bytes=0-99\r\n", 206),
        (media, "Range: bytes=9999999-\r\n", 416), (media, "If-None-Match: \(etag)\r\n", 304),
        (media, "If-Match: \"x\"\r\n", 412), ("GET /api/notifications", "", 200),
        (media + "/details", "", 200), ("GET /api/openapi.json", "", 200),
        ("GET /api/notifications/99", "", 404), ("GET /nowhere", "", 404),
        ("GET /api/notifications/0?width=x", "", 400), ("DELETE /healthz", "", 405),
        ("TRACE /healthz", "", 405), ("OPTIONS /api/notifications/0", "", 204),
        ("GET /metrics", "", 200), ("GET /readyz", "", 200), ("FOO /", "", 501),
        ("GET /media/0/ios?expires=1&key=1&signature=x", "", 403),
      ] {
        let bytes = try RawConnection(port: server.port).bytes(
          "\(request) HTTP/1.1\r\n\(RunningServer.credentials("alice"))\r\nConnection: close\r\n\(fields)"
        )
        let start = String(decoding: bytes.prefix(12), as: UTF8.self)
        #expect(start == "HTTP/1.1 \(status)", "\(request) \(fields)")
        answers.append([
          "\(status) \(request) \(fields)", Data(bytes).base64EncodedString(),
          "\(Date().timeIntervalSince1970)",
        ])
      }
      let judged = try await Tool.run(
        "python", ["-c", Self.httplint], input: [UInt8](JSONEncoder().encode(answers)))
      #expect(judged.exitCode == 0, "\(judged.errors)")
      var praised: Set<String> = []
      var answer = ""
      for line in judged.output {
        if line.hasPrefix("= ") { answer = String(line.dropFirst(2)) }
        // What it warns of in errors is that they are errors.
        let isFault = line.contains("[BAD]") || line.contains("[WARN]") && answer < "4"
        #expect(!isFault, "\(answer): \(line)")
        if line.contains("[GOOD]") { praised.insert(answer) }
      }
      #expect(praised.count == answers.count)
    }
  }

  /// The tool's own reader, for many answers at once.
  private static let httplint = """
    import base64, json, sys
    from argparse import Namespace
    from httplint.cli.http_parser import HttpCliParser, modes
    for name, data, moment in json.load(sys.stdin):
        print("=", name.strip())
        arguments = Namespace(mode=modes.RESPONSE, now=True, locale=None)
        HttpCliParser(arguments, float(moment)).handle_input(base64.b64decode(data))
    """

  @Test func `redbot finds nothing wrong with signed media, and sees that it can be cached`()
    async throws
  {
    try await RunningServer.lend { server in
      let alice = server.client("alice")
      _ = try await alice.create(.logo(to: "alice"))
      let link = try #require(try server.links(of: 0)["ios"])
      for (path, wanted) in [
        (link, ["INM_304", "IMS_304", "RANGE_CORRECT"]), ("/api/notifications", []),
      ] {
        let result = try await Tool.run(
          "redbot", ["-o", "har", "http://127.0.0.1:\(server.port)\(path)"])
        let har = try JSONDecoder().decode(
          JSONValue.self, from: Data(result.output.joined(separator: "\n").utf8))
        guard case .array(let entries) = har.log.entries else {
          Issue.record("redbot says nothing of \(path): \(result.errors)")
          continue
        }
        var notes: Set<String> = []
        for case .array(let messages) in entries.map({ $0._red_messages }) {
          for message in messages {
            notes.insert(message.note_id.text ?? "")
            let isBad = message.level.text == "BAD"
            #expect(!isBad, "\(path): \(message.summary.text ?? "")")
          }
        }
        #expect(notes.isSuperset(of: wanted), "\(path): \(notes)")
      }
    }
  }
}
