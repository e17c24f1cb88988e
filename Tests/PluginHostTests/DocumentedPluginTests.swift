import Foundation
import StandIns
import Testing

@testable import PluginHost

/// Every plugin that `docs/PLUGINS.md` shows, run as it is printed there.
@Suite(.serialized, .timeLimit(.minutes(2))) struct DocumentedPluginTests {
  private static let repository = URL(filePath: #filePath).deletingLastPathComponent()
    .deletingLastPathComponent().deletingLastPathComponent()

  private let fixture: PluginFixture
  private let examples: [String: String]

  init() throws {
    fixture = try PluginFixture()
    examples = try Self.examples(
      in: String(contentsOf: Self.repository.appending(path: "docs/PLUGINS.md"), encoding: .utf8))
  }

  /// The fenced blocks that name a file, by that name.
  private static func examples(in text: String) -> [String: String] {
    var found: [String: String] = [:]
    for block in text.components(separatedBy: "\n```").dropFirst() {
      let lines = block.split(separator: "\n", maxSplits: 1, omittingEmptySubsequences: false)
      let info = lines[0].split(separator: " ")
      if info.count == 2, lines.count == 2 { found[String(info[1])] = lines[1] + "\n" }
    }
    return found
  }

  @Test(arguments: [
    "coupon", "coupon-py", "coupon-flask", "coupon-resident", "coupon-c", "coupon-swift",
  ])
  func `makes the same card in every language`(name: String) async throws {
    try install(name)
    let card = try await answer(name, payload: "SUMMER25")
    #expect(card == ["code": "SUMMER25", "text": "Show this at the till."])
    for payload in ["", "no", "A\"B", "$(id)", "; rm -rf /"] {
      let error = await #expect(throws: PluginError.self) {
        try await answer(name, payload: payload)
      }
      #expect(error?.code == .invalidContent)
      #expect(error?.reason.hasPrefix("A coupon is capital letters") == true)
    }
    #expect(!fixture.log.contains("failed:"))
  }

  @Test func `refuses before the push once it has a manifest`() async throws {
    try fixture.write("plugins/coupon/coupon", try example("plugins/coupon"))
    try fixture.write(
      "plugins/coupon/plugin.json", try example("plugins/coupon/plugin.json"), mode: 0o644)
    #expect(try await answer("coupon", payload: "A1", verb: .validate)["code"] == "A1")
    await #expect(throws: PluginError.self) {
      try await answer("coupon", payload: "a", verb: .validate)
    }
  }

  @Test func `sends files and redirects`() async throws {
    for name in ["document", "wordcount", "map"] { try install(name) }
    let asset = try fixture.asset("three short words", type: "text/plain")
    let call = PluginCall(verb: .render, richType: "document", id: "7", asset: asset)
    #expect(try await fixture.text(call) == "(asset)")
    let count = PluginCall(verb: .render, richType: "wordcount", id: "7", asset: asset)
    #expect(try await fixture.text(count) == "3\n")
    let reply = try await fixture.host.respond(
      to: PluginCall(verb: .render, richType: "map", id: "7", payload: "52.5,13.4"))
    #expect(reply.location == "https://www.openstreetmap.org/?query=52.5,13.4")
  }

  @Test func `wraps a program`() async throws {
    try install("clip")
    let made = try fixture.asset("", type: "video/mp4")
    try run(
      "/usr/bin/ffmpeg", "-v", "error", "-y", "-f", "lavfi", "-i", "testsrc=d=1", "-metadata",
      "title=secret", "-f", "mp4", made.path)
    let film = PluginCall(verb: .render, richType: "clip", id: "7", asset: made)
    let text = try await fixture.text(film)
    #expect(text.contains("ftyp") && !text.contains("secret"))
    let damaged = try fixture.asset("no film", type: "video/mp4")
    let error = await #expect(throws: PluginError.self) {
      try await fixture.text(PluginCall(verb: .render, richType: "clip", id: "7", asset: damaged))
    }
    #expect(error?.reason == "This film is damaged. Export it again.")
  }

  private func example(_ path: String) throws -> String {
    try #require(examples[path], "docs/PLUGINS.md has no example \(path)")
  }

  /// Puts an example where the page says, compiled where it is a program's text.
  private func install(_ name: String) throws {
    let files = examples.filter { $0.key.hasPrefix("plugins/\(name)/") }
    if let script = examples["plugins/\(name)"] {
      try fixture.write("plugins/\(name)", script)
    } else if !files.isEmpty {
      for (path, text) in files { try fixture.write(path, text) }
      if files.values.contains(where: { $0.contains("from fastcgi import") }) {
        let module = Self.repository.appending(path: "plugins/examples/ticket/fastcgi.py")
        try fixture.write(
          "plugins/\(name)/fastcgi.py", String(contentsOf: module, encoding: .utf8), mode: 0o644)
      }
    } else if let text = examples["plugins/\(name).c"] {
      let source = try fixture.write("\(name).c", text)
      try run("/usr/bin/cc", "-Wall", "-Werror", "-o", "\(fixture.folder)/plugins/\(name)", source)
    } else {
      let source = try fixture.write("\(name).swift", try example("plugins/\(name).swift"))
      let build = (PluginFixture.launcher as NSString).deletingLastPathComponent
      // By the names of the sources: the build folder may hold objects of former ones.
      let objects = try ["PluginKit", "Primitives"].flatMap { module in
        try FileManager.default.contentsOfDirectory(
          atPath: Self.repository.appending(path: "Sources/\(module)").path
        ).filter { $0.hasSuffix(".swift") }.map { "\(build)/\(module).build/\($0).o" }
      }
      try run(
        "/usr/bin/env",
        ["swiftc", "-parse-as-library", "-module-name", "Coupon", "-swift-version", "6"]
          + ["-I", "\(build)/Modules", "-o", "\(fixture.folder)/plugins/\(name)", source] + objects
      )
    }
  }

  private func run(_ program: String, _ arguments: String...) throws {
    try run(program, arguments)
  }

  private func run(_ program: String, _ arguments: [String]) throws {
    try #require(try StartedProgram(program, arguments).waitForEnd() == 0)
  }

  private func answer(
    _ name: String, payload: String, verb: PluginCall.Verb = .render
  ) async throws -> [String: String] {
    let call = PluginCall(
      verb: verb, richType: name, id: "7", payload: payload, body: Array(payload.utf8))
    let text = try await fixture.text(call)
    return try JSONDecoder().decode([String: String].self, from: Data(text.utf8))
  }
}
