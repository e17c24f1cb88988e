import Testing

@testable import PluginHost

@Suite struct PluginHostTests {
  private let workshop: Workshop

  init() throws { workshop = try Workshop() }

  @Test func `runs a shell script of three lines`() async throws {
    try workshop.script("coupon", "echo 'Content-Type: text/plain'; echo; echo \"$RICH_ID off\"")
    #expect(try await workshop.text("coupon") == "7 off\n")
    #expect(workshop.log.isEmpty)
  }

  @Test func `says 404 where there is no plugin`() async {
    #expect(await workshop.status("nothing") == 404)
    #expect(await workshop.status("../tmp") == 404)
  }

  @Test func `hands over the variables of the contract and no others`() async throws {
    try workshop.script(
      "env", manifest: #"{"query":["view"],"perUser":true}"#,
      "echo 'Content-Type: text/plain'; echo; env")
    let call = PluginCall(
      verb: .render, richType: "env", id: "7", message: "Look:\nhere", payload: "logo.png",
      asset: try workshop.asset("x"),
      options: PluginOptions(
        profile: "ios", width: 320, height: 240, fit: "cover", dpr: 1.5, maxBytes: 9000),
      query: [("view", "a b&c"), ("secret", "1"), ("width", "320")], user: "alice")
    let text = try await workshop.text(call)
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

  @Test func `gives a validate its payload and takes back the facts`() async throws {
    try workshop.script(
      "card", manifest: #"{"verbs":["validate"],"produces":["image/png"]}"#,
      "echo 'Content-Type: application/json'; echo; cat; printf $CONTENT_LENGTH")
    let body = [UInt8](repeating: 0x61, count: 300_000)
    let reply = try await workshop.host.respond(
      to: PluginCall(verb: .validate, richType: "card", body: body))
    guard case .bytes(let bytes) = reply.body else { throw PluginError(status: 0, reason: "file") }
    #expect(bytes.elementsEqual(body + "300000".utf8))
  }

  @Test func `accepts an asset by its type when the plugin has no verb for that`() async throws {
    try workshop.script("pic", manifest: #"{"accepts":["image/*"],"verbs":[]}"#, "exit 1")
    let asset = try workshop.asset("x")
    let call = PluginCall(verb: .validate, richType: "pic", asset: asset)
    #expect(try await workshop.text(call) == #"{"contentType":"image/png"}"#)
    var sound = call
    sound.asset?.type = "audio/wav"
    await #expect(throws: PluginError.self) { try await workshop.host.respond(to: sound) }
    #expect(
      try await workshop.text(PluginCall(verb: .render, richType: "pic", asset: asset)) == "(asset)"
    )
  }

  @Test func `passes a refusal on with its sentence`() async throws {
    try workshop.script(
      "no", "echo 'Status: 410 Gone'; echo 'Content-Type: text/plain'; echo; echo 'Too late.'")
    do {
      _ = try await workshop.text("no")
      Issue.record("it did not refuse")
    } catch let error as PluginError {
      #expect(error == PluginError(status: 410, reason: "Too late."))
    }
  }

  @Test func `keeps two hundred calls at once apart`() async throws {
    let workshop = try Workshop {
      $0.queueLength = 1000; $0.queuePatience = .seconds(30)
    }
    try workshop.script("echo", "echo 'Content-Type: text/plain'; echo; printf $RICH_ID")
    try await withThrowingTaskGroup(of: Bool.self) { group in
      for id in 0..<200 {
        group.addTask {
          try await workshop.text(
            PluginCall(verb: .render, richType: "echo", id: String(id))) == String(id)
        }
      }
      for try await isRight in group { #expect(isRight) }
    }
    #expect(workshop.leavings.isEmpty)
  }
}
