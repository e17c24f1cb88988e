import Delivery
import Foundation
import HTTP
import Intake
import Media
import PluginHost
import Push
import RichPushAPI
import Store
import TestSupport
import Testing
import Waiting

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct AssetRoutesTests {
  private static let manifest = #"{"verbs":["validate","render"]}"#
  /// Rejects what begins with `bad`.
  private static let script = """
    read -r first <"$RICH_ASSET_PATH"
    case $first-$RICH_VERB in
      bad*) printf 'Status: 422\\nContent-Type: text/plain\\n\\nIt is bad.' ;;
      *-validate) printf 'Content-Type: application/json\\n\\n{"title":"t"}' ;;
      *) printf 'Content-Type: text/plain\\n\\nok' ;;
    esac
    """

  private func withServer(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: { try $1.installPlugin("note", manifest: Self.manifest, Self.script) }, test)
  }

  @Test func `an upload creates an asset, replaces it, and changes nothing if it is rejected`()
    async throws
  {
    try await withServer { server in
      let target = "/api/assets/note/a.txt"
      let first = try await server.execute("PUT", target, as: "publisher", body: "one")
      #expect(first.status == 201 && first.fields["Location"] == target)
      #expect(first.json["title"] as? String == "t" && first.json["bytes"] as? Int == 3)
      #expect(try await server.status("PUT", target, as: "publisher", body: "two") == 200)
      let rejected = try await server.execute("PUT", target, as: "publisher", body: "bad")
      #expect(rejected.status == 422 && rejected.detail == "It is bad.")
      #expect(server.scratch.read("assets/note/a.txt") == "two")
      let files = try FileManager.default.subpathsOfDirectory(atPath: server.configuration.data)
      #expect(files.filter { $0.contains("upload-") }.isEmpty)
    }
  }

  @Test func `with If-None-Match nothing is replaced, and 412 says which asset there is`()
    async throws
  {
    try await withServer { server in
      let target = "/api/assets/note/a.txt"
      func put(_ body: String, _ name: String = "a.txt") async throws -> TestResponse {
        try await server.execute(
          "PUT", "/api/assets/note/\(name)", as: "publisher", fields: ["If-None-Match": "*"],
          body: body)
      }
      #expect(try await put("one").status == 201)
      let second = try await put("two")
      #expect(second.status == 412 && second.code == "precondition-failed")
      #expect(second.fields["Location"] == target)
      #expect(server.scratch.read("assets/note/a.txt") == "one")
      // Also one that is refused, or has not been seen yet, or is spelled in another of Unicode's forms.
      try server.scratch.write("bad", to: "assets/note/bad.txt")
      try server.scratch.write("one", to: "assets/note/u\u{308}.txt")
      let statuses = [
        try await put("new", "bad.txt").status, try await put("new", "%C3%BC.txt").status,
      ]
      #expect(statuses == [412, 412])
      #expect(server.scratch.names(in: "assets/note").count == 3)
      // Without it, a name gets new content as ever.
      #expect(try await server.status("PUT", target, as: "publisher", body: "two") == 200)
    }
  }

  @Test func `of uploads at once that must not replace anything, one creates the asset`()
    async throws
  {
    try await withServer { server in
      let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
        for number in 0..<4 {
          group.addTask {
            try await server.execute(
              "PUT", "/api/assets/note/a.txt", as: "publisher", fields: ["If-None-Match": "*"],
              body: "\(number)"
            ).status
          }
        }
        return try await group.reduce(into: []) { $0.append($1) }
      }
      #expect(statuses.sorted() == [201, 412, 412, 412])
    }
  }

  @Test(
    arguments: [
      ("GIF89a", "a.png", 201, "img"), ("ID3\u{3}", "a.png", 201, "sound"),
      ("\0\0\0\u{14}ftypisom\0\0\0\0isom", "a.mp3", 201, "video"),
      (
        "\0\0\0\u{14}ftypisom\0\0\0\0isom\0\0\0\u{2C}moov\0\0\0\u{24}trak\0\0\0\u{1C}mdia"
          + "\0\0\0\u{14}hdlr\0\0\0\0\0\0\0\0soun", "a.mp4", 201, "sound"
      ),
      ("https://example.com/", "a.png", 201, "url"),
      ("fLaC", "a.flac", 201, "sound"), ("%PDF-1.7", "a.pdf", 201, "paper"),
      ("PK\u{3}\u{4}", "a.zip", 415, "Unpack it"), ("\u{1}\0\u{2}", "a.bin", 415, "Drop a picture"),
      ("RIFF\0\0\0\0AVI LIST", "a.mp4", 415, "Drop an MP4."),
      ("# Title\n\nSome words", "a.url", 415, "This is text. Drop a picture"),
      ("[InternetShortcut]\r\nURL=https://example.com/", "a.txt", 201, "url"),
      ("MThd\0\0\0\u{6}", "a.mid", 415, "rich types bells and chimes"),
    ] as [(String, String, Int, String)])
  func `an upload without a rich type gets the one of its content, whatever its name is`(
    body: String, name: String, status: Int, found: String
  ) async throws {
    try await TestServer.test(prepare: {
      for (type, accepts) in [
        ("img", #""image/*""#), ("sound", #""audio/mpeg","audio/flac","video/mp4""#),
        ("video", #""video/mp4""#), ("url", #""*/*""#), ("paper", #""application/pdf""#),
        ("bells", #""audio/midi""#), ("chimes", #""audio/midi""#),
      ] {
        try $1.installPlugin(
          type, manifest: #"{"verbs":["validate","render"],"accepts":[\#(accepts)]}"#, Self.script)
      }
    }) { server in
      let answer = try await server.execute(
        "POST", "/api/assets?name=\(name)", as: "publisher", body: body)
      #expect(answer.status == status, "\(answer.detail ?? "")")
      if status == 201 {
        #expect(answer.json["richType"] as? String == found)
        #expect(answer.fields["Location"] == "/api/assets/\(found)/\(name)")
      } else {
        #expect(answer.detail?.contains(found) == true, "\(answer.detail ?? "")")
      }
      let again = try await server.execute(
        "POST", "/api/assets?name=\(name)", as: "publisher", fields: ["If-None-Match": "*"],
        body: body)
      #expect(again.status == (status == 201 ? 412 : status))
      #expect(status != 201 || again.fields["Location"] == answer.fields["Location"])
    }
  }

  @Test func `a film is refused as a sound with the folder to which it belongs`() async throws {
    try await TestServer.test(prepare: {
      for (type, accepts) in [("sound", #""audio/*","video/mp4""#), ("video", #""video/mp4""#)] {
        try $1.installPlugin(
          type, manifest: #"{"verbs":["validate","render"],"accepts":[\#(accepts)]}"#, Self.script)
      }
    }) { server in
      let film = "\0\0\0\u{14}ftypisom\0\0\0\0isom"
      let answer = try await server.execute(
        "PUT", "/api/assets/sound/a.mp4", as: "publisher", body: film)
      #expect(answer.status == 415)
      #expect(
        answer.detail
          == "This is a film (MP4), not a sound. It belongs in the folder “video”.")
      // A file in the drop folder itself is told the same.
      try server.scratch.write(film, to: "assets/b.mp4")
      try await eventually("it is listed") {
        let list = try await server.execute("GET", "/api/assets", as: "publisher")
        return list.objects("assets").contains {
          ($0["reason"] as? String)?.hasSuffix("Move this one into the folder “video”.") == true
        }
      }
    }
  }

  @Test func `a film for which there is no plugin is said to lack one`() async throws {
    try await withServer { server in
      let answer = try await server.execute(
        "POST", "/api/assets?name=a.mp4", as: "publisher",
        body: "\0\0\0\u{14}ftypisom\0\0\0\0isom")
      #expect(answer.status == 415 && answer.detail?.contains("no plugin for it") == true)
    }
  }

  @Test(
    arguments: [
      ("", "x", 400), ("?name=", "x", 400), ("?name=a.tmp", "x", 422),
      ("?name=a.png&type=img", "x", 400), ("?name=..", "x", 400), ("?name=a%2Fb.png", "x", 400),
      ("?name=a.png.notify.json", "x", 422), ("?name=a.png", "", 400),
    ] as [(String, String, Int)])
  func `refuses an upload without a rich type that cannot be an asset`(
    query: String, body: String, status: Int
  ) async throws {
    try await withServer { server in
      let found = try await server.status(
        "POST", "/api/assets" + query, as: "publisher", body: body)
      #expect(found == status)
    }
  }

  @Test(
    arguments: [
      ("/api/assets/note/a.txt", "", 400), ("/api/assets/note/a.tmp", "x", 422),
      ("/api/assets/memo/a.txt", "x", 404), ("/api/assets/NOTE/a.txt", "x", 400),
      ("/api/assets/note/..", "x", 400), ("/api/assets/note/a%0Ab", "x", 400),
    ] as [(String, String, Int)])
  func `refuses an upload that cannot be an asset`(
    target: String, body: String, status: Int
  ) async throws {
    try await withServer { server in
      let found = try await server.status("PUT", target, as: "publisher", body: body)
      #expect(found == status)
      #expect(server.scratch.names(in: "assets/note") == [])
    }
  }

  @Test func `a deleted asset does not exist any more, and its notifications keep the content`()
    async throws
  {
    try await withServer { server in
      let target = "/api/assets/note/a.txt"
      let put = try await server.status("PUT", target, as: "publisher", body: "one")
      #expect(put == 201)
      let body = TestServer.notification().replacing(#""p""#, with: #""a.txt""#)
      #expect(
        try await server.status("POST", "/api/notifications", as: "publisher", body: body) == 201)
      #expect(try await server.status("DELETE", target, as: "publisher") == 204)
      #expect(server.scratch.read("assets/note/a.txt") == nil)
      #expect(try await server.status("GET", target, as: "publisher") == 404)
      #expect(try await server.status("DELETE", target, as: "publisher") == 404)
      #expect(try await server.execute("GET", "/api/notifications/0", as: "device").text == "ok")
    }
  }

  @Test func `lists assets by pages and state, with counts on the first page`() async throws {
    try await withServer { server in
      for name in ["a", "b", "c"] {
        try server.scratch.write(name == "b" ? "bad" : name, to: "assets/note/" + name)
      }
      func list(_ query: String) async throws -> TestResponse {
        try await server.execute("GET", "/api/assets" + query, as: "publisher")
      }
      func names(_ answer: TestResponse) -> [String] {
        answer.objects("assets").compactMap { $0["name"] as? String }
      }
      try await eventually("all are prepared") {
        let counts = try await list("").json["counts"] as? [String: Int]
        return counts == ["ready": 2, "preparing": 0, "refused": 1]
      }
      let first = try await list("?limit=2")
      #expect(names(first) == ["a", "b"] && first.json["next"] as? String == "note/b")
      let second = try await list("?limit=2&after=note/b")
      #expect(names(second) == ["c"] && second.json["next"] is NSNull)
      #expect(second.json["counts"] == nil)
      #expect(names(try await list("?state=refused")) == ["b"])
      #expect(names(try await list("/note?state=ready")) == ["a", "c"])
      #expect(names(try await list("?after=note")) == ["a", "b", "c"])
      for query in ["?limit=0", "?limit=1001", "?state=new", "?page=1"] {
        #expect(try await list(query).status == 400, "\(query)")
      }
      #expect(try await list("/memo").status == 404)
    }
  }

  @Test func `shows how far an asset is prepared`() async throws {
    let scratch = try Scratch()
    let gate = Gate(in: scratch)
    try await TestServer.test(prepare: { configuration, scratch in
      configuration.sandbox = "off"
      try scratch.installPlugin(
        "note", manifest: Self.manifest,
        """
        case $RICH_VERB-$RICH_PROFILE in
          validate-*) printf 'Content-Type: application/json\\n\\n{}' ;;
          render-ios) \(gate.command); printf 'Content-Type: text/plain\\n\\nok' ;;
          *) printf 'Content-Type: text/plain\\n\\nok' ;;
        esac
        """)
    }) { server in
      let target = "/api/assets/note/a.txt"
      #expect(try await server.status("PUT", target, as: "publisher", body: "one") == 201)
      try await eventually("the second rendition is being made") { gate.isWaitedAt }
      let asset = try await server.execute("GET", target, as: "publisher")
      #expect(asset.json["state"] as? String == "preparing")
      #expect(asset.json["progress"] as? [String: Int] == ["made": 1, "of": 6])
      try await gate.open()
      try await eventually("it is ready") {
        try await server.execute("GET", target, as: "publisher").json["state"] as? String == "ready"
      }
    }
  }
}

@Suite(.timeLimit(.minutes(1))) struct RegistrationRoutesTests {
  @Test func `a handle has one registration, whose ID is quoted`() async throws {
    try await TestServer.test { server in
      let first = try await server.execute("POST", "/api/register?handle=aabb", as: "device")
      #expect(first.text.hasPrefix("\"") && first.text.hasSuffix("\"") && first.text.count > 8)
      let again = try await server.execute("POST", "/api/register?handle=AABB", as: "device")
      #expect(again.text == first.text)
      for handle in ["", "abc", "xy", String(repeating: "ab", count: 201), "%7Blength%20=%2032"] {
        let target = "/api/register?handle=" + handle
        #expect(try await server.status("POST", target, as: "device") == 400, "\(handle)")
      }
      #expect(try await server.status("POST", "/api/register", as: "device") == 400)
    }
  }

  @Test func `a registration belongs to its user, and says whether pushes reach it`() async throws {
    try await TestServer.test(prepare: { try $1.installNote() }) { server in
      let id = try await server.register("AABB", as: "device")
      func put(_ body: String, as user: String) async throws -> TestResponse {
        try await server.execute(
          "PUT", "/api/register/" + id, as: user,
          fields: ["Accept": "text/html, application/json;q=1"],
          body: body)
      }
      let apns = #"{"platform":"apns","handle":"aabb","tags":["news"]}"#
      let other = try await put(apns, as: "admin")
      #expect(other.status == 403 && other.code == "forbidden")
      let own = try await put(apns, as: "device")
      #expect(
        own.json["deliverable"] as? Bool == true && own.json["service"] as? String == "embedded")
      let registration = try #require(
        try await server.store.accounts.registrations(ofUser: server.id(of: "device")).first)
      #expect(
        registration.handle == "AABB" && registration.tags.sorted() == ["news", "username:device"])
      let gcm = try await put(#"{"platform":"gcm","handle":"t","tags":[]}"#, as: "device")
      #expect(gcm.json["deliverable"] as? Bool == false && gcm.json["reason"] as? String != nil)
      #expect(server.log.contain("a device has registered for gcm"))
      #expect(try await server.status("DELETE", "/api/register/" + id, as: "publisher") == 200)
      #expect(
        try await server.store.accounts.registrations(ofUser: server.id(of: "device")).count == 1)
      #expect(try await server.status("DELETE", "/api/register/" + id, as: "device") == 200)
      #expect(
        try await server.store.accounts.registrations(ofUser: server.id(of: "device")).isEmpty)
    }
  }

  @Test(arguments: [
    #"{"platform":"pager","handle":"AABB"}"#, #"{"platform":"apns","handle":"xyz"}"#,
    #"{"platform":"gcm","handle":""}"#, #"{"handle":"AABB"}"#,
    #"{"platform":"apns","handle":"AABB","tags":["username:admin"]}"#,
    #"{"platform":"apns","handle":"AABB","tags":["a b"]}"#, "[]", "",
  ])
  func `rejects an invalid registration`(body: String) async throws {
    try await TestServer.test { server in
      let status = try await server.status("PUT", "/api/register/r1", as: "device", body: body)
      #expect(status == 400)
      #expect(
        try await server.status("PUT", "/api/register/a%20b", as: "device", body: "{}") == 400)
      #expect(
        try await server.store.accounts.registrations(ofUser: server.id(of: "device")).isEmpty)
    }
  }

  @Test func `a registration has at most 60 tags`() async throws {
    try await TestServer.test { server in
      func status(_ count: Int) async throws -> Int {
        let tags = (0..<count).map { "\"t\($0)\"" }.joined(separator: ",")
        let body = #"{"platform":"apns","handle":"AABB","tags":[\#(tags)]}"#
        return try await server.status("PUT", "/api/register/r1", as: "device", body: body)
      }
      let (most, more) = (try await status(60), try await status(61))
      #expect(most == 200 && more == 400)
    }
  }
}
