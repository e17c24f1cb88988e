import Foundation
import Testing
import Waiting

@testable import PluginHost

@Suite(.serialized, .timeLimit(.minutes(2))) struct PluginHostTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  @Test func `runs a shell script of three lines`() async throws {
    try fixture.script("coupon", "echo 'Content-Type: text/plain'; echo; echo \"$RICH_TYPE off\"")
    #expect(try await fixture.text("coupon") == "coupon off\n")
    #expect(fixture.log.isEmpty)
  }

  @Test func `says 404 where there is no plugin`() async {
    #expect(await fixture.code("nothing") == .noSuchPlugin)
    #expect(await fixture.code("../tmp") == .noSuchPlugin)
  }

  @Test func `passes the variables of the contract and no others`() async throws {
    try fixture.script(
      "env", manifest: #"{"query":["view"],"perUser":true,"perNotification":true}"#,
      "echo 'Content-Type: text/plain'; echo; env")
    let call = PluginCall(
      verb: .render, richType: "env", id: "7", message: "Look:\nhere", payload: "logo.png",
      asset: try fixture.asset("x"),
      options: PluginOptions(
        profile: "ios", width: 320, height: 240, fit: "cover", dpr: 1.5, maxBytes: 9000),
      query: [("view", "a b&c"), ("secret", "1"), ("width", "320")], user: "alice")
    let text = try await fixture.text(call)
    let names = text.split(separator: "\n").filter { $0.contains("=") }
      .map { String($0.prefix { $0 != "=" }) }
    #expect(
      Set(names) == [
        "AUTH_TYPE", "GATEWAY_INTERFACE", "HOME", "LANG", "PATH", "PATH_INFO", "PWD",
        "QUERY_STRING", "REMOTE_ADDR", "REMOTE_USER", "REQUEST_METHOD",
        "RICH_ASSET_PATH",
        "RICH_ASSET_SHA256", "RICH_ASSET_SIZE", "RICH_ASSET_TYPE", "RICH_DEADLINE_MS", "RICH_DPR",
        "RICH_FIT", "RICH_HEIGHT", "RICH_ID", "RICH_MAX_BYTES", "RICH_MESSAGE", "RICH_PAYLOAD",
        "RICH_PROFILE", "RICH_TYPE", "RICH_VERB", "RICH_WIDTH", "SCRIPT_NAME",
        "SERVER_NAME",
        "SERVER_PORT", "SERVER_PROTOCOL", "SERVER_SOFTWARE", "SWIFT_BACKTRACE", "TMPDIR", "TZ",
      ])
    #expect(text.contains("QUERY_STRING=view=a%20b%26c&width=320\n"))
    #expect(text.contains("RICH_MESSAGE=Look:\nhere\n"))
    #expect(text.contains("REMOTE_USER=alice\n"))
  }

  @Test func `passes a validate its payload and returns the facts`() async throws {
    try fixture.script(
      "card", manifest: #"{"verbs":["validate"],"produces":["image/png"]}"#,
      "echo 'Content-Type: application/json'; echo; cat; printf $CONTENT_LENGTH")
    let body = [UInt8](repeating: 0x61, count: 300_000)
    let reply = try await fixture.host.respond(
      to: PluginCall(verb: .validate, richType: "card", body: body))
    guard case .bytes(let bytes) = reply.body else { throw PluginError(.failed, "file") }
    #expect(bytes.elementsEqual(body + "300000".utf8))
  }

  @Test func `accepts an asset by its type when the plugin has no verb for that`() async throws {
    try fixture.script("pic", manifest: #"{"accepts":["image/*"],"verbs":[]}"#, "exit 1")
    let asset = try fixture.asset("x")
    let call = PluginCall(verb: .validate, richType: "pic", asset: asset)
    #expect(try await fixture.text(call) == #"{"contentType":"image/png"}"#)
    var sound = call
    sound.asset?.type = "audio/wav"
    await #expect(throws: PluginError.self) { try await fixture.host.respond(to: sound) }
    #expect(
      try await fixture.text(PluginCall(verb: .render, richType: "pic", asset: asset)) == "(asset)"
    )
  }

  @Test func `passes a refusal on with its sentence`() async throws {
    try fixture.script(
      "no", "echo 'Status: 410 Gone'; echo 'Content-Type: text/plain'; echo; echo 'Too late.'")
    do {
      _ = try await fixture.text("no")
      Issue.record("it did not refuse")
    } catch let error as PluginError {
      #expect(error.code == .gone && error.reason == "Too late.")
    }
  }

  @Test func `keeps two hundred calls at once apart`() async throws {
    let fixture = try PluginFixture {
      $0.queueLength = 1000; $0.queueTimeout = .seconds(30)
    }
    try fixture.script(
      "echo", manifest: #"{"perNotification":true}"#,
      "echo 'Content-Type: text/plain'; echo; printf $RICH_ID")
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for id in 0..<200 {
        group.addTask {
          try await fixture.text(
            PluginCall(verb: .render, richType: "echo", id: String(id))) == String(id)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(fixture.leftovers.isEmpty)
  }

  /// A host whose plugin `waits` runs until there is a file.
  private func waitingPlugin(
    manifest: String, _ change: @escaping (inout PluginConfiguration) -> Void
  ) throws -> (PluginFixture, end: () throws -> Void) {
    let fixture = try PluginFixture {
      $0.sandbox = .off
      change(&$0)
    }
    try fixture.script(
      "waits", manifest: manifest,
      """
      while [ ! -e "$TMPDIR/../../go" ]; do sleep 0.01; done
      echo 'Content-Type: text/plain'; echo; echo done
      """)
    return (fixture, { try fixture.write("tmp/go", "") })
  }

  @Test(arguments: [(manifest: #"{"workers":{"max":1}}"#, width: 1), (manifest: "{}", width: 2)])
  func `runs so many calls at once, lets so many wait, and rejects others`(
    manifest: String, width: Int
  ) async throws {
    let (fixture, end) = try waitingPlugin(manifest: manifest) {
      ($0.concurrency, $0.queueLength, $0.queueTimeout) = (2, 1, .seconds(60))
    }
    try await withThrowingTaskGroup(of: String.self) { group in
      for _ in 0...width { group.addTask { try await fixture.text("waits") } }
      try await eventually("they run and wait") {
        let status = fixture.host.status().first
        return status?.processes.busy == width && status?.queue.waiting == 1
      }
      let call = PluginCall(verb: .render, richType: "waits", id: "7")
      let error = await fixture.error(call)
      #expect(error?.code == .busy && error?.retryAfter == 1)
      #expect(fixture.log.contains("busy: its queue is full"))
      let status = try #require(fixture.host.status().first)
      #expect(status.queue.rejected == 1 && status.processes.maximum == width)
      #expect(status.queue.running == width)
      try end()
      for try await text in group { #expect(text == "done\n") }
    }
  }

  @Test func `rejects a call that has waited too long`() async throws {
    let (fixture, end) = try waitingPlugin(manifest: #"{"workers":{"max":1}}"#) {
      $0.queueTimeout = .milliseconds(20)
    }
    let first = Task { try await fixture.text("waits") }
    try await eventually("it runs") {
      fixture.host.status().first?.queue.running == 1
    }
    #expect(await fixture.code("waits") == .busy)
    try end()
    #expect(try await first.value == "done\n")
    #expect(try await fixture.text("waits") == "done\n")
  }

  @Test func `removes what a server that was killed has left, and nothing else`() async throws {
    let fixture = try PluginFixture {
      let folder = $0.temporaryFolder
      for name in ["answer-1", "kept", "plugin", "answer-sheet.txt"] {
        _ = FileManager.default.createFile(atPath: "\(folder)/\(name)", contents: nil)
      }
      try? FileManager.default.createDirectory(
        atPath: "\(folder)/plugin-Sources", withIntermediateDirectories: true)
      try? FileManager.default.createDirectory(
        atPath: "\(folder)/plugin-1/tmp/deep", withIntermediateDirectories: true)
    }
    try await eventually("it is removed") {
      let names = try FileManager.default.contentsOfDirectory(atPath: "\(fixture.folder)/tmp")
      return Set(names) == ["kept", "plugin", "answer-sheet.txt", "plugin-Sources"]
    }
  }

  @Test func `finds the server's files that plugins may read`() throws {
    try fixture.script("own", manifest: "{}", "exit 0")
    try fixture.write("plugins/owner", "not a plugin's")
    let path = fixture.folder + "/plugins/own/plugin.json"
    let found = fixture.host.firstReadable(of: [fixture.folder + "/plugins/owner/a", path])
    #expect(found?.path.hasSuffix("/plugins/own/plugin.json") == true)
    #expect(found?.below.hasSuffix("/plugins/own") == true)
    #expect(fixture.host.firstReadable(of: ["/usr"])?.below == "/usr")
    #expect(fixture.host.firstReadable(of: [fixture.folder + "/data", "/var/lib/a"]) == nil)
    try fixture.write("plugins/own/plugin.json", "{", mode: 0o644)
    #expect(fixture.host.firstReadable(of: [path]) == nil, "what cannot be used is not run")
  }

  @Test func `gives an asset a name only for the time of the call`() async throws {
    try fixture.script("once", "echo 'Content-Type: text/plain'; echo; cat \"$RICH_ASSET_PATH\"")
    try fixture.resident(
      "stays", "open(my $f, '<', $p->{RICH_ASSET_PATH}); syswrite $c, ok(scalar <$f>);")
    for name in ["once", "stays"] {
      for text in ["one", "two"] {
        let asset = try fixture.asset(text)
        let call = PluginCall(verb: .render, richType: name, asset: asset)
        #expect(try await fixture.text(call) == text)
      }
    }
    #expect(fixture.leftovers.isEmpty)
  }

  @Test func `counts the changes of the plugins' folder`() async throws {
    let before = fixture.host.changeCount
    try fixture.script("new", "exit 0")
    try await eventually("it is noticed") { fixture.host.changeCount > before }
  }
}
