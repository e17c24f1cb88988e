import Testing

@testable import PluginKit

@Suite(.timeLimit(.minutes(1))) struct PluginRequestTests {
  @Test func `reads every variable of the contract`() throws {
    let variables = [
      "RICH_VERB": "validate", "RICH_ID": "7", "RICH_TYPE": "img", "RICH_MESSAGE": "Look",
      "RICH_PAYLOAD": "logo.png", "RICH_ASSET_PATH": "/blobs/ab", "RICH_ASSET_TYPE": "image/png",
      "RICH_ASSET_SHA256": "ab", "RICH_ASSET_SIZE": "12", "RICH_PROFILE": "ios",
      "RICH_WIDTH": "320", "RICH_HEIGHT": "240", "RICH_FIT": "cover", "RICH_DPR": "1.5",
      "RICH_MAX_BYTES": "5000", "QUERY_STRING": "a=1%202&b&c=x+y%zz", "TMPDIR": "/scratch",
      "RICH_DEADLINE_MS": "1500",
    ]
    let request = try PluginRequest(body: [1, 2]) { variables[$0] }
    #expect(request.verb == .validate)
    #expect(request.id == "7")
    #expect(request.richType == "img")
    #expect(request.message == "Look")
    #expect(request.payload == "logo.png")
    #expect(
      request.asset == .init(path: "/blobs/ab", type: "image/png", sha256: "ab", size: 12))
    #expect(request.profile == "ios")
    #expect(request.width == 320)
    #expect(request.height == 240)
    #expect(request.fit == "cover")
    #expect(request.dpr == 1.5)
    #expect(request.maxBytes == 5000)
    #expect(request.query == ["a": "1 2", "b": "", "c": "x+y%zz"])
    #expect(request.body == [1, 2])
    #expect(request.deadline == .milliseconds(1500))
    #expect(request.temporaryFolder == "/scratch")
  }

  @Test func `renders without options by default`() throws {
    let request = try PluginRequest { _ in nil }
    #expect(request.verb == .render)
    #expect(request.asset == nil)
    #expect(request.width == nil)
    #expect(request.query.isEmpty)
  }

  @Test func `refuses a verb it does not know`() {
    #expect(throws: Refusal(status: 501, "The verb dance is not known to this plugin.")) {
      try PluginRequest { $0 == "RICH_VERB" ? "dance" : nil }
    }
  }
}
