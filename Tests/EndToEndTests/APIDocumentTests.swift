import Foundation
import RichPushClient
import Testing
import Waiting

/// `docs/API.md`: its commands work as they are written, and its answers look like the real ones.
@Suite(.timeLimit(.minutes(5))) struct APIDocumentTests {
  @Test func `every command of the document works, on every route, and gives the answer shown`()
    async throws
  {
    let document = String(decoding: try Package.bytes("docs/API.md"), as: UTF8.self)
    let commands = document.matches(of: #/(?s)```sh\n(.*?)```(\n\n```json\n(.*?)```)?/#)
    let log = FileManager.default.temporaryDirectory.appending(path: "access-\(UUID().uuidString)")
    defer { try? FileManager.default.removeItem(at: log) }
    let flags = [
      "--demo", "--access-log", log.path, "--subjects", "news=News", "--sign-up", "approval",
      "--compat", "webhooks", "--approve-above", "3",
    ]
    try await RunningServer.lend(flags: flags) { server in
      let blocks = commands.enumerated().map { "{\n\($1.1)\n} >answer-\($0)" }
      let script = ([Self.prelude] + blocks).joined(separator: "\n")
        .replacing("http://127.0.0.1:8080", with: server.endpoint.absoluteString)
      let folder = server.scratch.folder
      let result = try await Child.run("/bin/bash", ["-c", "cd '\(folder.path)'\n\(script)"])
      #expect(result.exitCode == 0, "\(result.errors)")
      for (index, command) in commands.enumerated() {
        guard let shown = command.3 else { continue }
        let answer = try Data(contentsOf: folder.appending(path: "answer-\(index)"))
        let invented = invented(
          try JSONDecoder().decode(JSONValue.self, from: Data(shown.utf8)),
          beside: try JSONDecoder().decode(JSONValue.self, from: answer))
        #expect(invented.isEmpty, "\(command.1)")
      }
      for documented in routes(of: document) {
        let route = documented.path.replacing(#/<\w+>/#, with: "{}")
        // A demonstration has no push service, and so no jobs.
        if route.hasPrefix("/api/outbox/{}") { continue }
        let line = #""method":"\#(documented.method)""#
        try await eventually("\(documented.method) \(route) succeeds") {
          try String(contentsOf: log, encoding: .utf8).split(separator: "\n").contains {
            $0.contains(line) && $0.contains(#""route":"\#(route)""#)
              && $0.contains(#/"status":[23]/#)
          }
        }
      }
    }
  }

  /// The routes in the first columns of the document's tables.
  private func routes(of document: String) -> [(method: Substring, path: Substring)] {
    document.split(separator: "\n").filter { $0.hasPrefix("| `") }.flatMap { row in
      row.split(separator: "|")[0].matches(of: #/`([A-Z]+) (/[^`]+)`/#).map { ($0.1, $0.2) }
    }
  }

  /// Runs `curl` so that a refusal is a failure; of a stream, which never ends, the first event is enough.
  private static let prelude = """
    set -eo pipefail
    curl() {
      case " $* " in
        *" -N "*) ;;
        *) command curl --silent --show-error --fail-with-body "$@"; return ;;
      esac
      rm -f stream
      command curl --silent "$@" >stream &
      until grep -qs '^data:' stream; do kill -0 $!; sleep 0.02; done
      kill -KILL $!
      wait $! || true
    }
    """

  /// The members that the document shows and the server does not give.
  private func invented(_ shown: JSONValue, beside answer: JSONValue) -> [String] {
    switch (shown, answer) {
    case (.object(let members), .object(let real)):
      members.flatMap { name, value in
        real[name].map { invented(value, beside: $0).map { "\(name).\($0)" } } ?? [name]
      }
    case (.array(let items), .array(let real)):
      zip(items, real).flatMap(invented) + (items.count > real.count ? ["an item"] : [])
    case (.object, _), (.array, _): ["what is in it"]
    default: []
    }
  }
}
