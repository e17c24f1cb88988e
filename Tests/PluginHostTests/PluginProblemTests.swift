import Foundation
import Testing
import Waiting

@testable import PluginHost

/// How the log and the host name the true cause why a plugin cannot be used.
@Suite(.serialized, .timeLimit(.minutes(1))) struct PluginProblemTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test(arguments: [
    ("#!/bin/sh\r\necho hi\r\n", "ends in CR"),
    ("#!/no/such/interpreter\n", "its interpreter /no/such/interpreter is not there"),
    ("#!nosuch\n", "its interpreter nosuch is not there"),
    ("#! /usr/bin/env nosuchprogram\n", "its interpreter nosuchprogram is not in /usr/local/bin"),
    ("#!/usr/bin/env -S A=1 nosuchprogram -u\n", "its interpreter nosuchprogram is not in"),
    ("#!\n", "names no interpreter"),
    ("\u{FEFF}#!/bin/sh\n", "byte order mark"),
    ("echo hi\n", "does not begin with #!"),
    ("", "does not begin with #!"),
  ])
  func `is shown as a plugin that cannot be used, and why`(
    text: String, reason: String
  ) async throws {
    try fixture.write("plugins/lost", text)
    let problem = fixture.host.plugin("lost")?.problem
    #expect(problem?.contains(reason) == true, "\(String(describing: problem))")
    #expect(await fixture.code("lost") == .failed)
    #expect(fixture.log.contains(reason), "\(fixture.log)")
  }

  @Test(arguments: [
    "#!/bin/sh", "#! /bin/sh -e", "#!\t/bin/sh", "#!/usr/bin/env sh",
    "#!/usr/bin/env -S LANG=C sh -e",
  ])
  func `runs a script whatever way its first line names the interpreter`(line: String) async throws
  {
    try fixture.write("plugins/good", "\(line)\necho 'Content-Type: text/plain'; echo; echo hi\n")
    #expect(fixture.host.plugin("good")?.problem == nil)
    #expect(try await fixture.text("good") == "hi\n")
  }

  @Test func `can be used as soon as its interpreter is there, and says so when it goes`()
    async throws
  {
    let interpreter = "\(fixture.folder)/plugins/tool/sh"
    try fixture.write(
      "plugins/tool/tool", "#!\(interpreter)\necho 'Content-Type: text/plain'; echo; echo hi\n")
    #expect(await fixture.code("tool") == .failed)
    try FileManager.default.copyItem(atPath: "/bin/dash", toPath: interpreter)
    #expect(try await fixture.text("tool") == "hi\n")
    try FileManager.default.removeItem(atPath: interpreter)
    #expect(await fixture.code("tool") == .failed)
    #expect(
      fixture.log.hasSuffix("\(interpreter) is not there: correct the first line, or install it"))
  }

  @Test func `is shown when its folder lacks the executable, and a folder of folders is not`()
    throws
  {
    try fixture.write("plugins/card/main.py", "#!/usr/bin/env python3\n")
    try fixture.write("plugins/examples/card/card", "#!/bin/sh\n")
    try FileManager.default.createDirectory(
      atPath: "\(fixture.folder)/plugins/empty", withIntermediateDirectories: false)
    #expect(fixture.host.plugins().map(\.richType) == ["card"])
    let path = "\(fixture.folder)/plugins/card/card"
    #expect(fixture.host.plugin("card")?.problem == "its executable \(path) is missing")
  }

  @Test func `is in the log when the server starts, and when that changes`() async throws {
    try fixture.script("card", manifest: #"{"verb":["render"]}"#, "exit 0")
    try fixture.script("fine", "exit 0")
    fixture.host.warmUp()
    let problem = "plugin: card: it cannot be used: \(fixture.folder)/plugins/card/plugin.json: "
    #expect(fixture.log == problem + "\"verb\" is not a member it can have")
    try fixture.write("plugins/card/plugin.json", "{", mode: 0o644)
    try await eventually("the log says so") {
      fixture.log.contains(problem + "it is not JSON")
    }
    try fixture.write(
      "plugins/card/plugin.json", String(repeating: " ", count: 65_537), mode: 0o644)
    try await eventually("the log says so") {
      fixture.log.contains(problem + "it cannot be read, or has more")
    }
    try fixture.write("plugins/card/plugin.json", "{}", mode: 0o644)
    try await eventually("the log says so") {
      fixture.log.hasSuffix("plugin: card: it can be used now")
    }
    #expect(!fixture.log.contains("fine"))
  }

  @Test(arguments: [
    ("Content-Type: text/html", "HTML, SVG, XML, style sheets and scripts are never served"),
    ("Content-Type: image/svg+xml; charset=utf-8", "are never served"),
    ("Content-Type: nonsense", "its Content-Type \"nonsense\" is no media type"),
    ("Content-Type: image/png", "image/png, which is not in \"produces\""),
    (
      "Status: 301 Moved\\nLocation: https://example.org/",
      "its Location comes with the status 301, not 302 or none"
    ),
    ("Status: 201 Created\\nLocation: https://example.org/", "the status 201, not 302 or none"),
    ("Location: /here", "its Location \"/here\" is no absolute http URL"),
  ])
  func `gives the true cause of an answer that is not served`(
    head: String, cause: String
  ) async throws {
    try fixture.script(
      "odd", manifest: #"{"produces":["text/*","image/svg+xml"]}"#, "printf '\(head)\\n\\n<p>hi'")
    #expect(await fixture.code("odd") == .failed)
    #expect(fixture.log.contains(cause), "\(fixture.log)")
  }
}
