import Testing

@testable import PluginHost

/// The variables of a call (RFC 3875).
@Suite(.serialized, .timeLimit(.minutes(1))) struct PluginEnvironmentTests {
  private func variables(
    _ call: PluginCall, _ change: (inout Manifest) -> Void = { _ in }
  ) throws -> [String: String] {
    var manifest = Manifest()
    change(&manifest)
    let variables = try PluginEnvironment.variables(
      of: call, asset: call.asset, PluginFixture.plugin(manifest))
    return Dictionary(uniqueKeysWithValues: variables.map { ($0.name, $0.value) })
  }

  @Test(arguments: [
    (PluginCall.Verb.render, "GET"), (.validate, "POST"), (.describe, "OPTIONS"),
  ])
  func `have the method of the verb, and a length only with a body`(
    verb: PluginCall.Verb, method: String
  ) throws {
    let call = PluginCall(verb: verb, richType: "test", body: Array("abc".utf8))
    let variables = try variables(call)
    #expect(variables["REQUEST_METHOD"] == method && variables["RICH_VERB"] == verb.rawValue)
    #expect(variables["CONTENT_LENGTH"] == (verb == .validate ? "3" : nil))
    #expect(
      variables["CONTENT_TYPE"] == (verb == .validate ? "text/plain; charset=utf-8" : nil))
  }

  @Test func `name the asset, whose type is that of a validate's body`() throws {
    let asset = PluginCall.Asset(path: "/a", type: "image/png", sha256: "ab", size: 9)
    let variables = try variables(PluginCall(verb: .validate, richType: "test", asset: asset))
    #expect(variables["RICH_ASSET_PATH"] == "/a" && variables["RICH_ASSET_TYPE"] == "image/png")
    #expect(variables["RICH_ASSET_SHA256"] == "ab" && variables["RICH_ASSET_SIZE"] == "9")
    #expect(variables["CONTENT_TYPE"] == "image/png")
  }

  @Test func `name the user and the notification only if the manifest asks for them`() throws {
    let call = PluginCall(verb: .render, richType: "test", id: "7", user: "alice")
    let secret = try variables(call)
    #expect(secret["REMOTE_USER"] == nil && secret["AUTH_TYPE"] == nil)
    #expect(secret["RICH_ID"] == nil && secret["PATH_INFO"] == "/")
    let open = try variables(call) { ($0.perUser, $0.perNotification) = (true, true) }
    #expect(open["REMOTE_USER"] == "alice" && open["AUTH_TYPE"] == "Basic")
    #expect(open["RICH_ID"] == "7" && open["PATH_INFO"] == "/7")
    var validate = call
    validate.verb = .validate
    #expect(try variables(validate) { $0.perNotification = true }["RICH_ID"] == nil)
  }

  @Test func `have the options and the declared names of the query, escaped`() throws {
    let call = PluginCall(
      verb: .render, richType: "test", query: [("a", "1&b=ü"), ("width", "320"), ("secret", "x")])
    #expect(
      try variables(call) { $0.query = ["a"] }["QUERY_STRING"] == "a=1%26b%3D%C3%BC&width=320")
    #expect(try variables(call)["QUERY_STRING"] == "width=320")
    #expect(try variables(PluginCall(verb: .render, richType: "test"))["QUERY_STRING"] == "")
  }

  @Test func `cannot contain a NUL character`() {
    for call in [
      PluginCall(verb: .render, richType: "test", message: "a\0b"),
      PluginCall(verb: .render, richType: "test", payload: "a\0b"),
      PluginCall(verb: .render, richType: "test", user: "a\0b"),
    ] {
      #expect {
        try variables(call)
      } throws: {
        ($0 as? PluginError)?.code == .invalidContent
      }
    }
  }

  @Test func `cannot be larger than the kernel allows`() throws {
    let longest = String(repeating: "x", count: 130_998)
    #expect(try LaunchSpec.encoded([("A", longest)]).count == 131_001)
    for variables in [
      [("A", longest + "x")], [("A", longest), ("B", String(repeating: "x", count: 40_000))],
    ] {
      #expect {
        try LaunchSpec.encoded(variables)
      } throws: {
        ($0 as? PluginError)?.code == .contentTooLarge
      }
    }
  }

  @Test func `are refused, not cut, when a payload is too long`() async throws {
    let fixture = try PluginFixture()
    try fixture.script("test", "exit 0")
    try fixture.resident("stays", "syswrite $c, ok(length($p->{RICH_PAYLOAD}));")
    let payload = String(repeating: "x", count: 131_000)
    let call = PluginCall(verb: .render, richType: "test", payload: payload)
    #expect(await fixture.error(call)?.code == .contentTooLarge)
    // FastCGI has no such limit.
    let resident = PluginCall(verb: .render, richType: "stays", payload: payload)
    #expect(try await fixture.text(resident) == "131000")
  }
}
