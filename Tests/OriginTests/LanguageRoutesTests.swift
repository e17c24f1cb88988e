import Delivery
import Foundation
import HTTP
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// Languages and values, by requests.
@Suite(.timeLimit(.minutes(1))) struct LanguageRoutesTests {
  private static let post = "/api/notifications"
  private static let body = #"""
    {"to":["username:device"],"message":"Hi {{name}}","title":"Parcel","language":"en",
    "languages":{"de":{"message":"Hallo {{name}}"}},"values":{"username:device":{"name":"Ann"}}}
    """#

  @Test func `a reader gets the language that it prefers, its publisher what was written`()
    async throws
  {
    try await TestServer.test { server in
      let created = try await server.execute("POST", Self.post, as: "publisher", body: Self.body)
      #expect(created.status == 201 && created.text.contains(#""message":"Hi {{name}}""#))
      for (field, text, language) in [
        ("de-CH, en;q=0.5", "Hallo Ann", "de"), ("fr", "Hi Ann", "en"), ("", "Hi Ann", "en"),
      ] {
        let fields: Fields = ["Accept-Language": field]
        let media = try await server.execute("GET", Self.post + "/0", as: "device", fields: fields)
        #expect(media.text == text && media.fields["Content-Language"] == language)
        #expect(media.fields["Vary"] == "Accept-Language")
        for target in [Self.post, Self.post + "/0/details"] {
          let answer = try await server.execute("GET", target, as: "device", fields: fields)
          #expect(answer.text.contains(#""message":"\#(text)""#), "\(answer.text)")
          #expect(answer.text.contains(#""language":"\#(language)""#))
          #expect(!answer.text.contains("languages") && !answer.text.contains("{{"))
        }
      }
      let details = try await server.execute(
        "GET", Self.post + "/0/details", as: "publisher", fields: ["Accept-Language": "de"])
      #expect(details.text.contains("Hi {{name}}") && details.text.contains(#""languages":{"de""#))
    }
  }

  @Test func `a dry run shows each language with the values of a recipient`() async throws {
    try await TestServer.test { server in
      let answer = try await server.execute(
        "POST", Self.post + "?dry-run", as: "publisher", body: Self.body)
      guard case .array(let texts)? = JSONValue(answer.text.utf8)?.texts else {
        Issue.record("there are no texts: \(answer.text)")
        return
      }
      #expect(Set(texts.compactMap(\.language.text)) == ["en", "de"])
      #expect(Set(texts.compactMap(\.body.text)) == ["Hi Ann", "Hallo Ann"])
    }
  }

  @Test func `attributes are written by publishers, and read again`() async throws {
    try await TestServer.test { server in
      let target = "/api/users/device/attributes"
      let body = #"{"name":"Ann","city":"Bern"}"#
      #expect(try await server.status("PUT", target, as: "publisher", body: body) == 204)
      #expect(
        try await server.execute("GET", target, as: "publisher").text
          == #"{"city":"Bern","name":"Ann"}"# + "\n")
      #expect(try await server.status("GET", target, as: "device") == 403)
      #expect(try await server.status("PUT", target, as: "device", body: body) == 403)
      let imported = try await server.execute(
        "POST", "/api/attributes", as: "publisher", body: #"{"device":{},"nobody":{"a":"b"}}"#)
      #expect(imported.text == #"{"changed":1,"unknown":["nobody"]}"# + "\n")
      #expect(try await server.execute("GET", target, as: "publisher").text == "{}\n")
      #expect(
        try await server.status("PUT", "/api/users/nobody/attributes", as: "admin", body: "{}")
          == 404)
    }
  }

  @Test(arguments: [
    (#"{"Name":"x"}"#, 422), (#"{"name":7}"#, 400), (#"{"name":null}"#, 400), ("[]", 400),
    ("7", 400),
    (#"{"name":"\u0000"}"#, 422), ("{", 400),
    (#"{"name":""# + String(repeating: "x", count: 257) + #""}"#, 422),
    ("{" + (0...32).map { #""v\#($0)":"x""# }.joined(separator: ",") + "}", 422),
  ])
  func `attributes that are none change nothing`(body: String, status: Int) async throws {
    try await TestServer.test { server in
      let target = "/api/users/device/attributes"
      _ = try await server.status("PUT", target, as: "publisher", body: #"{"name":"Ann"}"#)
      #expect(try await server.status("PUT", target, as: "publisher", body: body) == status)
      let all = #"{"device":\#(body)}"#
      #expect(
        try await server.status("POST", "/api/attributes", as: "publisher", body: all) == status)
      #expect(
        try await server.execute("GET", target, as: "admin").text == #"{"name":"Ann"}"# + "\n")
    }
  }

  @Test func `a device says its language and its time zone`() async throws {
    try await TestServer.test { server in
      let fields: Fields = ["Accept": "application/json"]
      func put(_ members: String) async throws -> Int {
        try await server.execute(
          "PUT", "/api/register/one", as: "device", fields: fields,
          body: #"{"Platform":"apns","Handle":"AB","Tags":[],\#(members)}"#
        ).status
      }
      #expect(try await put(#""Language":"de_CH","TimeZone":"Europe/Zurich""#) == 200)
      let list = try await server.execute("GET", "/api/registrations", as: "device").text
      #expect(list.contains(#""language":"de-CH""#))
      #expect(list.contains(#""timeZone":"Europe/Zurich""#))
      for wrong in [
        #""TimeZone":"Mars/Base""#, #""TimeZone":"../../etc/passwd""#,
        #""TimeZone":"\#(String(repeating: "x", count: 65))""#,
      ] {
        #expect(try await put(wrong) == 422, "\(wrong)")
      }
      for wrong in [#""Language":"german!""#, #""Language":7"#] {
        #expect(try await put(wrong) == 400, "\(wrong)")
      }
      #expect(try await put(#""Language":"","TimeZone":null"#) == 200)
    }
  }
}
