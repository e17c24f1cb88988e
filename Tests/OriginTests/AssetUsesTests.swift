import Foundation
import HTTP
import TestSupport
import Testing

@testable import Origin

/// `/api/assets/…/uses`, the assets that are not used, and those with a label, and other names.
@Suite(.timeLimit(.minutes(2))) struct AssetUsesTests {
  private static let uses = "/api/assets/note/a.txt/uses"

  private func withServer(_ test: (TestServer) async throws -> Void) async throws {
    try await TestServer.test(
      prepare: {
        try $1.installNote()
        for name in ["a.txt", "b.txt", "é.txt"] { try $1.write("one", to: "assets/note/\(name)") }
      },
      { server in
        for name in ["a.txt", "b.txt", "%C3%A9.txt"] {
          #expect(
            try await server.status("GET", "/api/assets/note/\(name)", as: "publisher") == 200)
        }
        try await test(server)
      })
  }

  private static func send(
    _ server: TestServer, _ message: String, as user: String = "publisher"
  ) async throws {
    let answer = try await server.execute(
      "POST", "/api/notifications", as: user,
      body: #"{"message":"\#(message)","richType":"note","payload":"a.txt","#
        + #""to":["username:device"]}"#)
    try #require(answer.status == 201, "\(answer.detail ?? answer.text)")
  }

  private static func unused(_ server: TestServer) async throws -> [String?] {
    try await server.execute("GET", "/api/assets/note?unused", as: "publisher")
      .objects("assets").map { $0["name"] as? String }
  }

  @Test func `publishers see their notifications with it, how many there are, and all drafts`()
    async throws
  {
    try await withServer { server in
      #expect(try await Self.unused(server) == ["a.txt", "b.txt", "é.txt"])
      for message in ["one", "two"] { try await Self.send(server, message) }
      try await Self.send(server, "secret", as: "admin")
      // A draft in the form of Unicode that macOS has.
      for (payload, template) in [("a.txt", true), ("e\u{301}.txt", false)] {
        let body =
          #"{"name":"Summer","notification":{"richType":"note","payload":"\#(payload)"},"#
          + #""template":\#(template)}"#
        #expect(
          try await server.status("POST", "/api/drafts", as: "admin", body: body) == 201)
      }
      #expect(try await Self.unused(server) == ["b.txt"])
      let own = try await server.execute("GET", Self.uses + "?limit=1", as: "publisher")
      #expect(own.objects("notifications").map { $0["message"] as? String } == ["two"])
      #expect(own.json["count"] as? Int == 3 && !own.text.contains("secret"))
      #expect(own.objects("drafts").map { $0["name"] as? String } == ["Summer"])
      #expect(own.objects("drafts").first?["template"] as? Bool == true)
      let next = try #require(own.json["next"] as? Int)
      let rest = try await server.execute("GET", Self.uses + "?before=\(next)", as: "publisher")
      #expect(rest.objects("notifications").map { $0["message"] as? String } == ["one"])
      #expect(rest.json["next"] is NSNull && rest.json["count"] == nil)
      let all = try await server.execute("GET", Self.uses, as: "admin")
      #expect(all.objects("notifications").count == 3)
    }
  }

  @Test func `files are found by their labels`() async throws {
    try await withServer { server in
      func label(_ name: String, _ labels: String) async throws -> TestResponse {
        try await server.execute(
          "PATCH", "/api/assets/note/\(name)", as: "publisher", body: #"{"labels":\#(labels)}"#)
      }
      let answer = try await label("a.txt", #"["summer"," sale 50 % ","summer"]"#)
      #expect(answer.json["labels"] as? [String] == ["sale 50 %", "summer"])
      #expect(try await label("b.txt", #"["summer"]"#).status == 200)
      func found(_ query: String) async throws -> [String?] {
        try await server.execute("GET", "/api/assets?\(query)", as: "publisher")
          .objects("assets").map { $0["name"] as? String }
      }
      #expect(try await found("label=summer") == ["a.txt", "b.txt"])
      #expect(try await found("label=summer&limit=1&after=note/a.txt") == ["b.txt"])
      #expect(try await found("label=sale%2050%20%25&sort=newest") == ["a.txt"])
      #expect(try await found("label=none").isEmpty)
      let several = "/api/assets?label=a,b"
      #expect(try await server.status("GET", several, as: "publisher") == 400)
      let list = try await server.execute("GET", "/api/asset-labels", as: "publisher")
      #expect(list.objects("labels").map { $0["label"] as? String } == ["summer", "sale 50 %"])
      #expect(list.objects("labels").map { $0["count"] as? Int } == [2, 1])
      #expect(try await label("a.txt", "null").json["labels"] as? [String] == [])
      for (labels, status) in [(#"["a,b"]"#, 422), (#"[1]"#, 400), (#""a""#, 400)] {
        #expect(try await label("a.txt", labels).status == status, "\(labels)")
      }
    }
  }

  @Test func `a file gets another name, and what was sent stays as it was`() async throws {
    try await withServer { server in
      try await Self.send(server, "one")
      func rename(_ name: String, _ new: String) async throws -> TestResponse {
        try await server.execute(
          "POST", "/api/assets/note/\(name)/rename", as: "publisher", body: #"{"name":"\#(new)"}"#)
      }
      let renamed = try await rename("a.txt", "c d.txt")
      #expect(renamed.status == 200 && renamed.json["name"] as? String == "c d.txt")
      #expect(renamed.fields["Location"] == "/api/assets/note/c%20d.txt")
      #expect(server.scratch.read("assets/note/c d.txt") == "one")
      #expect(try await server.status("GET", "/api/assets/note/a.txt", as: "publisher") == 404)
      #expect(try await server.status("GET", "/api/notifications/0", as: "device") == 200)
      for (name, new, status) in [
        ("a.txt", "e.txt", 404), ("b.txt", "c d.txt", 409), ("b.txt", "e\u{301}.txt", 409),
        ("b.txt", "../x.txt", 422), ("b.txt", "x\\ny.txt", 422), ("b.txt", "", 422),
        ("b.txt", "x.tmp", 422), ("b.txt", "b.txt", 200),
      ] {
        #expect(try await rename(name, new).status == status, "\(new)")
      }
      let body = #"{"richType":"img"}"#
      #expect(
        try await server.status(
          "POST", "/api/assets/note/b.txt/rename", as: "publisher", body: body) == 400)
    }
  }

  @Test func `uses are found when the file is gone, and what never was is 404`() async throws {
    try await withServer { server in
      try await Self.send(server, "one")
      #expect(try await server.status("DELETE", "/api/assets/note/a.txt", as: "publisher") == 204)
      let found = try await server.execute("GET", Self.uses, as: "publisher")
      #expect(found.status == 200 && found.objects("notifications").count == 1)
      let none = "/api/assets/note/none.txt/uses"
      #expect(try await server.status("GET", none, as: "publisher") == 404)
      for query in ["?before=-1", "?limit=0", "?limit=501", "?after=1"] {
        #expect(try await server.status("GET", Self.uses + query, as: "publisher") == 400)
      }
    }
  }
}
