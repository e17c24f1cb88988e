import Foundation
import Testing

@testable import PluginHost

/// What a complete response means to the caller.
@Suite(.serialized, .timeLimit(.minutes(1))) struct ResponseInterpreterTests {
  private let fixture: PluginFixture

  init() throws { fixture = try PluginFixture() }

  private func reply(
    _ response: String, _ call: PluginCall = PluginCall(verb: .render, richType: "test"),
    produces: [String] = ["*/*"]
  ) async throws -> PluginReply {
    var manifest = Manifest()
    manifest.produces = produces
    let interpreter = ResponseInterpreter(
      of: PluginFixture.plugin(manifest), temporaryFolder: fixture.folder)
    var buffer = interpreter.buffer()
    try Array(response.utf8).withUnsafeBytes { try buffer.append($0) }
    return try await interpreter.reply(
      buffer, to: call, scratch: try fixture.processFolder().scratch)
  }

  private func error(_ response: String, produces: [String] = ["*/*"]) async -> PluginError? {
    do {
      _ = try await reply(response, produces: produces)
      return nil
    } catch { return error as? PluginError }
  }

  @Test(arguments: [
    (404, PluginError.Code.notFound), (410, .gone), (415, .unsupportedMediaType),
    (422, .invalidContent), (451, .unavailableForLegalReasons), (503, .busy),
    (201, .failed), (204, .failed), (206, .failed), (301, .failed), (304, .failed), (400, .failed),
    (401, .failed), (403, .failed), (413, .failed), (429, .failed), (500, .failed), (502, .failed),
    (504, .failed),
  ])
  func `is a refusal with the plugin's sentence for some statuses, and a failure for others`(
    status: Int, code: PluginError.Code
  ) async {
    let error = await error("Status: \(status)\nContent-Type: text/plain\n\nNot today.\n")
    #expect(error?.code == code)
    #expect((error?.reason == "Not today.") == (code != .failed))
    #expect(error?.retryAfter == (code == .busy ? 1 : nil))
  }

  @Test func `passes on when to try again`() async {
    #expect(await error("Status: 503\nRetry-After: 7\n\n")?.retryAfter == 7)
    #expect(await error("Status: 503\nRetry-After: soon\n\n")?.retryAfter == 1)
    #expect(await error("Status: 404\nRetry-After: 9\n\n")?.retryAfter == 9)
    #expect(await error("Status: 503\nRetry-After: -7\n\n")?.retryAfter == 1)
    #expect(await error("Status: 503\nRetry-After: \(Int.max)\n\n")?.retryAfter == 86_400)
  }

  @Test(arguments: [
    ("text/plain", " one\ntwo\0three ", "one two three"), ("text/plain", " \n ", nil),
    ("Text/Plain; charset=utf-8", "hi", "hi"), ("image/png", "hi", nil), ("", "hi", nil),
    ("application/problem+json", #"{"title":"a","detail":"b"}"#, "b"),
    ("application/json", #"{"title":"a"}"#, "a"), ("application/json", "[]", nil),
    ("application/problem+json", #"{"detail":7}"#, nil),
  ])
  func `finds the sentence of a refusal`(type: String, body: String, sentence: String?) {
    #expect(ResponseInterpreter.sentence(in: Array(body.utf8), type: type) == sentence)
  }

  @Test func `takes a sentence of at most 500 characters, and no large problem document`() {
    let text = [UInt8](repeating: 0x61, count: 4000)
    #expect(ResponseInterpreter.sentence(in: text, type: "text/plain")?.count == 500)
    let detail = String(repeating: "a", count: 65_536)
    let large = Array(#"{"detail":"\#(detail)"}"#.utf8)
    #expect(ResponseInterpreter.sentence(in: large, type: "application/json") == nil)
  }

  @Test func `is a redirect to an absolute http URL, which is not stored`() async throws {
    for location in ["https://example.org/a?b", "HTTP://example.org"] {
      let reply = try await reply("Location: \(location)\nCache-Control: no-cache\n\n")
      #expect(reply.location == location && !reply.isStorable && reply.contentType.isEmpty)
      #expect(reply.fields.map(\.name) == ["cache-control"])
    }
    for location in ["/a", "//example.org", "https://", "ftp://example.org", "https:/a", "https"] {
      #expect(await error("Location: \(location)\n\n")?.code == .failed, "\(location)")
    }
    #expect(await error("Status: 200\nLocation: https://a\n\n")?.code == .failed)
  }

  @Test func `has the length that it says`() async throws {
    #expect(try await reply("Content-Type: a/b\nContent-Length: 2\n\nhi").location == nil)
    for length in ["0", "1", "3"] {
      let error = await error("Content-Type: a/b\nContent-Length: \(length)\n\nhi")
      #expect(error?.cause.contains("wrote 2") == true)
    }
  }

  @Test func `may be JSON for validate and describe, and only what the manifest says for render`()
    async throws
  {
    let json = "Content-Type: application/json\n\n{}"
    for verb in [PluginCall.Verb.validate, .describe] {
      let call = PluginCall(verb: verb, richType: "test")
      #expect(try await reply(json, call, produces: ["image/*"]).contentType == "application/json")
      await #expect(throws: PluginError.self) {
        try await reply("Content-Type: text/plain\n\n", call, produces: ["image/*"])
      }
    }
    #expect(await error(json, produces: ["image/*"])?.code == .failed)
  }

  @Test func `sends the call's asset only if there is one`() async throws {
    var call = PluginCall(verb: .render, richType: "test")
    let text = "Content-Type: image/png\nX-Sendfile: asset\n\n"
    await #expect(throws: PluginError.self) { try await reply(text, call) }
    call.asset = try fixture.asset("x")
    guard case .asset = try await reply(text, call).body else {
      Issue.record("it is not the asset")
      return
    }
  }

  @Test func `does not mix up the headers of two responses`() async throws {
    let interpreter = ResponseInterpreter(
      of: PluginFixture.plugin(Manifest()), temporaryFolder: fixture.folder)
    let call = PluginCall(verb: .render, richType: "test")
    let scratch = try fixture.processFolder().scratch
    for type in ["a/b", "a/b", "a/c", "a/b"] {
      var buffer = interpreter.buffer()
      try Array("Content-Type: \(type)\n\n".utf8).withUnsafeBytes { try buffer.append($0) }
      #expect(try await interpreter.reply(buffer, to: call, scratch: scratch).contentType == type)
    }
  }
}
