import Foundation
import HTTP
import Media
import RichPushAPI
import Store
import TestSupport
import Testing

@testable import Origin

/// Forms with files, and notifications that come as one.
@Suite(.timeLimit(.minutes(2))) struct MultipartFormTests {
  private static let type = "multipart/form-data; boundary=AaB03x"

  private static func form(_ text: String, type: String = type) throws -> MultipartForm {
    try MultipartForm(Array(text.replacing("\n", with: "\r\n").utf8), type: type)
  }

  private static func part(_ head: String, _ content: String) -> String {
    "--AaB03x\nContent-Disposition: form-data; \(head)\n\n\(content)\n"
  }

  @Test func `fields and a file are told apart`() throws {
    let file = "one\n--AaB03\n-- AaB03x\n"
    let text =
      Self.part("name=\"a b\"", "text ä") + Self.part("filename=\"x.png\"; name=file", file)
      + "--AaB03x--\nepilogue"
    for (text, type) in [
      (text, Self.type),
      ("preamble\n" + text, "Multipart/Form-Data; charset=utf-8; BOUNDARY=\"AaB03x\""),
    ] {
      let form = try Self.form(text, type: type)
      #expect(form.parts.map(\.name) == ["a b", "file"])
      #expect(form.parts.map(\.fileName) == [nil, "x.png"])
      #expect(String(decoding: form.parts[0].content, as: UTF8.self) == "text ä")
      let content = try #require(try form.file()?.content)
      #expect(String(decoding: content, as: UTF8.self) == file.replacing("\n", with: "\r\n"))
    }
    let extended = try Self.form(Self.part("name=f; filename*=utf-8''x", "") + "--AaB03x--")
    #expect(try extended.file()?.content.isEmpty == true)
  }

  @Test(arguments: [
    "", "--AaB03x", "--AaB03x\n", part("name=a", "b"), "--AaB03x\nX: a\n\nb\n--AaB03x--",
    part("filename=a", "b") + "--AaB03x--", "--AaB03x a\n\n\n--AaB03x--",
    part("name=a; x=\"\(String(repeating: "a", count: 9000))\"", "b") + "--AaB03x--",
    String(repeating: part("name=a", "b"), count: 65) + "--AaB03x--",
    "--AaB03x\nContent-Disposition: form-data; name=a\n--AaB03x--\n\n",
  ])
  func `what is no form is refused`(text: String) {
    #expect(throws: ServiceError.self) { try Self.form(text) }
  }

  @Test(arguments: [
    "multipart/form-data", "multipart/form-data; boundary=", "multipart/form-data; boundary=\"\"",
  ])
  func `a form needs a boundary`(type: String) {
    #expect(throws: ServiceError.self) { try Self.form("--\n----", type: type) }
  }

  @Test func `a form with two files is refused`() throws {
    let file = Self.part("name=a; filename=b", "c")
    #expect(throws: ServiceError.self) { try Self.form(file + file + "--AaB03x--").file() }
  }

  @Test(arguments: [
    ("publisher", part("name=notification", #"{"message":"M","to":"username:device"}"#), 400),
    ("publisher", part("name=n", "{}") + part("name=file; filename=a", "b"), 400),
    ("publisher", part("name=notification", "[]") + part("name=file; filename=a", "b"), 415),
    (
      "publisher",
      part(
        "name=notification",
        #"{"message":"M","richType":"img","payload":"a","to":"username:device"}"#)
        + part("name=file; filename=a", "b"), 422
    ),
    (
      "publisher",
      part("name=notification", #"{"message":"M","to":"username:device"}"#)
        + part("name=file; filename=a", "b"), 415
    ),
    ("device", part("name=notification", "{}") + part("name=file; filename=a", "b"), 403),
  ])
  func `a notification that is no good form is refused`(user: String, parts: String, status: Int)
    async throws
  {
    try await TestServer.test { server in
      let answer = try await server.execute(
        "POST", "/api/notifications", as: user, fields: ["Content-Type": Self.type],
        body: (parts + "--AaB03x--").replacing("\n", with: "\r\n"))
      #expect(answer.status == status, "\(answer.detail ?? answer.text)")
    }
  }
}
