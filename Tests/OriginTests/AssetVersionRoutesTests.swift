import Foundation
import HTTP
import Primitives
import TestSupport
import Testing
import Waiting

@testable import Origin

/// `/api/assets/…/versions`, `…/restore`, `/api/removed-assets`, and the order of assets.
@Suite(.timeLimit(.minutes(2))) struct AssetVersionRoutesTests {
  private static let target = "/api/assets/note/a.txt"

  private func withServer(
    days: Int = 30, _ test: (TestServer) async throws -> Void
  ) async throws {
    try await TestServer.test(
      prepare: {
        try $1.installNote()
        $0.versionDays = days
      }, test)
  }

  private static func put(
    _ server: TestServer, _ body: String, at path: String = target
  ) async throws -> String {
    let answer = try await server.execute("PUT", path, as: "publisher", body: body)
    return try #require(answer.json["sha256"] as? String, "\(answer.detail ?? "")")
  }

  @Test func `a replaced file is listed, shown and brought back, and that is undone`() async throws
  {
    try await withServer { server in
      let one = try await Self.put(server, "one")
      let two = try await Self.put(server, "two")
      let list = try await server.execute("GET", Self.target + "/versions", as: "publisher")
      let version = try #require(list.objects("versions").first)
      #expect(list.objects("versions").count == 1 && version["sha256"] as? String == one)
      #expect(version["bytes"] as? Int == 3 && version["name"] as? String == "a.txt")
      let media = Self.target + "/versions/\(one)/media"
      #expect(try await server.execute("GET", media, as: "publisher").status == 200)
      let restored = try await server.execute(
        "POST", Self.target + "/restore", as: "publisher", body: #"{"sha256":"\#(one)"}"#)
      #expect(restored.status == 200 && restored.json["sha256"] as? String == one)
      #expect(server.scratch.read("assets/note/a.txt") == "one")
      // Repeated because the answer was lost.
      let again = try await server.execute(
        "POST", Self.target + "/restore", as: "publisher", body: #"{"sha256":"\#(one)"}"#)
      #expect(again.status == 200 && again.json["sha256"] as? String == one)
      // Without a body, what it had last.
      let undone = try await server.execute("POST", Self.target + "/restore", as: "publisher")
      #expect(undone.json["sha256"] as? String == two)
      #expect(server.scratch.read("assets/note/a.txt") == "two")
    }
  }

  @Test func `a removed file is listed and brought back`() async throws {
    try await withServer { server in
      let one = try await Self.put(server, "one")
      _ = try await Self.put(server, "two", at: "/api/assets/note/b.txt")
      for name in ["a.txt", "b.txt"] {
        #expect(
          try await server.status("DELETE", "/api/assets/note/\(name)", as: "publisher") == 204)
      }
      let page = try await server.execute("GET", "/api/removed-assets?limit=1", as: "publisher")
      let next = try #require(page.json["next"] as? String)
      #expect(page.objects("assets").count == 1)
      let last = try await server.execute(
        "GET", "/api/removed-assets?after=\(next)", as: "publisher")
      #expect(last.json["next"] is NSNull)
      let names = (page.objects("assets") + last.objects("assets")).map { $0["name"] as? String }
      #expect(Set(names) == ["a.txt", "b.txt"])
      let restored = try await server.execute("POST", Self.target + "/restore", as: "publisher")
      #expect(restored.status == 201 && restored.fields["Location"] == Self.target)
      #expect(restored.json["sha256"] as? String == one)
      let rest = try await server.execute("GET", "/api/removed-assets", as: "publisher")
      #expect(rest.objects("assets").map { $0["name"] as? String } == ["b.txt"])
    }
  }

  @Test func `what cannot be brought back gets a sentence`() async throws {
    try await withServer { server in
      _ = try await Self.put(server, "one")
      let restore = Self.target + "/restore"
      for (path, body, status, words) in [
        (restore, "", 404, "can be brought back"),
        (restore, #"{"sha256":"00"}"#, 404, "can be brought back"),
        (restore, #"{"sha256":1}"#, 400, "sha256"), (restore, #"{"sha":"00"}"#, 400, "sha"),
        (restore, "[]", 400, "JSON"), ("/api/assets/note/none.txt/restore", "", 404, "none.txt"),
        ("/api/assets/no%20type/a.txt/restore", "", 400, "rich type"),
      ] {
        let answer = try await server.execute("POST", path, as: "publisher", body: body)
        #expect(answer.status == status, "\(path) \(body): \(answer.status)")
        let sentences = [answer.detail ?? ""] + answer.errors.map(\.detail)
        #expect(sentences.contains { $0.contains(words) }, "\(path) \(body): \(sentences)")
      }
      #expect(
        try await server.status("GET", "/api/assets/note/none.txt/versions", as: "publisher") == 404
      )
      let none = try await server.execute("GET", Self.target + "/versions", as: "publisher")
      #expect(none.status == 200 && none.objects("versions").isEmpty)
      let media = Self.target + "/versions/00/media"
      #expect(try await server.status("GET", media, as: "publisher") == 404)
      #expect(
        try await server.status("GET", "/api/removed-assets?after=x&limit=2", as: "publisher")
          == 200)
      #expect(try await server.status("GET", "/api/removed-assets?limit=0", as: "publisher") == 400)
    }
  }

  @Test func `with no days nothing can be brought back`() async throws {
    try await withServer(days: 0) { server in
      _ = try await Self.put(server, "one")
      _ = try await Self.put(server, "two")
      #expect(try await server.status("POST", Self.target + "/restore", as: "publisher") == 404)
      #expect(server.scratch.read("assets/note/a.txt") == "two")
    }
  }

  @Test func `a user brings at most eight back at once`() async throws {
    let files = try Scratch()
    let gate = Gate(in: files)
    let script = """
      [ -e '\(files.path)/open' ] || \(gate.command)
      printf 'Content-Type: application/json\\n\\n{}'
      """
    try await TestServer.test(prepare: {
      $0.sandbox = "off"
      try $1.installPlugin(
        "slow", manifest: #"{"verbs":["validate","render"],"workers":{"max":1}}"#, script)
    }) { server in
      let path = "/api/assets/slow/a.txt"
      try files.write("", to: "open")
      _ = try await Self.put(server, "one", at: path)
      _ = try await Self.put(server, "two", at: path)
      try FileManager.default.removeItem(atPath: files.path + "/open")
      try await withThrowingTaskGroup(of: Int.self) { group in
        for _ in 0...UserQuota.uploads {
          group.addTask { try await server.status("POST", path + "/restore", as: "publisher") }
        }
        #expect(try await group.next() == 429)
        try await eventually("the plugin is asked") { gate.isWaitedAt }
        try files.write("", to: "open")
        try await gate.open()
        for try await status in group { #expect(status == 200) }
      }
      #expect(try await server.status("POST", path + "/restore", as: "publisher") == 200)
    }
  }

  @Test func `assets are listed in the order that was asked for, by page`() async throws {
    try await withServer { server in
      for (name, text) in [("b%2010", "four"), ("b%209", "three"), ("%C3%A4", "seventeen")] {
        _ = try await Self.put(server, text, at: "/api/assets/note/\(name).txt")
      }
      for (order, expected) in [
        ("name", ["ä.txt", "b 9.txt", "b 10.txt"]), ("largest", ["ä.txt", "b 9.txt", "b 10.txt"]),
        ("smallest", ["b 10.txt", "b 9.txt", "ä.txt"]),
      ] {
        var (names, query): ([String?], String?) = ([], "")
        while let after = query {
          let page = try await server.execute(
            "GET", "/api/assets?sort=\(order)&limit=1\(after)", as: "publisher")
          try #require(page.status == 200, "\(page.text)")
          names += page.objects("assets").map { $0["name"] as? String }
          query = (page.json["next"] as? String).map { "&after=" + PercentEncoding.encode($0) }
        }
        #expect(names == expected, "\(order)")
      }
      let unknown = try await server.execute("GET", "/api/assets?sort=date", as: "publisher")
      #expect(unknown.status == 400 && unknown.detail?.contains("name, newest") == true)
      let foreign = try await server.execute(
        "GET", "/api/assets?sort=newest&after=note/a", as: "publisher")
      #expect(foreign.status == 200)
    }
  }
}
