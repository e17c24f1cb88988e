import Foundation
import HTTP
import Primitives
import RichPushAPI
import TestSupport
import Testing

@testable import Origin

/// `/api/drafts`.
@Suite(.timeLimit(.minutes(2))) struct DraftRoutesTests {
  private static func send(
    _ server: TestServer, _ method: String, at path: String = "", as user: String = "publisher",
    match: String? = nil, _ body: String = ""
  ) async throws -> TestResponse {
    var fields = Fields()
    fields["If-Match"] = match
    return try await server.execute(
      method, "/api/drafts" + path, as: user, fields: fields, body: body)
  }

  @Test func `a draft is finished and sent by another publisher`() async throws {
    try await TestServer.test { server in
      let added = try await Self.send(
        server, "POST", #"{"name":"Summer","notification":{"title":"Sale","to":[]}}"#)
      try #require(added.status == 201, "\(added.detail ?? added.text)")
      #expect(added.fields["Location"] == "/api/drafts/1" && added.fields["ETag"] == "\"1\"")
      #expect(added.json["author"] as? String == "publisher")
      let finished = try await Self.send(
        server, "PUT", at: "/1", as: "admin", match: "\"1\"",
        #"{"name":"Summer","notification":{"title":"Sale!","to":["news"]}}"#)
      #expect(finished.status == 200 && finished.fields["ETag"] == "\"2\"")
      #expect(finished.json["editor"] as? String == "admin")
      let late = try await Self.send(
        server, "PUT", at: "/1", match: "\"1\"", #"{"notification":{"title":"Late"}}"#)
      #expect(late.status == 412 && late.detail?.contains("admin has changed") == true)
      let read = try await Self.send(server, "GET", at: "/1")
      #expect((read.json["notification"] as? [String: Any])?["title"] as? String == "Sale!")
      #expect(read.fields["Cache-Control"] == "no-store")
      #expect(try await Self.send(server, "DELETE", at: "/1", match: "\"1\"").status == 412)
      #expect(try await Self.send(server, "DELETE", at: "/1", match: "\"2\"").status == 204)
      #expect(try await Self.send(server, "GET", at: "/1").status == 404)
      #expect(try await Self.send(server, "PUT", at: "/1", #"{"notification":{}}"#).status == 404)
    }
  }

  @Test func `drafts are listed by page, and templates apart`() async throws {
    try await TestServer.test { server in
      for number in 0..<5 {
        let body = #"{"name":"\#(number)","notification":{},"template":\#(number == 4)}"#
        #expect(try await Self.send(server, "POST", body).status == 201)
      }
      let first = try await Self.send(server, "GET", at: "?limit=3")
      #expect(first.objects("drafts").count == 3 && first.json["next"] as? Int == 3)
      let second = try await Self.send(server, "GET", at: "?limit=3&after=3")
      #expect(second.objects("drafts").count == 1 && second.json["next"] is NSNull)
      let templates = try await Self.send(server, "GET", at: "?templates")
      #expect(templates.objects("drafts").map { $0["name"] as? String } == ["4"])
    }
  }

  @Test func `what is no draft gets a sentence`() async throws {
    try await TestServer.test { server in
      let large = String(repeating: "a", count: UserQuota.draft)
      for (body, status, words) in [
        ("", 400, "JSON"), ("{}", 400, "notification"),
        (#"{"notification":[]}"#, 400, "must be an object"),
        (#"{"notification":{},"title":"t"}"#, 400, "title"),
        (#"{"notification":{},"name":"a\nb"}"#, 422, "one line"),
        (#"{"notification":{},"name":"a\u0000b"}"#, 422, "control"),
        (#"{"notification":{},"name":"\#(large.prefix(51))"}"#, 422, "50 characters"),
        (#"{"notification":{},"template":"yes"}"#, 400, "template"),
        (#"{"notification":{"message":"\#(large)"}}"#, 413, "64 KiB"),
      ] {
        let answer = try await Self.send(server, "POST", body)
        #expect(answer.status == status, "\(body.prefix(60)): \(answer.status)")
        #expect(
          (answer.detail ?? "").contains(words)
            || answer.errors.contains { $0.detail.contains(words) },
          "\(body.prefix(60)): \(answer.detail ?? answer.text)")
      }
      #expect(
        try await Self.send(server, "PUT", at: "/1", match: "W/\"1\"", #"{"notification":{}}"#)
          .status
          == 412)
      for path in ["/0", "/x", "/9999999999999999999"] {
        #expect(try await Self.send(server, "GET", at: path).status == 404, "\(path)")
      }
      #expect(try await Self.send(server, "GET", as: "device").status == 403)
    }
  }
}
