import Foundation
import HTTP
import TestSupport
import Testing

/// Content that is filled in: which kinds there are, and what the server takes of it.
@Suite(.timeLimit(.minutes(1))) struct RichTypeRoutesTests {
  private static let manifest = """
    {"label": {"en": "Coupon", "de": "Gutschein"}, "verbs": ["validate", "render"], "accepts": [],
     "produces": ["text/plain"], "form": [
      {"name": "code", "label": "Code", "required": true, "maxLength": 8, "example": "SAVE10"},
      {"name": "discount", "kind": "number", "required": true, "minimum": 1, "maximum": 100},
      {"name": "place", "kind": "choice", "choices": ["shop", {"value": "web", "label": "Online"}]},
      {"name": "once", "kind": "boolean"}]}
    """

  /// Renders what it gets.
  private static let script = """
    case $RICH_VERB in
      validate) printf 'Content-Type: application/json\\n\\n{}' ;;
      *) printf 'Content-Type: text/plain\\n\\n%s' "$RICH_PAYLOAD" ;;
    esac
    """

  private func withServer(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: { _, scratch in
        try scratch.installPlugin("coupon", manifest: Self.manifest, Self.script)
        try scratch.installPlugin("broken", manifest: #"{"form": 7}"#, Self.script)
        try scratch.installNote()
      }, test)
  }

  private func post(
    _ server: TestServer, _ payload: String, type: String = "coupon", query: String = "",
    as user: String = "publisher"
  ) async throws -> TestResponse {
    try await server.execute(
      "POST", "/api/notifications" + query, as: user,
      body: #"{"richType":"\#(type)","payload":\#(payload),"to":["username:\#(user)"]}"#)
  }

  /// How often a plugin was called.
  private func calls(_ server: TestServer) async throws -> Int? {
    let report = try await server.execute("GET", "/api/plugins", as: "admin")
    return report.objects("plugins").first { $0["richType"] as? String == "coupon" }?["calls"]
      as? Int
  }

  @Test func `publishers learn which types there are and what is filled in for them`() async throws
  {
    try await withServer { server in
      let list = try await server.execute("GET", "/api/types", as: "publisher")
      #expect(list.objects("types").compactMap { $0["richType"] as? String } == ["coupon", "note"])
      let coupon = try #require(list.objects("types").first)
      #expect(coupon["label"] as? [String: String] == ["en": "Coupon", "de": "Gutschein"])
      let form = try #require(coupon["form"] as? [[String: Any]])
      #expect(form.compactMap { $0["kind"] as? String } == ["text", "number", "choice", "boolean"])
      #expect(form[0]["example"] as? String == "SAVE10" && form[0]["maxLength"] as? Int == 8)
      #expect(form[0]["required"] as? Bool == true && form[1]["minimum"] as? Int == 1)
      let choices = try #require(form[2]["choices"] as? [[String: Any]])
      #expect(choices.compactMap { $0["value"] as? String } == ["shop", "web"])
      #expect(list.objects("types")[1]["form"] is NSNull)
      #expect(try await server.status("GET", "/api/types", as: "device") == 403)
      #expect(try await server.status("GET", "/api/types?x", as: "publisher") == 400)
    }
  }

  @Test(arguments: ["?dry-run", ""])
  func `every wrong field is named before the plugin is called`(query: String) async throws {
    try await withServer { server in
      let wrong = #"{"discount": 101, "place": "moon", "once": 1, "colour": "red"}"#
      let all = [
        "#/payload/code", "#/payload/discount", "#/payload/place", "#/payload/once",
        "#/payload/colour",
      ]
      let text = String(decoding: try JSONEncoder().encode(wrong), as: UTF8.self)
      for payload in [wrong, text] {
        let refused = try await post(server, payload, query: query)
        #expect(refused.status == 422 && refused.errors.map(\.pointer) == all, "\(refused)")
        #expect(refused.errors[0].detail == "payload.code is missing.")
        #expect(refused.errors[1].detail == "payload.discount must be a number from 1 to 100.")
      }
      for payload in [#""SAVE10""#, #""""#, #""[]""#] {
        let refused = try await post(server, payload, query: query)
        #expect(refused.status == 422 && refused.errors.map(\.pointer) == ["#/payload"])
      }
      // So it is with what a device sends to itself.
      #expect(try await post(server, wrong, query: query, as: "device").errors.count == 5)
      #expect(try await calls(server) == 0)
    }
  }

  @Test func `the plugin gets what was checked, and what it makes is previewed and sent`()
    async throws
  {
    try await withServer { server in
      let twice = #"{ "discount": 5, "code": "A", "code": "much too long", "place": null }"#
      let text = String(decoding: try JSONEncoder().encode(twice), as: UTF8.self)
      let content = #"{"code":"A","discount":5}"#
      let dry = try await post(server, text, query: "?dry-run")
      #expect(dry.status == 200, "\(dry.detail ?? "")")
      for rendition in dry.objects("renditions") {
        let data = (rendition["data"] as? String).flatMap { Data(base64Encoded: $0) } ?? Data()
        #expect(String(decoding: data, as: UTF8.self) == content && rendition["url"] is NSNull)
      }
      #expect(dry.objects("renditions").count == 5)
      let sent = try await post(server, text)
      #expect(sent.status == 201 && sent.json["payload"] as? String == content)
      let id = try #require(sent.json["id"] as? Int)
      // A change is checked, too.
      let changed = try await server.execute(
        "PATCH", "/api/notifications/\(id)", as: "publisher",
        body: #"{"payload": {"code": "B", "discount": 0}}"#)
      #expect(changed.status == 422 && changed.errors.map(\.pointer) == ["#/payload/discount"])
      let fetched = try await server.execute(
        "GET", "/api/notifications/\(id)?profile=ios", as: "publisher")
      #expect(fetched.text == content)
    }
  }

  @Test func `a type without a form takes any text as before`() async throws {
    try await withServer { server in
      for payload in [#""SAVE10""#, #""{\"a\": 1}""#] {
        #expect(try await post(server, payload, type: "note").status == 201)
      }
      // A broken manifest says where.
      let report = try await server.execute("GET", "/api/plugins", as: "admin")
      let broken = report.objects("plugins").first { $0["richType"] as? String == "broken" }
      #expect((broken?["problem"] as? String)?.contains("\"form\" must be an array") == true)
    }
  }
}
