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

@testable import Origin

@Suite(.timeLimit(.minutes(1))) struct JSONTests {
  @Test(
    arguments: [
      (
        #" {"b":[1,-2.5,3e2,0],"a":{"x":null,"y":true,"z":false}} "#,
        #"{"a":{"x":null,"y":true,"z":false},"b":[1,-2.5,300,0]}"#
      ),
      (#""\u00e9\ud83d\ude00\/\n\"\\\u0001""#, "\"é😀/\\n\\\"\\\\\\u0001\""),
      ("[]", "[]"), ("{}", "{}"), (#"{"a":1,"a":2}"#, #"{"a":2}"#),
      ("\u{FEFF}1", "1"), ("\"\u{7F}é\"", "\"\u{7F}é\""),
    ])
  func `reads JSON, and writes it in canonical form`(text: String, written: String) throws {
    let value = try #require(JSON(text.utf8))
    #expect(value.text == written)
    #expect(JSON(written.utf8) == value)
  }

  @Test(
    arguments: [
      "", " ", "{", "[1,]", "[1 2]", #"{"a"}"#, #"{"a":}"#, #"{a:1}"#, #"{"a":1,}"#, "01", "-",
      "+1",
      ".5", "1.", "1e", "1.e2", "1e999", "--1", "0x10", "NaN", "nul", "truer", "1 1", "'a'",
      "\"\n\"", #""\x""#, #""\u12G4""#, #""\ud800""#, #""\ud800\u0041""#, #""\udc00""#,
      #""\u+123""#,
      "\"", "[\"]", "\u{FEFF}",
    ])
  func `rejects everything else`(text: String) {
    #expect(JSON(text.utf8) == nil)
  }

  @Test func `rejects text that is not UTF-8, and too deep nesting`() {
    #expect(JSON([0x22, 0xFF, 0x22]) == nil)
    let deep = { String(repeating: "[", count: $0) + String(repeating: "]", count: $0) }
    #expect(JSON(deep(200).utf8) != nil && JSON(deep(100_000).utf8) == nil)
    let wide = "[" + repeatElement("[[]],{}", count: 1000).joined(separator: ",") + "]"
    #expect(JSON(wide.utf8) != nil)
  }
}
