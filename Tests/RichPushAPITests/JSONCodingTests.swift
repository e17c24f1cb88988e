import Foundation
import Testing

@testable import RichPushAPI

/// What Foundation's coders make of texts, and what `JSONCoding.isText` keeps from them.
@Suite(.timeLimit(.minutes(1))) struct JSONCodingTests {
  @Test(
    arguments: [
      (
        #" {"b":[1,-2.5,3e2,0],"a":{"x":null,"y":true,"z":false}} "#,
        #"{"a":{"x":null,"y":true,"z":false},"b":[1,-2.5,300,0]}"#
      ),
      (#""\u00e9\ud83d\ude00\/\n\"\\\u0001""#, "\"é😀/\\n\\\"\\\\\\u0001\""),
      ("[]", "[]"), ("{}", "{}"), ("\u{FEFF}1", "1"), ("\"\u{7F}é\"", "\"\u{7F}é\""),
      (#"[",]",",}","\\"]"#, #"[",]",",}","\\"]"#),
    ])
  func `reads JSON, and writes it in canonical form`(text: String, written: String) throws {
    let value = try #require(JSONValue(text.utf8))
    #expect(JSONCoding.text(value) == written)
    #expect(JSONValue(written.utf8) == value)
    #expect(try JSONCoding.decode(JSONValue.self, from: text.utf8) == value)
  }

  @Test(
    arguments: [
      "", " ", "{", "[1,]", "[1, \n]", "[1 2]", #"{"a"}"#, #"{"a":}"#, #"{a:1}"#, #"{"a":1,}"#,
      #"["\\",]"#, "01", "-", "+1",
      ".5", "1.", "1e", "1.e2", "1e999", "--1", "0x10", "NaN", "nul", "truer", "1 1", "'a'",
      "\"\n\"", #""\x""#, #""\u12G4""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#,
      #""\u+123""#,
      "\"", "[\"]", "\u{FEFF}",
    ])
  func `rejects everything else`(text: String) {
    expectRejection(of: Array(text.utf8))
  }

  @Test func `rejects text that is not UTF-8, and too deep nesting`() {
    expectRejection(of: [0x22, 0xFF, 0x22])
    expectRejection(of: [0x22, 0xED, 0xA0, 0x80, 0x22])
    for encoding in [.utf16, .utf16LittleEndian, .utf16BigEndian, .utf32] as [String.Encoding] {
      expectRejection(of: Array("{}".data(using: encoding) ?? Data()))
    }
    let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(JSONValue(deep(200).utf8) != nil && JSONValue(deep(100_000).utf8) == nil)
    let wide = "[" + repeatElement("[[]],{}", count: 1000).joined(separator: ",") + "]"
    #expect(JSONValue(wide.utf8) != nil)
  }

  /// By attempts, as `Decodable` does it, this would take minutes.
  @Test func `reads deep values in time that grows with their length`() {
    let deep = String(repeating: #"{"a":["#, count: 250) + String(repeating: "]}", count: 250)
    let text = "[" + repeatElement(deep, count: 170).joined(separator: ",") + "]"
    let start = ContinuousClock.now
    #expect(JSONValue(text.utf8) != nil && text.utf8.count > 250_000)
    #expect(ContinuousClock.now - start < .seconds(20))
  }

  private func expectRejection(of text: [UInt8]) {
    #expect(JSONValue(text) == nil)
    #expect(throws: ServiceError.self) { try JSONCoding.decode(JSONValue.self, from: text) }
  }

  @Test(arguments: [
    ("7", "The body is not a JSON object."), ("[]", "The body is not a JSON object."),
    (#"{"name":1}"#, "name is not a string."),
    (#"{"name":"\ud800"}"#, "The body is not JSON in UTF-8."),
    (#"{"name":null}"#, "name is missing."), ("{}", "name is missing."),
    (#"{"name":"","list":"a"}"#, "list is not an array."),
    (#"{"name":"","list":[1]}"#, "list holds something that is not a string."),
    (#"{"name":"","list":[null]}"#, "list holds something that is missing."),
    (#"{"name":"","flag":"yes"}"#, "flag is not true or false."),
    (#"{"name":"","number":1e99}"#, "The body is not JSON in UTF-8."),
    (#"{"name":"","number":"1"}"#, "number is not a number."),
    (#"{"name":"","inner":{"time":7}}"#, "inner.time is not a string."),
    (
      #"{"name":"","inner":{"time":"soon"}}"#,
      "inner.time is not a time such as 2026-12-31T23:59:59Z."
    ),
  ])
  func `names the member that is missing or wrong`(text: String, sentence: String) {
    let error = #expect(throws: ServiceError.self) {
      try JSONCoding.decode(Sample.self, from: text.utf8)
    }
    #expect(error?.code == .invalidRequest && error?.reason == sentence)
  }

  private struct Sample: Decodable {
    let name: String
    let list: [String]?
    let flag: Bool?
    let number: Int?
    let inner: Inner?

    struct Inner: Decodable { let time: Date }
  }
}
