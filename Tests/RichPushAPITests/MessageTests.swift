import Foundation
import Testing

@testable import RichPushAPI

/// What the types alone do not say of the messages.
@Suite struct MessageTests {
  @Test func `a change is a value, null or nothing, in both directions`() throws {
    var amendment = Amendment(message: "m")
    amendment.expires = .removal
    let text = JSONCoding.text(amendment)
    #expect(text == #"{"expires":null,"message":"m"}"#)
    #expect(try JSONCoding.request(Amendment.self, from: Array(text.utf8)) == amendment)
    #expect(amendment.expires.applied(to: Date()) == nil)
    #expect(amendment.text.applied(to: "old") == "m")
    #expect(amendment.richType.applied(to: "img") == "img")
  }

  @Test func `a payload is a string, or an object as text`() throws {
    func payload(_ json: String) throws -> String? {
      let body = #"{"message":"","richType":"a","to":"b","payload":\#(json)}"#
      return try JSONCoding.request(NewNotification.self, from: Array(body.utf8)).payload
    }
    #expect(try payload(#""x""#) == "x")
    #expect(try payload(#"{"b":[{"c":1.5}],"a":"ä/"}"#) == #"{"a":"ä/","b":[{"c":1.5}]}"#)
    for wrong in ["7", "[]", "true"] {
      #expect(throws: ServiceError.self, "\(wrong)") { try payload(wrong) }
    }
  }

  @Test func `the names of a registration's members are those of the tutorial, in any case`() throws
  {
    let body = Array(#"{"PLATFORM":"apns","handle":"AB","tAgs":["a"],"More":1}"#.utf8)
    let registration = try JSONCoding.decode(Registration.self, from: body)
    #expect(registration.platform == "apns" && registration.handle == "AB")
    #expect(
      JSONCoding.text(registration) == #"{"Handle":"AB","Platform":"apns","Tags":["a"]}"#)
    let error = #expect(throws: ServiceError.self) {
      try JSONCoding.request(Registration.self, from: body)
    }
    #expect(error?.code == .unknownField && error?.reason.contains("“More”") == true)
  }

  @Test func `an asset has its details beside its members, which they do not replace`() throws {
    let asset = Asset(
      richType: "img", name: "a", state: .ready, reason: nil, advice: nil, contentType: nil,
      bytes: 3, sha256: nil, progress: nil,
      details: .object(["bytes": .string("no"), "width": .number(320), "progress": .number(1)]))
    let read = try JSONCoding.decode(Asset.self, from: JSONCoding.encode(asset))
    #expect(read.bytes == 3 && read.details.width.integer == 320 && read.progress == nil)
    #expect(read.details.name.text == "a" && read.details.reason == .null)
  }
}
