import Foundation
import HTTP
import Media
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

/// The alternative text and the focus of assets, and what notifications have of them.
@Suite(.timeLimit(.minutes(1))) struct AssetDescriptionTests {
  /// Renders the options that it gets; one rich type crops, the other does not.
  private func withServer(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: {
        for (type, query) in [("note", #""focus=0.5,0.5""#), ("plain", "")] {
          try $1.installPlugin(
            type, manifest: #"{"verbs":["validate","render"],"query":[\#(query)]}"#,
            """
            case $RICH_VERB in
              validate) printf 'Content-Type: application/json\\n\\n{"alt":"x","focus":7}' ;;
              *) printf 'Content-Type: text/plain\\n\\n|%s' "$QUERY_STRING" ;;
            esac
            """)
          try $1.write("one", to: "assets/\(type)/a.txt")
        }
        $0.publishAs = "admin"
      }, test)
  }

  private static let target = "/api/assets/note/a.txt"
  private static let crop = "width=96&height=96&fit=cover"

  private func patch(
    _ server: TestServer, _ body: String, _ target: String = target, as user: String = "publisher"
  ) async throws -> TestResponse {
    try await server.execute("PATCH", target, as: user, body: body)
  }

  /// Sends a notification with the asset, and returns its JSON.
  private func send(
    _ server: TestServer, _ members: String = "", payload: String = "a.txt"
  ) async throws -> [String: Any] {
    let answer = try await server.execute(
      "POST", "/api/notifications", as: "publisher",
      body: #"{"message":"m","richType":"note","payload":"\#(payload)","#
        + #""to":["username:device"]\#(members)}"#)
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
    return answer.json
  }

  private func crop(
    of notification: [String: Any], _ options: String = "", in server: TestServer
  ) async throws -> String {
    let id = try #require(notification["id"] as? Int)
    let target = "/api/notifications/\(id)?\(Self.crop)\(options)"
    let text = try await server.execute("GET", target, as: "device").text
    try #require(text.hasPrefix("|\(Self.crop)"), "\(text)")
    return String(text.dropFirst(Self.crop.count + 1))
  }

  @Test func `they are set, listed, told by an event and removed`() async throws {
    try await withServer { server in
      let before = try await server.execute("GET", Self.target, as: "publisher").json
      #expect(before["alt"] is NSNull && before["focus"] is NSNull)
      let set = try await patch(server, #"{"alt":"A dog","focus":"0.20,0.6"}"#)
      #expect(set.status == 200 && set.json["state"] as? String == "preparing")
      for target in [Self.target, "/api/assets/note"] {
        let answer = try await server.execute("GET", target, as: "publisher")
        let asset = answer.objects("assets").first ?? answer.json
        #expect(asset["alt"] as? String == "A dog" && asset["focus"] as? String == "0.2,0.6")
      }
      let events = try await server.store.events.events(after: 0, for: nil, limit: 99).map(\.data)
      #expect(events.contains { $0.contains(#""alt":"A dog""#) && $0.contains("0.2,0.6") })
      // Only what it names is changed.
      let rest = try await patch(server, #"{"focus":null}"#)
      #expect(rest.json["alt"] as? String == "A dog" && rest.json["focus"] is NSNull)
      try await eventually("it is ready") {
        try await server.store.assets.asset("note", "a.txt")?.state == .ready
      }
      let updated = try await server.store.assets.asset("note", "a.txt")?.updated
      for body in [#"{}"#, #"{"alt":"A dog"}"#, #"{"focus":null}"#] {
        #expect(try await patch(server, body).json["alt"] as? String == "A dog")
      }
      #expect(try await server.store.assets.asset("note", "a.txt")?.updated == updated)
      #expect(try await patch(server, #"{"alt":null}"#).json["alt"] is NSNull)
    }
  }

  @Test(
    arguments: [
      ("", 400, ""), ("[]", 400, ""), ("null", 400, ""), (#""alt""#, 400, ""),
      (#"{"alt":1}"#, 400, "alt"), (#"{"alt":["a"]}"#, 400, "alt"),
      (#"{"alt":"a\u0000"}"#, 400, "alt"), (#"{"focus":0.5}"#, 400, "focus"),
      (#"{"focus":{"x":0,"y":0}}"#, 400, "focus"), (#"{"focus":[0.5,0.5]}"#, 400, "focus"),
      (#"{"focus":"NaN,0.5"}"#, 422, "focus"), (#"{"focus":"0.5,Infinity"}"#, 422, "focus"),
      (#"{"focus":"1.1,0.5"}"#, 422, "focus"), (#"{"focus":"-0.1,0.5"}"#, 422, "focus"),
      (#"{"focus":"0.5"}"#, 422, "focus"), (#"{"focus":""}"#, 422, "focus"),
      (#"{"focus":"0.5,0.5&fit=cover"}"#, 422, "focus"), (#"{"name":"b"}"#, 400, "name"),
      (#"{"alt":1,"focus":"x"}"#, 400, "alt focus"),
    ] as [(String, Int, String)])
  func `what is wrong is refused by name, and changes nothing`(
    body: String, status: Int, members: String
  ) async throws {
    try await withServer { server in
      let answer = try await patch(server, body)
      #expect(answer.status == status, "\(answer.text) \(answer.detail ?? "")")
      #expect(answer.errors.map { $0.pointer.dropFirst(2) }.joined(separator: " ") == members)
      let asset = try #require(
        try await server.execute("GET", Self.target, as: "publisher").json as [String: Any]?)
      #expect(asset["alt"] is NSNull && asset["focus"] is NSNull)
    }
  }

  @Test func `a text has as many bytes as a notification's, and a body has a limit`() async throws {
    try await withServer { server in
      let (most, more) = (String(repeating: "ä", count: 500), String(repeating: "ä", count: 501))
      let over = try await patch(server, #"{"alt":"\#(more)"}"#)
      #expect(over.status == 422)
      let longest = try await patch(server, #"{"alt":"\#(most)"}"#)
      #expect(longest.json["alt"] as? String == most)
      let huge = try await patch(server, String(repeating: " ", count: 20_000) + "{}")
      #expect(huge.status == 413)
    }
  }

  @Test func `only what can be described is`() async throws {
    try await withServer { server in
      let body = #"{"alt":"a"}"#
      #expect(try await patch(server, body, as: "device").status == 403)
      #expect(try await patch(server, body, "/api/assets/note/none.txt").status == 404)
      #expect(try await patch(server, body, "/api/assets/none/a.txt").status != 200)
      try server.scratch.write("", to: "assets/note/empty.txt")
      #expect(try await patch(server, body, "/api/assets/note/empty.txt").status == 422)
      // Nothing is cropped around a focus.
      let plain = "/api/assets/plain/a.txt"
      #expect(try await patch(server, #"{"focus":"0,0"}"#, plain).status == 422)
      #expect(try await patch(server, #"{"alt":"a","focus":null}"#, plain).status == 200)
      // What is sent in another's name.
      try server.scratch.write("{}", to: "assets/note/a.txt.notify.json")
      #expect(try await patch(server, body).status == 403)
      #expect(try await patch(server, body, as: "admin").status == 200)
    }
  }

  @Test func `a notification has those of its asset when it was created`() async throws {
    try await withServer { server in
      let first = try await send(server)
      #expect(first["alt"] == nil)
      #expect(try await crop(of: first, in: server) == "")
      _ = try await patch(server, #"{"alt":"A dog","focus":"0.2,0.6"}"#)
      let second = try await send(server)
      let own = try await send(server, #","alt":"Its own""#)
      let none = try await send(server, #","alt":"""#)
      #expect(second["alt"] as? String == "A dog" && own["alt"] as? String == "Its own")
      #expect(none["alt"] as? String == "")
      _ = try await patch(server, #"{"alt":"A cat","focus":"1,0"}"#)
      #expect(try await crop(of: first, in: server) == "")
      #expect(try await crop(of: second, in: server) == "&focus=0.2%2C0.6")
      // A request that names one has precedence, be it the plugin's own.
      #expect(try await crop(of: second, "&focus=0.9,0.9", in: server) == "&focus=0.9%2C0.9")
      #expect(try await crop(of: second, "&focus=0.5,0.5", in: server) == "")
      #expect(try await crop(of: send(server), in: server) == "&focus=1%2C0")
      // The original is not cropped.
      let id = try #require(second["id"] as? Int)
      #expect(
        try await server.execute("GET", "/api/notifications/\(id)", as: "device").text == "|")
      let profile = "/api/notifications/\(id)?profile=watch"
      #expect(
        try await server.execute("GET", profile, as: "device").text
          == "|profile=watch&focus=0.2%2C0.6")
      let asset = try await server.execute(
        "GET", Self.target + "/media?\(Self.crop)", as: "publisher")
      #expect(asset.text == "|" + Self.crop + "&focus=1%2C0")
    }
  }

  @Test func `a signed link leads to what is cropped around the focus`() async throws {
    try await withServer { server in
      _ = try await patch(server, #"{"focus":"0.2,0.6"}"#)
      let id = try #require(try await send(server)["id"] as? Int)
      let details = try await server.execute(
        "GET", "/api/notifications/\(id)/details?link=w96h96-cover", as: "publisher")
      let links = try #require(details.json["links"] as? [String: String])
      let link = try #require(links["w96h96-cover"])
      let path = try #require(link.range(of: "/media/").map { String(link[$0.lowerBound...]) })
      #expect(try await server.execute("GET", path).text == "|" + Self.crop + "&focus=0.2%2C0.6")
    }
  }

  @Test func `a change of a notification keeps what it has, and other media brings its own`()
    async throws
  {
    try await withServer { server in
      try server.scratch.write("two", to: "assets/note/b.txt")
      _ = try await patch(server, #"{"alt":"A dog","focus":"0.2,0.6"}"#)
      _ = try await patch(server, #"{"alt":"A {{cat}}"}"#, "/api/assets/note/b.txt")
      let (taken, own) = (try await send(server), try await send(server, #","alt":"Mine""#))
      _ = try await patch(server, #"{"alt":"Later","focus":"1,1"}"#)
      func amend(_ notification: [String: Any], _ body: String) async throws -> [String: Any] {
        let id = try #require(notification["id"] as? Int)
        let answer = try await server.execute(
          "PATCH", "/api/notifications/\(id)", as: "publisher", body: body)
        try #require(answer.status == 200, "\(answer.detail ?? "")")
        return answer.json
      }
      let text = try await amend(taken, #"{"message":"n"}"#)
      #expect(text["alt"] as? String == "A dog")
      #expect(try await server.store.notifications.notification(0)?.focus == "0.2,0.6")
      let media = try await amend(taken, #"{"payload":"b.txt"}"#)
      #expect(media["alt"] as? String == "A {{{{cat}}")
      let again = try await amend(taken, #"{"message":"o"}"#)
      #expect(again["alt"] as? String == "A {{{{cat}}")
      #expect(try await server.store.notifications.notification(0)?.focus == nil)
      #expect(try await amend(own, #"{"payload":"b.txt"}"#)["alt"] as? String == "Mine")
      #expect(try await amend(own, #"{"alt":null}"#)["alt"] == nil)
    }
  }

  @Test func `new content has the text, and no focus until the earlier content comes back`()
    async throws
  {
    try await withServer { server in
      _ = try await patch(server, #"{"alt":"A dog","focus":"0.2,0.6"}"#)
      for (content, focus) in [("two", nil), ("one", "0.2,0.6"), ("three", nil)] as [(_, String?)] {
        let put = try await server.execute("PUT", Self.target, as: "publisher", body: content)
        #expect(put.json["alt"] as? String == "A dog" && put.json["focus"] as? String == focus)
        let sent = try await send(server)
        #expect(try await crop(of: sent, in: server).isEmpty == (focus == nil))
      }
      #expect(try await server.status("DELETE", Self.target, as: "publisher") == 204)
      let again = try await server.execute("PUT", Self.target, as: "publisher", body: "one")
      #expect(again.json["alt"] is NSNull && again.json["focus"] is NSNull)
    }
  }

  @Test func `a dry run shows both`() async throws {
    try await withServer { server in
      _ = try await patch(server, #"{"alt":"A dog","focus":"0.2,0.6"}"#)
      let answer = try await server.execute(
        "POST", "/api/notifications?dry-run", as: "publisher",
        body: #"{"message":"m","richType":"note","payload":"a.txt","to":["username:device"]}"#)
      #expect(answer.text.contains(#""carried":["alt"]"#), "\(answer.text)")
      let rendition = "|profile=ios&focus=0.2%2C0.6"
      #expect(answer.objects("renditions").first?["bytes"] as? Int == rendition.utf8.count)
    }
  }

  @Test func `a file that describes another is none of the API's`() async throws {
    try await withServer { server in
      for name in ["a.txt.describe.json", "a.txt.DESCRIBE.JSON."] {
        let target = "/api/assets/note/\(name)"
        #expect(
          try await server.status("PUT", target, as: "admin", body: #"{"alt":"x"}"#) == 422)
        #expect(try await server.status("DELETE", target, as: "admin") == 422)
      }
      try server.scratch.write(#"{"alt":"Told"}"#, to: "assets/note/a.txt.describe.json")
      let refused = try await patch(server, #"{"alt":"x"}"#)
      #expect(refused.status == 409 && refused.detail?.contains(".describe.json") == true)
      #expect(try await send(server)["alt"] as? String == "Told")
    }
  }
}
